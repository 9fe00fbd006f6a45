/** Tests that need something of the machine, and say so where it is not there. */
import { existsSync } from "node:fs";
import type { Test } from "uvu";

/**
 * Registers a test, or prints why it is left out.
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
  console.log(`Left out: "${name}" ${missing}`);
}

/** Why a test that needs programs of Debian is left out. */
export function without(...programs: string[]): string | undefined {
  const missing = programs.filter((program) => !existsSync(program));
  return missing.length === 0 ? undefined : `needs ${missing.join(", ")}`;
}
