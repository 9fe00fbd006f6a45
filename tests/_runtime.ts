/**
 * Selects the rows of long test tables. Node runs all rows. To keep `npm test` short, Deno and Bun run only some rows
 * of a table that tests only our own code. If a table depends on streams, timers, sockets or URL parsing, Deno and Bun
 * run all its rows too.
 */
import process from "node:process";
import type { Test } from "uvu";

/** A sample consists of every n-th row. */
const NTH = 10;

export const IS_NODE: boolean = !("Deno" in globalThis) && !("Bun" in globalThis);

/** Returns all rows on Node, and every tenth row on other runtimes, beginning with the first. */
export function sampleOf<T>(rows: readonly T[]): readonly T[] {
  return IS_NODE ? rows : rows.filter((_, at) => at % NTH === 0);
}

/** Returns the number of random inputs to use: the given count on Node, and a tenth of it on other runtimes. */
export function sampleSize(count: number): number {
  return IS_NODE ? count : Math.ceil(count / NTH);
}

/**
 * Returns the shortest processor time, in milliseconds, that some work takes in several runs. Other processes hardly
 * affect processor time. Only tests that run on Node use this function.
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

/** Registers a test on Node only. This is for tests whose result would be the same on other runtimes. */
export function testOnNode(suite: Test, name: string, check: () => Promise<void> | void): void {
  if (IS_NODE) suite(name, check);
}
