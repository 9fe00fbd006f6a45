/**
 * Generates load with `wrk`. The load-testing packages on npm are slower than the measured servers,
 * and would hide the differences between the servers.
 */
import { fileURLToPath } from "node:url";
import { processorTime, run, type Running } from "./processes.ts";

const SCRIPT = fileURLToPath(new URL("wrk.lua", import.meta.url));

export const CONNECTIONS = 32;

/**
 * A request that is sent many times, each time with a new number. The number replaces `{n}` in
 * `body`. If `path` ends with `n=0`, the number replaces this `0`.
 */
export interface Asked {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string;
}

export interface Measured {
  /** The server's processor time per request, in microseconds. */
  readonly cpu: number;
  /** Requests per second. */
  readonly rate: number;
  /**
   * The number of broken connections, missing responses, and responses with a status of 400 or
   * above.
   */
  readonly failed: number;
}

/** @param seconds a whole number */
export async function measure(
  { port, pid }: Running,
  { path, headers = {}, method = "GET", body }: Asked,
  seconds: number,
): Promise<Measured> {
  const fields = Object.entries(headers).flatMap((field) => ["-H", field.join(": ")]);
  const url = `http://127.0.0.1:${port}${path}`;
  const size = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`];
  const content = body === undefined ? [] : [body];
  const before = processorTime(pid);
  const printed = await run([
    "wrk",
    ...size,
    "-s",
    SCRIPT,
    ...fields,
    url,
    "--",
    method,
    ...content,
  ]);
  const used = processorTime(pid) - before;
  const found = /^bench (\d+) (\d+) (\d+)$/m.exec(printed);
  if (!found) throw new Error(`wrk did not measure ${url}: ${printed}`);
  const [requests = 0, duration = 0, failed = 0] = found.slice(1).map(Number);
  return { cpu: used / requests, rate: requests / duration * 1e6, failed };
}

export interface Mode {
  readonly rounds: number;
  readonly seconds: number;
}

/**
 * Processor time has a resolution of 10 ms, so a second of processor time is accurate to one
 * percent.
 */
export const modeOf = (isQuick: boolean): Mode => ({ rounds: isQuick ? 2 : 5, seconds: 1 });

/** The time for which each server is warmed up before the first round, in seconds. */
export const WARM_UP = 10;

/**
 * The servers are measured in turn, in the reverse order in every other round.
 *
 * @param askedOf returns the request to send to a server, or `undefined` to skip the server
 */
export async function measureInTurn<Server>(
  running: ReadonlyMap<Server, Running>,
  askedOf: (server: Server) => Asked,
  { rounds, seconds }: Mode,
): Promise<Map<Server, Measured[]>> {
  const measured = new Map<Server, Measured[]>();
  for (const [server, process] of running) await measure(process, askedOf(server), WARM_UP);
  for (let round = 0; round < rounds; round++) {
    for (const [server, process] of round % 2 ? [...running].toReversed() : running) {
      const seen = await measure(process, askedOf(server), seconds);
      measured.set(server, [...measured.get(server) ?? [], seen]);
    }
  }
  return measured;
}
