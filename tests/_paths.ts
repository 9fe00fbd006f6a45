/** The paths of the project and of the other runtimes. */
import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("../", import.meta.url));

/** The executable, since the wrapper script of the npm package `deno` does not forward signals. */
export const DENO: string = `${ROOT}tests/node_modules/deno/deno`;
/** Deno's command with the packages that npm installed, so that it does not use its own cache. */
export const DENO_RUN: readonly string[] = [DENO, "run", "--node-modules-dir=manual"];
export const BUN: string = `${ROOT}tests/node_modules/bun/bin/bun.exe`;
