/** The paths of the project and of the Deno and Bun executables. */
import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("../", import.meta.url));

/**
 * The Deno executable itself, because the wrapper script of the npm package does not forward
 * signals.
 */
export const DENO: string = `${ROOT}tests/runtimes/node_modules/deno/deno`;
/**
 * `--node-modules-dir=manual` makes Deno use the packages that npm installed, instead of its own
 * cache.
 */
export const DENO_RUN: readonly string[] = [DENO, "run", "--node-modules-dir=manual"];
export const BUN: string = `${ROOT}tests/runtimes/node_modules/bun/bin/bun.exe`;
