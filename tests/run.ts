/**
 * Runs the tests and counts them.
 *
 * - `run.ts fast`, which is `npm test`: every `*.test.ts`. Those directly under `tests/` run on Node,
 *   Deno and Bun, those in a folder on Node.
 * - `run.ts slow`, which is `npm run test:slow`: every `*.slow.ts`, which takes minutes or needs more
 *   of the machine, such as packages of Debian or root. What is not there is skipped, and said.
 * - `run.ts fast slow`, which is `npm run test:all`: both.
 *
 * Further arguments are names of folders under `tests/`: only these are run. It ends with a table of
 * the suites and with one line that counts all tests; a test that is skipped is in the table only.
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import process from "node:process";
import { BUN, DENO, ROOT } from "./_paths.ts";

/** One process that runs suites. */
interface Run {
  name: string;
  command: readonly string[];
}

/** What has come of it. */
interface Result {
  name: string;
  passed: number;
  failed: number;
  skipped: number;
  seconds: number;
  /** Why tests were skipped, or why the whole counts as failed. */
  notes: readonly string[];
}

const UVU = "tests/_uvu.ts";
const onNode = (name: string, pattern: string): Run => ({
  name,
  command: [process.execPath, "--import", "tsx", UVU, pattern],
});
const folder = (name: string): Run => onNode(name, String.raw`^${name}[/\\].*\.test\.ts$`);
const PORTABLE = String.raw`^[^/\\]+\.test\.ts$`;

/** Runs that wait for most of their time, and beside them those that keep a processor busy. */
const FAST: readonly (readonly Run[])[] = [
  [folder("raw"), folder("nodes")],
  [
    onNode("portable on Node", PORTABLE),
    {
      name: "portable on Deno",
      command: [DENO, "run", "--allow-all", UVU, PORTABLE],
    },
    { name: "portable on Bun", command: [BUN, UVU, PORTABLE] },
    folder("runtimes"),
    folder("project"),
    folder("browser"),
  ],
];

/** One after another, since some of them measure. */
const SLOW: readonly (readonly Run[])[] = [
  readdirSync(`${ROOT}tests`, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".slow.ts") && !file.startsWith("node_modules/"))
    .sort()
    .map((file) =>
      onNode(
        file.replace(/\.slow\.ts$/, ""),
        `^${file.replaceAll(/[/.]/g, ".")}$`,
      )
    ),
];

/** How long the output of a run is read on after its end, in ms: what it has started may hold it. */
const LAST_WORDS = 5000;

const words = process.argv.slice(2);
const folders = words.filter((word) => word !== "fast" && word !== "slow");
const isWanted = ({ name }: Run) =>
  folders.length === 0 ||
  folders.some((folder) => name === folder || name.startsWith(`${folder}/`));

const tiers = [words.includes("fast") ? FAST : [], words.includes("slow") ? SLOW : []];
const results: Result[] = [];
for (const lanes of tiers) results.push(...(await Promise.all(lanes.map(executeAll))).flat());
const sum = (key: "passed" | "failed") => results.reduce((total, result) => total + result[key], 0);
console.log(`\n${tableOf(results)}\n`);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exit(results.length > 0 && sum("failed") === 0 ? 0 : 1);

/** Runs those of a lane that are wanted, one after another. */
async function executeAll(lane: readonly Run[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const run of lane.filter(isWanted)) results.push(await execute(run));
  return results;
}

/** Runs one process to its end, then prints all that it has printed. */
async function execute(
  { name, command: [program = "", ...args] }: Run,
): Promise<Result> {
  const started = performance.now();
  const { status, output } = await new Promise<
    { status: number | null; output: string }
  >(
    (resolve) => {
      const child = spawn(program, args, {
        cwd: ROOT,
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => output += text);
        child.on(
          "exit",
          () => setTimeout(() => stream.destroy(), LAST_WORDS).unref(),
        );
      }
      child.on("error", (error) => output += `${error}\n`);
      child.on("close", (status) => resolve({ status, output }));
    },
  );
  const seconds = (performance.now() - started) / 1000;
  console.log(`\n== ${name}, ${seconds.toFixed(1)} s\n${output.trimEnd()}`);
  return { name, seconds, ...read(status, output) };
}

/** Reads what uvu counts at the end of its output, which a process that is cut short has not. */
function read(
  status: number | null,
  output: string,
): Omit<Result, "name" | "seconds"> {
  const [total = NaN, passed = NaN, skipped = NaN] = [
    "Total",
    "Passed",
    "Skipped",
  ].map((word) =>
    Number(
      new RegExp(String.raw`^  ${word}: +(\d+)$`, "m").exec(output)?.[1] ?? NaN,
    )
  );
  const reasons = [...output.matchAll(/^Skipped, (.+?): /gm)].map(([, why]) => why!);
  const notes = [...new Set(reasons)];
  const counts = {
    passed: passed || 0,
    failed: total - passed || 0,
    skipped: skipped || 0,
  };
  const mistake = Number.isNaN(total)
    ? `ended with ${status} before all tests were run`
    : counts.skipped !== reasons.length
    ? "has tests that are skipped without a reason"
    : total + skipped === 0
    ? "has no tests"
    : status !== 0 && counts.failed === 0
    ? `ended with ${status}`
    : undefined;
  if (!mistake) return { ...counts, notes };
  return { ...counts, failed: counts.failed + 1, notes: [mistake, ...notes] };
}

function tableOf(results: readonly Result[]): string {
  const width = Math.max(...results.map(({ name }) => name.length), 5);
  const line = (
    name: string,
    cells: readonly unknown[],
    notes: readonly string[] = [],
  ) =>
    [
      name.padEnd(width),
      ...cells.map((cell) => String(cell).padStart(7)),
      notes.join("; "),
    ]
      .join("  ").trimEnd();
  return [
    line("suite", ["passed", "failed", "skipped", "seconds"]),
    ...results.map(({ name, passed, failed, skipped, seconds, notes }) =>
      line(name, [passed, failed, skipped, seconds.toFixed(0)], notes)
    ),
  ].join("\n");
}
