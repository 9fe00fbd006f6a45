/** Runs the suites whose path under `tests/` matches a pattern, on whichever runtime this is. */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parse } from "uvu/parse";
import { run } from "uvu/run";

const folder = fileURLToPath(new URL(".", import.meta.url));
const { suites } = await parse(folder, process.argv[2] ?? String.raw`\.test\.ts$`);
await run(suites, { bail: false });
// A runtime that keeps a connection of its own open would hold up all that comes after.
process.exit(process.exitCode ?? 0);
