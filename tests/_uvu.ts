/**
 * Runs the suites whose path under `tests/` matches a pattern, on whichever runtime this is; ends
 * with 0 if every test of every suite has passed.
 */
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parse } from "uvu/parse";

/** Runs one suite: what failed or `true`, how many passed, were skipped, and were to be run. */
type Run = () => Promise<[errors: string | true, passed: number, skipped: number, total: number]>;
/** Where uvu collects the suites of each file, behind the file's name. */
type Queue = [name: string, ...suites: Run[]][];

const folder = fileURLToPath(new URL(".", import.meta.url));
const { suites } = await parse(folder, process.argv[2] ?? String.raw`\.test\.ts$`);

// As uvu/run does it, which leaves no moment between reading the suites and running them.
const shared = globalThis as { UVU_DEFER?: 1; UVU_QUEUE?: Queue; UVU_INDEX?: number };
shared.UVU_DEFER = 1;
const { exec } = await import("uvu");
const queue = shared.UVU_QUEUE!;
for (const [index, { name, file }] of suites.entries()) {
  shared.UVU_INDEX = index;
  queue.push([name]);
  await import(pathToFileURL(file).href);
  const [, ...runs] = queue[index]!;
  if (runs.length === 0) throw new Error(`tests/${name} has no suite that it runs`);
  queue[index] = [name, ...runs.map(failOnHook)];
}
await exec(false);
// A runtime that keeps a connection of its own open would hold up all that comes after.
process.exit(process.exitCode ?? 0);

/** uvu 0.5.6 drops the error of a `before` hook, and takes the suite for one that has passed. */
function failOnHook(run: Run): Run {
  return async () => {
    const [errors, passed, skipped, total] = await run();
    const isCut = errors === true && passed < total;
    const said = isCut ? "  A hook has failed, so not every test was run\n" : errors;
    return [said, passed, skipped, total];
  };
}
