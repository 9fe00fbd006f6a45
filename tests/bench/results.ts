/** What was measured: kept in a file, so that the report can be made of it again. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ROOT } from "../_paths.ts";
import type { Machine } from "./machine.ts";
import type { ExplorerResult } from "./parts/explorer.ts";
import type { GrowthResult } from "./parts/growth.ts";
import type { RequestsResult } from "./parts/requests.ts";
import type { StartResult } from "./parts/start.ts";

/** What each part gives. */
export interface PartResults {
  requests: RequestsResult;
  start: StartResult;
  explorer: ExplorerResult;
  growth: GrowthResult;
}

/** A part's result, and where it is from. */
export interface Measured<Result> {
  /** When it was measured, RFC 3339. */
  at: string;
  /** How long that took, in seconds. */
  took: number;
  /** The part of the processors' time that the host gave to others meanwhile, where it tells. */
  steal?: number | undefined;
  quick: boolean;
  machine: Machine;
  result: Result;
}

/** The parts measured last. */
export type Results = { [Id in keyof PartResults]?: Measured<PartResults[Id]> };

const FILE = `${ROOT}dist/bench/results.json`;

/** Reads what was measured; nothing where nothing was. */
export function readResults(): Results {
  try {
    return JSON.parse(readFileSync(FILE, "utf8"));
  } catch {
    return {};
  }
}

export function writeResults(results: Results): void {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify(results));
}
