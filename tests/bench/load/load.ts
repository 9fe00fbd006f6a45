/** What makes load on a server, and what it says afterwards. */
import { spawnSync } from "node:child_process";
import { processorTime } from "./usage.ts";
import { wrk } from "./wrk.ts";

/** How a server is asked. */
export interface Load {
  url: string;
  headers: Readonly<Record<string, string>>;
  connections: number;
  /** A whole number. */
  seconds: number;
}

/** How it answered. */
export interface Measured {
  requests: number;
  /** Requests a second. */
  rate: number;
  /** Milliseconds in which half of the answers were there. */
  p50: number;
  /** Milliseconds in which 99 of 100 answers were there. */
  p99: number;
  /** Connections that broke, answers that did not come, statuses of 400 and above. */
  failed: number;
}

export type Generate = (load: Load) => Promise<Measured>;

/** A tool that makes load. */
export interface Generator {
  name: string;
  generate: Generate;
}

/**
 * The tool that makes load.
 *
 * @throws {Error} where it is missing. There is no other: what npm has for it, autocannon, is slower
 * than the servers, which would then all look the same.
 */
export function findGenerator(): Generator {
  const { stdout, error } = spawnSync("wrk", ["--version"], { encoding: "utf8" });
  if (!error) return { name: /^wrk [^ \n]+/.exec(stdout)?.[0] ?? "wrk", generate: wrk };
  throw new Error("wrk is not on the PATH; apt install wrk, or brew install wrk, brings it");
}

/** Makes load on a process; `cpu` is the processor time it used, in microseconds, where known. */
export async function loadOn(
  pid: number,
  generate: Generate,
  load: Load,
): Promise<Measured & { cpu: number | undefined }> {
  const before = processorTime(pid);
  const measured = await generate(load);
  const after = processorTime(pid);
  return { ...measured, cpu: before === undefined ? undefined : after! - before };
}
