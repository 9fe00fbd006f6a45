/** What makes load on a server, and what it says afterwards. */
import { spawnSync } from "node:child_process";
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

/** The best tool there is on this machine. */
export function findGenerator(): Generator {
  const { stdout, error } = spawnSync("wrk", ["--version"], {
    encoding: "utf8",
  });
  if (!error) {
    return { name: /^wrk \S+/.exec(stdout)?.[0] ?? "wrk", generate: wrk };
  }
  throw new Error("wrk is not on the PATH: apt install wrk");
}
