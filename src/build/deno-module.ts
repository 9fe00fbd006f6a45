/**
 * `npm run build:deno`: bundles the command with its files as one module, `dist/nodeface-deno.js`,
 * which runs on Deno as it is; with `--compile`, has Deno make the executable
 * `dist/nodeface-deno` of it.
 *
 * @module
 */
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";
import { findProgram, runProgram } from "./run-program.ts";

const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));
const MODULE = "nodeface-deno.js";

await bundle("deno", join(DIST, MODULE));
if (process.argv.includes("--compile")) {
  // Of one module, so that Deno does not take all of node_modules in.
  const flags = ["--no-check", "--allow-net", "--allow-env", "--output=nodeface-deno"];
  try {
    await runProgram(findProgram("deno", "deno/deno"), ["compile", ...flags, MODULE], DIST);
  } catch (error) {
    console.error(`build:deno: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
