/**
 * `npm test`: runs every suite on Node, and those that need no machine of their own on Deno and
 * Bun as well; ends with one line that counts them all. With the name of a folder under `tests/`,
 * as `npm run test:release` gives it, it runs the suites of that folder on Node.
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { BUN, DENO, ROOT } from "./_paths.ts";

const UVU = "tests/_uvu.ts";
/** What is released takes minutes to be made and is checked by a command of its own. */
const EVERY_SUITE = String.raw`^(?!release[/\\]).*\.test\.ts$`;
/** The suites directly under `tests/` call `app.fetch`, and run wherever the service does. */
const PORTABLE_SUITES = String.raw`^[^/\\]+\.test\.ts$`;

/** How long the output of a run is read on after its end, in ms: what it has started may hold it. */
const LAST_WORDS = 5000;

type Run = [name: string, command: string, args: string[]];

const onNode = (
  suites: string,
): Run => ["Node", process.execPath, ["--import", "tsx", UVU, suites]];

const folder = process.argv[2];
const RUNS: Run[] = folder ? [onNode(String.raw`^${folder}[/\\].*\.test\.ts$`)] : [
  onNode(EVERY_SUITE),
  ["Deno", DENO, ["run", "--allow-all", UVU, PORTABLE_SUITES]],
  ["Bun", BUN, [UVU, PORTABLE_SUITES]],
];

let passed = 0;
let failed = 0;
for (const [name, command, args] of RUNS) {
  console.log(`\nOn ${name}`);
  const { status, output } = await run(command, args);
  const total = count(output, "Total");
  passed += count(output, "Passed");
  failed += total - count(output, "Passed");
  // What is skipped is not in the total. A run that ends early counts as a failure, whatever it
  // printed before.
  if ((status !== 0 || total === 0) && failed === 0) failed++;
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** Runs a command and shows what it prints while it prints it. */
function run(command: string, args: string[]): Promise<{ status: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      process.stdout.write(text);
    });
    child.on("exit", () => setTimeout(() => child.stdout.destroy(), LAST_WORDS).unref());
    child.on("error", reject).on("close", (status) => resolve({ status, output }));
  });
}

/** Reads one of the counts that uvu prints last. */
function count(output: string, word: string): number {
  return Number(new RegExp(String.raw`${word}:\s+(\d+)`).exec(output)?.[1] ?? 0);
}
