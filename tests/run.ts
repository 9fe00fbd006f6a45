/**
 * Runs the tests and prints a table of the results.
 *
 * - `run.ts fast` (`npm test`) runs every `*.test.ts` on Node. Of the suites directly below `tests/`,
 *   those about runtimes run on Deno and Bun, too.
 * - `run.ts slow` (`npm run test:slow`) runs every `*.slow.ts`. These suites take minutes, or need
 *   something from the machine, such as Debian packages or root. If a requirement is missing, the
 *   test is skipped.
 * - `run.ts ci` (`npm run test:ci`) runs the slow suites that take only a few minutes, and what
 *   `npm test` omits on Deno and Bun: suites directly below `tests/` that are not about texts, and
 *   suites that start servers. A suite that failed is run once more at the end, alone.
 * - `run.ts fast slow` (`npm run test:all`) runs the fast and the slow suites, and all suites below
 *   `tests/` on all runtimes.
 *
 * Further arguments are names of folders below `tests/`. Only the suites in these folders run.
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import process from "node:process";
import { BUN, DENO_RUN, ROOT } from "./_paths.ts";

interface Run {
  name: string;
  command: readonly string[];
}

interface Result {
  name: string;
  passed: number;
  failed: number;
  skipped: number;
  seconds: number;
  /**
   * The processor time of the test process and its ended child processes, in seconds. `NaN` except
   * on Linux.
   */
  processor: number;
  costs: readonly (readonly [file: string, seconds: number])[];
  /**
   * The failed tests and the reasons for skipped tests. If the run itself failed, the first entry
   * is the reason.
   */
  notes: readonly string[];
}

const UVU = "tests/_uvu.ts";
/** With more room for new objects, less time goes into collecting garbage. */
const NODE_FLAGS = ["--max-semi-space-size=64", "--import", "tsx"];
const onNode = (name: string, pattern: string, ...words: string[]): Run => ({
  name,
  command: [process.execPath, ...NODE_FLAGS, UVU, pattern, ...words],
});
const onDeno = (name: string, pattern: string): Run => ({
  name,
  command: [...DENO_RUN, "--allow-all", UVU, pattern],
});
const onBun = (name: string, pattern: string): Run => ({ name, command: [BUN, UVU, pattern] });
const folder = (name: string): Run => onNode(name, String.raw`^${name}[/\\].*\.test\.ts$`);
/**
 * The results of these suites depend on the runtime: they use its network, streams, requests, URLs
 * or timers.
 */
const ABOUT_RUNTIMES = [
  "abort-signal|bytes|client|embedding|events|gateway-(headers|sent)|host-guard",
  "info-(digest|failures|tls)|limit-response|mounting|negotiation|node-servers|pipelining",
  "platform|serve|slow-reader|sockets|with-timeout",
].join("|");
/** The results of these suites hardly depend on the runtime. */
const ABOUT_TEXTS = "description-|echo|explorer-|json|kind|openapi-|regular-expression";
const RANDOMS = "clients|drop-in|events|explorer-header|gateway-templates|info-bounds|json|" +
  "limit-response|openapi-(invalid|roundtrip)|properties|regular-expression";
const words = process.argv.slice(2);
const isSlow = words.includes("slow");
const PORTABLE = isSlow
  ? String.raw`^[^/\\]+\.test\.ts$`
  : String.raw`^(${ABOUT_RUNTIMES})\.test\.ts$`;
/**
 * The suites directly below `tests/` run on Node as three parallel lists, to shorten the whole run.
 */
const PORTABLE_THIRDS = ["a-f", "g-n", "o-z"].map((letters) =>
  onNode(`portable ${letters} on Node`, String.raw`^[${letters}][^/\\]*\.test\.ts$`)
);

const files = readdirSync(`${ROOT}tests`, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => !file.includes("node_modules/"))
  .sort();

const inFolders = files.filter((file) => /\/.*\.test\.ts$/.test(file));
const folders = [...new Set(inFolders.map((file) => file.split("/")[0]!))];

/** The suites in these folders share no state with suites in other folders. */
const APART = ["browser", "raw", "nodes", "project"];
const onNodeAlone = folders.filter((name) => !APART.includes(name)).map(folder);
/** These tests mostly wait, and take as long as all others in their folder. */
const MISBEHAVING = onNode("raw, clients", String.raw`^raw[/\\]clients\.test\.ts$`);
const RAW = onNode("raw", String.raw`^raw[/\\](?!clients\.).*\.test\.ts$`);

