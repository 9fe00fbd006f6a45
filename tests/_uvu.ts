/**
 * Runs the test files whose path below `tests/` matches a pattern. Exits with 0 if all tests pass.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parse } from "uvu/parse";

/** If all tests pass, uvu sets `errors` to `true` instead of an error text. */
type Run = () => Promise<[errors: string | true, passed: number, skipped: number, total: number]>;
type Queue = [name: string, ...suites: Run[]][];

const folder = fileURLToPath(new URL(".", import.meta.url));
const { suites } = await parse(folder, process.argv[2] ?? String.raw`\.test\.ts$`);

if (suites.length === 0) throw new Error(`no file has a path like ${process.argv[2]}`);

/** Holds the folders of the tests: a node leaves up to 500 MB, also if its test fails. */
const scratch = mkdtempSync(join(tmpdir(), "nodeface-tests-"));
// Some tests run programs as other users.
chmodSync(scratch, 0o755);
process.env.TMPDIR = scratch;
process.once("exit", () => {
  try {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // A program that was killed may still write there.
  }
});

const { fetch } = globalThis;
/** Node says of a failed request only that it failed, and uvu prints no cause. */
globalThis.fetch = async (...request) => {
  try {
    return await fetch(...request);
  } catch (error) {
    const { cause, message } = error as Error;
    if (!cause) throw error;
    throw new TypeError(`${message}: ${cause}`, { cause });
  }
};

/** The processor seconds of each file. */
const costs = new Map<string, number>();

// The code below does the same as `uvu/run`, except that it wraps each suite.
const shared = globalThis as { UVU_DEFER?: 1; UVU_QUEUE?: Queue; UVU_INDEX?: number };
shared.UVU_DEFER = 1;
const { exec } = await import("uvu");
const queue = shared.UVU_QUEUE!;
for (const [index, { name, file }] of suites.entries()) {
  shared.UVU_INDEX = index;
  queue.push([name]);
  await import(pathToFileURL(file).href);
  const [, ...runs] = queue[index]!;
  if (runs.length === 0) throw new Error(`tests/${name} runs no suite`);
  queue[index] = [name, ...runs.map((run) => measured(name, failOnHook(name, run)))];
}
await exec(false);
console.log(`Processor: ${processorSeconds().toFixed(1)} s${costliest()}\n`);
// Without this call, an open connection would keep the process alive.
process.exit(process.exitCode ?? 0);

/**
 * Returns the processor seconds of this process and of its finished children, or `NaN` on systems
 * other than Linux. Most of Chromium's processor time is missing, because Chromium does not wait
 * for its child processes.
 */
function processorSeconds(): number {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // The fields are the user and system times of the process, then of its children, in 1/100 s.
    const times = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 15);
    return times.reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  } catch {
    return NaN;
  }
}

function measured(name: string, run: Run): Run {
  return async () => {
    const before = processorSeconds();
    const result = await run();
    costs.set(name, (costs.get(name) ?? 0) + processorSeconds() - before);
    return result;
  };
}

function costliest(): string {
  const rows = [...costs].filter(([, seconds]) => seconds >= 1).sort(([, a], [, b]) => b - a);
  return rows.slice(0, 8).map(([name, seconds]) => `, ${name} ${seconds.toFixed(1)}`).join("");
}

/** uvu 0.5.6 ignores errors in a `before` hook, and reports the suite as passed. */
function failOnHook(name: string, run: Run): Run {
  return async () => {
    const [errors, passed, skipped, total] = await run();
    const isCut = errors === true && passed < total;
    const said = isCut ? `   FAIL  ${name}: a hook failed before all tests were run\n` : errors;
    return [said, passed, skipped, total];
  };
}
