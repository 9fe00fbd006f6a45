/**
 * `npm run build:deno`: bundles the command for Deno as one module, `dist/nodeface-deno.js`. With
 * `--compile`, Deno compiles it to the executable `dist/nodeface-deno`.
 *
 * @module
 */
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle-for-runtime.ts";
import { findProgram, runProgram } from "./runtime-programs.ts";

const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));
const MODULE = "nodeface-deno.js";

await bundle("deno", join(DIST, MODULE));
if (process.argv.includes("--compile")) {
  // Compiling the sources instead would embed all of node_modules (Deno 2.9).
  const flags = [
    ...["--no-check", "--allow-net", "--allow-env", "--output=nodeface-deno"],
    // As `deno task start` has it: a large description takes 750 MB at most, where it took 1.2 GB.
    "--v8-flags=--heap-growing-percent=60",
  ];
  try {
    await runProgram(findProgram("deno", "deno/deno"), ["compile", ...flags, MODULE], DIST);
  } catch (error) {
    console.error(`build:deno: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
