/**
 * What of a long table a runtime runs. Node runs all of it. Deno and Bun run a sample of what our own code decides, so that
 * `npm test` stays short; what rests on streams, timers, sockets or the parser of URLs is run in full everywhere.
 */
import process from "node:process";
import type { Test } from "uvu";

/** Of how many rows one is in a sample. */
const NTH = 10;

/** Whether this is Node. */
export const IS_NODE: boolean = !("Deno" in globalThis) && !("Bun" in globalThis);

/** All rows on Node; elsewhere each tenth, from the first on. */
export function sampleOf<T>(rows: readonly T[]): readonly T[] {
  return IS_NODE ? rows : rows.filter((_, at) => at % NTH === 0);
}

/** A number of random inputs: all on Node, elsewhere a tenth. */
export function sampleSize(count: number): number {
  return IS_NODE ? count : Math.ceil(count / NTH);
}

/**
 * Milliseconds of processor that some work takes, which other processes change little; the best of some runs. For tests
 * on Node.
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

/** Registers a test on Node. Elsewhere there is none, since it would show the same. */
export function testOnNode(suite: Test, name: string, check: () => Promise<void> | void): void {
  if (IS_NODE) suite(name, check);
}
