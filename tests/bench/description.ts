/**
 * Measures how soon a large description is served, how long other requests wait meanwhile, how much
 * processor time the longest slice of the work takes, and how much memory the work takes.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { ROOT } from "../_paths.ts";
import { FOLDER } from "./answers.ts";
import { type Options, type Section, step, Table } from "./output.ts";
import { ask, memory, run, start } from "./processes.ts";
import { chosen, PROGRAMS } from "./servers.ts";
import { median, ratio, spread } from "./statistics.ts";

const DOCUMENT = `${ROOT}tests/.cache/documents/github.json`;

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
  const whole = JSON.parse(readFileSync(DOCUMENT, "utf8"));
  const write = (name: string, text: string) => {
    const file = join(FOLDER, name);
    writeFileSync(file, text);
    return file;
  };
  const files: readonly (readonly [Form, string])[] = [
    ["JSON", DOCUMENT],
    ["YAML", write("large.yaml", stringify(whole, { aliasDuplicateObjects: false }))],
  ];
  const rounds = Array.from({ length: isQuick ? 1 : 2 });
  const columns = ["× baseline", "as YAML, s", "wait, ms", "slice, ms", "MB at most"];
  const table = new Table(["description", "served, s", ...columns]);
  for (const [form, file] of files) {
    step(`${form}: the least program`);
    const least: number[] = [];
    for (const _ of rounds) least.push(await timeOfLeast(form, file) / 1000);
    const name = form === "JSON" ? "JSON.parse, stringify" : "yaml, parse";
    table.add(name, spread(least), 1, NaN, NaN, NaN, NaN);
    for (const { id, nodeface } of chosen(["node26", "executable"])) {
      const name = `${nodeface.name}, ${form}`;
      const served: Served[] = [];
      const slices: number[] = [];
      const program = id === "node26" ? [PROGRAMS["Node 26"], "--import", "tsx"] : [PROGRAMS.Bun];
      for (const round of rounds.keys()) {
        step(`${name}: round ${round + 1}`);
        served.push(await serve((port) => [...nodeface.command(port, ""), "--spec", file]));
        const printed = await run([...program, `${ROOT}tests/bench/slices.ts`, file]);
        slices.push(JSON.parse(printed).longest);
      }
      const of = (what: keyof Served) => served.map((each) => each[what]);
      const took = of("took");
      table.add(
        name,
        spread(took),
        ratio(took, least),
        spread(of("yaml")),
        spread(of("wait")),
        spread(slices),
        median(of("most")),
      );
    }
  }
  return {
    title: "A large description",
    text:
      `GitHub's OpenAPI description is 13 MB as JSON and 10 MB as YAML. "Served" is the time from the start of the
process until \`/spec.json\` and \`/v1/spec/simple\` contain the description. "× baseline" is the "served" time divided
by the time that the library functions alone take on Node 26. "As YAML" is the time until \`/spec.yaml\` contains the
description. "Wait" is the longest response time of \`/v1/info\` during the preparation. "Slice" is the processor time of
the longest slice of this work, after which other requests get a turn; the row of the executable has the time of Bun.
"MB at most" is the peak memory of the process during the preparation. Each was measured twice.`,
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

/** `took` and `yaml` are in seconds, `wait` is in milliseconds, and `most` in MB. */
interface Served {
  took: number;
  yaml: number;
  wait: number;
  most: number;
}

async function serve(command: (port: number) => readonly string[]): Promise<Served> {
  const { port, pid, took, stop } = await start(command);
  const since = performance.now();
  let isServed = false;
  let whole = NaN;
  const spec = askUntilLarge(port).then(async () => {
    whole = took + performance.now() - since;
    await ask(port, "/spec.yaml", { "accept-encoding": "gzip" });
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
  await stop();
  return { took: whole / 1000, yaml: yaml / 1000, wait, most };
}

/** At first, the served description contains only the service's own operations. */
async function askUntilLarge(port: number): Promise<void> {
  for (let i = 0; i < 300; i++) {
    const sizes: number[] = [];
    for (const path of ["/spec.json", "/v1/spec/simple"]) {
      sizes.push((await ask(port, path, { "accept-encoding": "gzip" })).body.length);
    }
    if (sizes[0]! > 20_000 && sizes[1]! > 20_000) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("The description is not shown");
}