/**
 * Lists of fast suites. The suites in a list run one after the other, and the longest list starts
 * first.
 */
const FAST: readonly (readonly Run[])[] = [
  [folder("project")],
  [folder("browser")],
  ...PORTABLE_THIRDS.map((run) => [run]),
  [MISBEHAVING, folder("nodes")],
  [onDeno("portable on Deno", PORTABLE)],
  [onBun("portable on Bun", PORTABLE)],
  [RAW],
  onNodeAlone,
];

/**
 * With this word, suites that start servers also run on Deno and Bun (`tests/_server.ts`), and some
 * on Node 22 and 24 (`tests/raw/_servers.ts`).
 */
const EVERYWHERE = "everywhere";
const WITH_SERVERS = {
  "raw/everywhere": String.raw`^raw[/\\](?!clients\.|sockets\.).*\.test\.ts$`,
  "raw/clients, everywhere": String.raw`^raw[/\\](clients|sockets)\.test\.ts$`,
  "project/everywhere": String
    .raw`^project[/\\](command|idle-host|journal|node-description|probe)\.test\.ts$`,
};
const slow = [
  ...files.filter((file) => file.endsWith(".slow.ts")).map((file) =>
    onNode(
      file.replace(/\.slow\.ts$/, ""),
      `^${file.replaceAll(/[/.]/g, ".")}$`,
      EVERYWHERE,
    )
  ),
  ...Object.entries(WITH_SERVERS).map(([name, pattern]) => onNode(name, pattern, EVERYWHERE)),
];

/** The starts of names. A suite is in the first row that has its start. */
const [ALONE = [], ...BESIDE] = [
  // Nothing else may run on the machine during these measurements.
  ["release/start", "gateway/attack", "gateway/flood", "gateway/sockets-hostile"],
  // These suites mostly wait.
  ["gateway/quiet", "gateway/soak", "gateway/sockets-soak", "nodes/away", "nodes/far", "nodes/out"],
  // These suites run one after the other, because they build the package again.
  ["hosts/", "release/"],
  ["gateway/"],
  ["browser/"],
  [""],
].map((_, at, rows) => {
  const rowOf = ({ name }: Run) =>
    rows.findIndex((starts) => starts.some((start) => name.startsWith(start)));
  return slow.filter((run) => rowOf(run) === at);
});
/** With the word `all-pages`, the commands of all pages are run, else those of README. */
const MANUAL = String.raw`^project/manual\.test\.ts$`;
const manualOn = (...words: string[]): Run[] =>
  ["Deno", "Bun"].map((runtime) =>
    onNode([`manual on ${runtime}`, ...words].join(", "), MANUAL, runtime, ...words)
  );

const SLOW: readonly (readonly Run[])[] = [...BESIDE, manualOn("all-pages")];

/** The suites that draw cases at random. With this word, they draw more (`tests/_runtime.ts`). */
const RANDOM = onNode("random cases", String.raw`^(${RANDOMS})\.test\.ts$`, "all-draws");

const OTHERS = String.raw`^(?!${ABOUT_TEXTS}|(${ABOUT_RUNTIMES})\.)[^/\\]+\.test\.ts$`;
/** These suites take only a few minutes, and measure neither time nor memory. */
const CI: readonly (readonly Run[])[] = [
  ...[
    ["nodes/daemons", "gateway/nodes"],
    ["release/clone"],
    ["hosts/mounted", "hosts/sample", "project/memory", "project/assets", "openapi-limits"],
    ["description-large"],
    ["project/demo", "project/demo-ends", "tools/sample", "own-kinds"],
    ["raw/everywhere", "project/everywhere"],
    ["raw/clients, everywhere"],
    [
      ...["accessibility", "calls", "try-anvil", "updates", "content", "node-description"],
      ...["header", "weight"],
    ].map((name) => `browser/${name}`),
  ].map((row) => slow.filter(({ name }) => row.includes(name))),
  [onDeno("portable on Deno", OTHERS), onBun("portable on Bun", OTHERS)],
  [RANDOM, onNode("manual", MANUAL, "all-pages"), ...manualOn()],
];

/**
 * The number of suites that run in parallel. Five suites keep two processors busy, because most
 * suites wait a lot.
 */
