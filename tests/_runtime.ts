/**
 * What of a long table a runtime runs. Node runs all of it. Where a table does not depend on the runtime, Deno
 * and Bun run a sample, so that `npm test` stays short.
 */
import type { Test } from "uvu";

/** Whether this is Node. */
export const IS_NODE: boolean = !("Deno" in globalThis) && !("Bun" in globalThis);

/** All rows on Node; elsewhere each tenth, from the first on. */
export function sampleOf<T>(rows: readonly T[]): readonly T[] {
  return IS_NODE ? rows : rows.filter((_, at) => at % 10 === 0);
}

/** A number of random inputs: all on Node, elsewhere a tenth. */
export function sampleSize(count: number): number {
  return IS_NODE ? count : Math.ceil(count / 10);
}

/** Registers a test on Node. Elsewhere there is none, since it would show the same. */
export function testOnNode(suite: Test, name: string, check: () => Promise<void> | void): void {
  if (IS_NODE) suite(name, check);
}
