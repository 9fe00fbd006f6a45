/** Load from `wrk`: what npm has for it is slower than the servers, which would all look the same. */
import { fileURLToPath } from "node:url";
import { processorTime, run, type Running } from "./processes.ts";

const SCRIPT = fileURLToPath(new URL("wrk.lua", import.meta.url));

/** How many connections ask at a time. */
export const CONNECTIONS = 32;

/** What is asked for: a path that ends with `n=0`, and a body with `{n}`, have another number each time. */
export interface Asked {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string;
}

/** How a server responded. */
export interface Measured {
  /** Its processor time for one request, in microseconds. */
  readonly cpu: number;
  /** Requests a second. */
  readonly rate: number;
  /** Connections that broke, responses that did not come, statuses of 400 and above. */
  readonly failed: number;
}

/**
 * Asks a server as fast as it responds, from one thread.
 *
 * @param seconds a whole number
 */
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

/** How often servers are measured, and for how many seconds each time. */
export interface Mode {
  readonly rounds: number;
  readonly seconds: number;
}

/** Processor time is counted in hundredths of a second, so that a second of it is good to one percent. */
export const modeOf = (isQuick: boolean): Mode =>
  isQuick ? { rounds: 1, seconds: 2 } : { rounds: 5, seconds: 3 };

/**
 * Measures servers in turn, to and fro, after they are warmed up.
 *
 * @param askedOf what a server is asked for; `undefined` where it is not measured
 * @returns what was seen of each, round by round
 */
export async function measureInTurn<Server>(
  running: ReadonlyMap<Server, Running>,
  askedOf: (server: Server, running: Running) => Asked | undefined | Promise<Asked | undefined>,
  { rounds, seconds }: Mode,
): Promise<Map<Server, Measured[]>> {
  const measured = new Map<Server, Measured[]>();
  for (let round = -1; round < rounds; round++) {
    for (const [server, process] of round % 2 ? [...running].toReversed() : running) {
      const asked = await askedOf(server, process);
      if (!asked) continue;
      const seen = await measure(process, asked, seconds);
      if (round >= 0) measured.set(server, [...measured.get(server) ?? [], seen]);
    }
  }
  return measured;
}
