/**
 * Finds and runs the runtimes that make executables.
 *
 * @module
 */
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const TESTS = new URL("../../tests/node_modules/", import.meta.url);

/**
 * Finds the program that the tests use, or else the one on the `PATH`.
 *
 * @param name the name on the `PATH`
 * @param pinned the path in `tests/node_modules`
 * @throws {Error} if there is neither
 */
export function findProgram(name: string, pinned: string): string {
  const program = fileURLToPath(new URL(pinned, TESTS));
  if (existsSync(program)) return program;
  if (spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0) return name;
  throw new Error(`${name} is not installed; "node tests/setup.mjs" installs it`);
}

/**
 * Runs a program.
 *
 * @throws {Error} with its output if it fails
 */
export async function runProgram(program: string, args: string[], cwd: string): Promise<void> {
  await promisify(execFile)(program, args, { cwd, maxBuffer: 1e8 });
}
