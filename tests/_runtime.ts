/**
 * Selects the rows of long tables. Node runs all rows. Deno and Bun run a sample if only our own code is tested, so
 * that `npm test` stays short; tables that depend on streams, timers, sockets or URL parsing run in full everywhere.
 */
import process from "node:process";
import type { Test } from "uvu";

/** A sample has every n-th row. */
const NTH = 10;

/** True on Node. */
export const IS_NODE: boolean = !("Deno" in globalThis) && !("Bun" in globalThis);

/** Returns all rows on Node; elsewhere every tenth, beginning with the first. */
export function sampleOf<T>(rows: readonly T[]): readonly T[] {
  return IS_NODE ? rows : rows.filter((_, at) => at % NTH === 0);
}

/** Returns the number of random inputs to use: all on Node, a tenth elsewhere. */
export function sampleSize(count: number): number {
  return IS_NODE ? count : Math.ceil(count / NTH);
}

/**
 * Returns the processor time of some work in milliseconds, the best of several runs: other processes hardly affect it.
 * For tests on Node.
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

/** Registers a test on Node only, since the other runtimes would show the same. */
export function testOnNode(suite: Test, name: string, check: () => Promise<void> | void): void {
  if (IS_NODE) suite(name, check);
}
