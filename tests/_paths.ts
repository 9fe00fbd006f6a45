/** The paths of the project and of the Deno and Bun executables. */
import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("../", import.meta.url));

/** The executable itself is used, since the wrapper script in the npm package `deno` does not forward signals. */
export const DENO: string = `${ROOT}tests/node_modules/deno/deno`;
/** The command that runs Deno with the packages that npm installed, instead of those in Deno's own cache. */
export const DENO_RUN: readonly string[] = [DENO, "run", "--node-modules-dir=manual"];
export const BUN: string = `${ROOT}tests/node_modules/bun/bin/bun.exe`;
