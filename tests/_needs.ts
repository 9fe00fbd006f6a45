/** Helpers for tests that are skipped if the machine lacks something that they need. */
import { existsSync } from "node:fs";
import process from "node:process";
import type { Test } from "uvu";

/**
 * Prints the reason for a skipped test on a line that `tests/run.ts` reads.
 *
 * @param missing the reason why the test cannot run here, or `undefined` to run the test
 */
export function testWhere(
  suite: Test,
  missing: string | undefined,
  name: string,
  check: () => Promise<void> | void,
): void {
  if (missing === undefined) return suite(name, check);
  suite.skip(name);
  console.log(`Skipped, ${missing}: ${name}`);
}

/**
 * @returns the reason to skip a test, or `undefined` if all programs that the test needs are
 * installed
 */
export function without(...programs: string[]): string | undefined {
  const missing = programs.filter((program) => !existsSync(program));
  return missing.length === 0 ? undefined : `needs ${missing.join(" and ")}`;
}

export const NOT_ROOT: string | undefined = process.getuid?.() === 0 && process.platform === "linux"
  ? undefined
  : "needs root on Linux";
