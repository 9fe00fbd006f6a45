/**
 * Runs the suites whose path below `tests/` matches a pattern, on the current runtime. Exits with 0 if all
 * tests pass.
 */
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parse } from "uvu/parse";

/** Runs a suite; `errors` is `true` if there are none. */
type Run = () => Promise<[errors: string | true, passed: number, skipped: number, total: number]>;
/** The suites of each file, as uvu collects them. */
type Queue = [name: string, ...suites: Run[]][];

const folder = fileURLToPath(new URL(".", import.meta.url));
const { suites } = await parse(folder, process.argv[2] ?? String.raw`\.test\.ts$`);

// This is what uvu/run does. Here the suites are wrapped before they run.
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
// An open connection would keep the process alive.
process.exit(process.exitCode ?? 0);

/** uvu 0.5.6 ignores the error of a `before` hook and counts the suite as passed. */
function failOnHook(run: Run): Run {
  return async () => {
    const [errors, passed, skipped, total] = await run();
    const isCut = errors === true && passed < total;
    const said = isCut ? "  A hook has failed, so not every test was run\n" : errors;
    return [said, passed, skipped, total];
  };
}
