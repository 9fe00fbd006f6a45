/**
 * Measures how soon a large description is served, how long other requests wait meanwhile, and how much memory the
 * description takes.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { ROOT } from "../_paths.ts";
import { FOLDER } from "./answers.ts";
import { type Options, type Section, step, Table } from "./output.ts";
import { ask, memory, run, start } from "./processes.ts";
import { chosen, PROGRAMS } from "./servers.ts";
import { median } from "./statistics.ts";

const DOCUMENT = `${ROOT}tests/.cache/documents/github.json`;

/** The delay before memory is measured, in milliseconds. The delay is long because V8 frees memory late. */
const REST = 60_000;

/** For each format, the minimal program with which Nodeface is compared. */
const LEAST = {
  JSON: "JSON.stringify(JSON.parse(text))",
  YAML: 'require("yaml").parse(text)',
} as const;

type Form = keyof typeof LEAST;

/** @throws {Error} if the description is missing */
export function checkDocument(): void {
  if (!existsSync(DOCUMENT)) {
    throw new Error('"node tests/tools/setup.mjs" fetches the description');
  }
}

export async function description({ isQuick }: Options): Promise<Section> {
  const text = readFileSync(DOCUMENT, "utf8");
  const yaml = join(FOLDER, "large.yaml");
  writeFileSync(yaml, stringify(JSON.parse(text), { aliasDuplicateObjects: false }));
  const rounds = Array.from({ length: isQuick ? 1 : 3 });

  const head = [
    "description",
    "served, s",
    "× baseline",
    "as YAML, s",
    "wait, ms",
    "MB at most",
    "MB growth",
  ];
  const table = new Table(head);
  for (const [form, file] of [["JSON", DOCUMENT], ["YAML", yaml]] as const) {
    const least: number[] = [];
    for (const _ of rounds) least.push(await timeOfLeast(form, file));
    table.add(
      form === "JSON" ? "JSON.parse, stringify" : "yaml, parse",
      median(least) / 1000,
      1,
      NaN,
      NaN,
      NaN,
      NaN,
    );
    for (const { nodeface } of chosen(["node26", "executable"])) {
      const name = `${nodeface.name}, ${form}`;
      const served: Served[] = [];
      for (const i of rounds.keys()) {
        step(name);
        const command = (port: number) => [...nodeface.command(port, ""), "--spec", file];
        served.push(await serve(command, form === "JSON" && i === rounds.length - 1));
      }
      const of = (what: keyof Served) => median(served.map((each) => each[what]));
      table.add(
        name,
        of("took") / 1000,
        of("took") / median(least),
        of("yaml") / 1000,
        of("wait"),
        of("most"),
        served.at(-1)!.more,
      );
    }
  }
  return {
    title: "A large description",
    text:
      `GitHub's OpenAPI description is 13 MB as JSON and 10 MB as YAML. "Served" is the time from the start of the
process until \`/spec.json\` and \`/v1/spec/simple\` contain the description. "× baseline" is the "served" time divided
by the time that the library functions alone take on Node 26. "As YAML" is the time until \`/spec.yaml\` contains the
description. "Wait" is the longest response time of \`/v1/info\` during the preparation. "MB at most" is the peak memory
of the process during the preparation. "MB growth" is the growth in memory, measured one minute after the preparation.`,
    table,
  };
}

async function timeOfLeast(form: Form, file: string): Promise<number> {
  const program = `const text = require("node:fs").readFileSync(process.argv[1], "utf8");
    const since = performance.now();
    ${LEAST[form]};
    console.log(performance.now() - since);`;
  return Number(await run([PROGRAMS["Node 26"], "-e", program, file]));
}

/** Times in milliseconds, and sizes in MB. */
interface Served {
  took: number;
  yaml: number;
  wait: number;
  most: number;
  more: number;
}

async function serve(
  command: (port: number) => readonly string[],
  isRested: boolean,
): Promise<Served> {
  const { port, pid, took, stop } = await start(command);
  const before = memory(pid, "VmRSS");
  const since = performance.now();
  let isServed = false;
  let whole = NaN;
  const spec = askUntilLarge(port).then(async () => {
    whole = took + performance.now() - since;
    await ask(port, "/spec.yaml", { "accept-encoding": "br" });
  }).finally(() => isServed = true);
  let wait = 0;
  while (!isServed) {
    const asked = performance.now();
    await ask(port, "/v1/info");
    wait = Math.max(wait, performance.now() - asked);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await spec;
  const yaml = took + performance.now() - since;
  const most = memory(pid, "VmHWM");
  if (isRested) await new Promise((resolve) => setTimeout(resolve, REST));
  const more = isRested ? memory(pid, "VmRSS") - before : NaN;
  await stop();
  return { took: whole, yaml, wait, most, more };
}

/** At first, the served description contains only the service's own operations. */
async function askUntilLarge(port: number): Promise<void> {
  for (let i = 0; i < 300; i++) {
    const sizes: number[] = [];
    for (const path of ["/spec.json", "/v1/spec/simple"]) {
      sizes.push((await ask(port, path, { "accept-encoding": "br" })).body.length);
    }
    if (sizes[0]! > 100_000 && sizes[1]! > 20_000) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("The description is not shown");
}