const LANES = 5;

/**
 * The maximum time to wait for the end of the output, in milliseconds. A child process may keep the
 * output open after the test process has exited.
 */
const OUTPUT_TIMEOUT = 5000;

const TIERS = ["fast", "slow", "ci"];
const wanted = words.filter((word) => !TIERS.includes(word));
const isWanted = ({ name }: Run) =>
  wanted.length === 0 ||
  wanted.some((folder) => name === folder || name.startsWith(`${folder}/`));

const tiers = [
  words.includes("fast") ? FAST : [],
  isSlow ? [ALONE] : [],
  isSlow ? SLOW : [],
];
const results: Result[] = [];
for (const rows of tiers) results.push(...await executeRows(rows));
if (words.includes("ci")) results.push(...await repeatFailed(await executeRows(CI)));
const sum = (key: "passed" | "failed") => results.reduce((total, result) => total + result[key], 0);
console.log(`\n${tableOf(results)}\n\n${costliest(results)}\n`);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exit(results.length > 0 && sum("failed") === 0 ? 0 : 1);

async function executeRows(rows: readonly (readonly Run[])[]): Promise<Result[]> {
  const results: Result[][] = rows.map(() => []);
  const waiting = rows.entries();
  const lane = async () => {
    for (const [at, row] of waiting) {
      for (const run of row.filter(isWanted)) results[at]!.push(await execute(run));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results.flat();
}

/**
 * Runs each failed suite of the tier `ci` once more, when nothing runs beside it. A suite that
 * passes then counts as passed, because one late event on a busy machine must not stop a release.
 * Its notes still name what failed before.
 */
async function repeatFailed(results: readonly Result[]): Promise<Result[]> {
  const repeated: Result[] = [];
  for (const result of results) {
    const run = CI.flat().find(({ name }) => name === result.name);
    const again = run && result.failed > 0 ? await execute(run) : result;
    const before = result.notes.filter((note) => !again.notes.includes(note))
      .map((note) => `${note}, passed when run again alone`);
    repeated.push(again.failed > 0 ? result : { ...again, notes: [...before, ...again.notes] });
  }
  return repeated;
}

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
          () => setTimeout(() => stream.destroy(), OUTPUT_TIMEOUT).unref(),
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

/** uvu prints no counts if its process is interrupted. */
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
  const failures = [...output.matchAll(/^ +FAIL +(.+)$/gm)].map(([, which]) => `✘ ${which}`);
  const reasons = [...output.matchAll(/^Skipped, (.+?): /gm)].map(([, why]) => why!);
  const notes = [...failures, ...new Set(reasons)];
  const [, processor = NaN, files = ""] = /^Processor: ([\d.]+) s(.*)/m.exec(output) ?? [];
  const counts = {
    processor: Number(processor),
    costs: [...files.matchAll(/, (\S+) ([\d.]+)/g)]
      .map(([, file, seconds]) => [file!, Number(seconds)] as const),
    passed: passed || 0,
    failed: total - passed || 0,
    skipped: skipped || 0,
  };
  const mistake = Number.isNaN(total)
    ? `ended with ${status} before all tests were run`
    : counts.skipped !== reasons.length
    ? "has skipped tests without a reason"
    : total + skipped === 0
    ? "has no tests"
    : status !== 0 && counts.failed === 0
    ? `ended with ${status}`
    : undefined;
  if (!mistake) return { ...counts, notes };
  return { ...counts, failed: counts.failed + 1, notes: [mistake, ...notes] };
}

function costliest(results: readonly Result[]): string {
  const costs = new Map<string, number>();
  for (const [file, seconds] of results.flatMap(({ costs }) => costs)) {
    costs.set(file, (costs.get(file) ?? 0) + seconds);
  }
  const rows = [...costs].sort(([, a], [, b]) => b - a).slice(0, 10);
  return `of CPU: ${rows.map(([file, seconds]) => `${file} ${seconds.toFixed(0)}`).join(", ")}`;
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
    line("suite", ["passed", "failed", "skipped", "seconds", "of CPU"]),
    ...results.map(({ name, passed, failed, skipped, seconds, processor, notes }) =>
      line(name, [passed, failed, skipped, seconds.toFixed(0), processor.toFixed(0)], notes)
    ),
  ].join("\n");
}
