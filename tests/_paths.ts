/** The paths of the project and of the other runtimes. */
import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("../", import.meta.url));

/** The programs themselves: the wrapper of the npm package `deno` does not forward signals. */
export const DENO: string = `${ROOT}tests/node_modules/deno/deno`;
export const BUN: string = `${ROOT}tests/node_modules/bun/bin/bun.exe`;
