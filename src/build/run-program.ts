/**
 * Finds and runs the programs that make executables.
 *
 * @module
 */
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const TESTS = new URL("../../tests/node_modules/", import.meta.url);

/**
 * The program that the tests are pinned to, or the one on the `PATH`.
 *
 * @param name its name on the `PATH`
 * @param pinned its path in `tests/node_modules`
 * @throws {Error} where there is neither
 */
export function findProgram(name: string, pinned: string): string {
  const program = fileURLToPath(new URL(pinned, TESTS));
  if (existsSync(program)) return program;
  if (spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0) return name;
  throw new Error(`${name} is needed and not there; "node tests/setup.mjs" installs it`);
}

/**
 * Runs a program to its end.
 *
 * @param cwd the folder it runs in
 * @throws {Error} with what it printed, where it fails
 */
export async function runProgram(program: string, args: string[], cwd: string): Promise<void> {
  await promisify(execFile)(program, args, { cwd, maxBuffer: 1e8 });
}
