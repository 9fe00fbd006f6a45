/** Tests that need something of the machine, and say so where it is not there. */
import { existsSync } from "node:fs";
import process from "node:process";
import type { Test } from "uvu";

/**
 * Registers a test, or counts it as skipped and prints why; `tests/run.ts` reads that line.
 *
 * @param missing what is not there; nothing where all is
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

/** Why a test that needs programs of Debian is skipped, where they are not installed. */
export function without(...programs: string[]): string | undefined {
  const missing = programs.filter((program) => !existsSync(program));
  return missing.length === 0 ? undefined : `needs ${missing.join(" and ")}`;
}

/** Why a test that needs the superuser of a Linux is skipped, where there is none. */
export const NOT_ROOT: string | undefined = process.getuid?.() === 0 && process.platform === "linux"
  ? undefined
  : "needs root on Linux";
