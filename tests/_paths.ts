/** Where the tests find the project and the other runtimes. */
import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("../", import.meta.url));

/** The programs themselves: the wrapper that the package puts before Deno passes no signals on. */
export const DENO: string = `${ROOT}tests/node_modules/deno/deno`;
export const BUN: string = `${ROOT}tests/node_modules/bun/bin/bun.exe`;
