/** Tests that need something on the machine, and are skipped without it. */
import { existsSync } from "node:fs";
import process from "node:process";
import type { Test } from "uvu";

/**
 * Registers a test, or skips it and prints why; `tests/run.ts` reads that line.
 *
 * @param missing why the test cannot run here; `undefined` runs it
 */
export function testWhere(
  suite: Test,
  missing: string | undefined,
  name: string,
  check: () => Promise<void>,
): void {
  if (missing === undefined) return suite(name, check);
  suite.skip(name);
  console.log(`Skipped, ${missing}: ${name}`);
}

/** Returns why a test cannot run without these programs; `undefined` if all are installed. */
export function without(...programs: string[]): string | undefined {
  const missing = programs.filter((program) => !existsSync(program));
  return missing.length === 0 ? undefined : `needs ${missing.join(" and ")}`;
}

/** The reason why tests that need root on Linux cannot run; `undefined` if they can. */
export const NOT_ROOT: string | undefined = process.getuid?.() === 0 && process.platform === "linux"
  ? undefined
  : "needs root on Linux";
