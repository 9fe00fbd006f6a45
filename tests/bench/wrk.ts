/** Load from `wrk`: what npm has for it is slower than the servers, which would all look the same. */
import { fileURLToPath } from "node:url";
import { run } from "./processes.ts";

const SCRIPT = fileURLToPath(new URL("wrk.lua", import.meta.url));

/** How a server answered. */
export interface Measured {
  requests: number;
  /** Requests a second. */
  rate: number;
  /** Milliseconds in which 99 of 100 answers were there. */
  p99: number;
  /** Connections that broke, answers that did not come, statuses of 400 and above. */
  failed: number;
}

/**
 * Asks a server as fast as it answers, from one thread.
 *
 * @param seconds a whole number
 */
export async function load(
  url: string,
  headers: Readonly<Record<string, string>>,
  connections: number,
  seconds: number,
): Promise<Measured> {
  const fields = Object.entries(headers).flatMap((field) => ["-H", field.join(": ")]);
  const size = ["-t1", `-c${connections}`, `-d${seconds}s`];
  const printed = await run(["wrk", ...size, "-s", SCRIPT, ...fields, url]);
  const found = /^bench (\d+) (\d+) (\d+) (\d+)$/m.exec(printed);
  if (!found) throw new Error(`wrk did not measure ${url}: ${printed}`);
  const [requests = 0, duration = 0, p99 = 0, failed = 0] = found.slice(1).map(Number);
  return { requests, rate: requests / duration * 1e6, p99: p99 / 1000, failed };
}
