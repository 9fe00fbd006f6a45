/**
 * To keep `npm test` short, Deno and Bun run only a tenth of the cases in long test tables. Tables
 * about streams, timers, sockets or URL parsing are not shortened.
 */
import process from "node:process";
import type { Test } from "uvu";

const NTH = 10;

/** `npm test` draws a quarter of the random cases, and the tier `ci` all of them. */
const DRAWS_ALL = process.argv.includes("all-draws");

export const IS_NODE: boolean = !("Deno" in globalThis) && !("Bun" in globalThis);

export function sampleOf<T>(rows: readonly T[]): readonly T[] {
  return IS_NODE ? rows : rows.filter((_, at) => at % NTH === 0);
}

/** Returns how many of `count` random cases are drawn. */
export function sampleSize(count: number): number {
  return Math.ceil(count / (DRAWS_ALL ? 1 : IS_NODE ? 4 : NTH));
}

/** Returns fast-check's parameters for `count` random cases. A failure shows what was thrown. */
export function draws(count: number): { numRuns: number; includeErrorInReport: true } {
  return { numRuns: sampleSize(count), includeErrorInReport: true };
}

/**
 * Returns the shortest processor time of several runs, in milliseconds. Unlike elapsed time,
 * processor time hardly depends on other processes.
 */
export async function processorTime(runs: number, work: () => unknown): Promise<number> {
  let best = Infinity;
  for (let run = 0; run < runs; run++) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

/** Use this function for a test whose result would be the same on other runtimes. */
export function testOnNode(suite: Test, name: string, check: () => Promise<void> | void): void {
  if (IS_NODE) suite(name, check);
}
