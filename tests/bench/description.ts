/**
 * Measures how soon a large description is served, how long other requests wait meanwhile, how much
 * processor time the longest slice of the work takes, and how much memory the description takes.
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

/**
 * The delay before memory is measured, in milliseconds. The delay is long because V8 frees memory
 * late.
 */
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
  const whole = JSON.parse(readFileSync(DOCUMENT, "utf8"));
  const write = (name: string, text: string) => {
    const file = join(FOLDER, name);
    writeFileSync(file, text);
    return file;
  };
  const toYaml = (document: object) => stringify(document, { aliasDuplicateObjects: false });
  const files = [
    ["JSON", "", DOCUMENT],
    ["YAML", "", write("large.yaml", toYaml(whole))],
    [
      "JSON",
      "1 MiB of ",
      write("part.json", partOf(whole, (part) => JSON.stringify(part, null, 2))),
    ],
    ["YAML", "1 MiB of ", write("part.yaml", partOf(whole, toYaml))],
  ] as const;
  const rounds = Array.from({ length: isQuick ? 1 : 3 });

  const head = [
    "description",
    "served, s",
    "× baseline",
    "as YAML, s",
    "wait, ms",
    "slice, ms",
    "MB at most",
    "MB growth",
  ];
  const table = new Table(head);
  for (const [form, size, file] of files) {
    const least: number[] = [];
    for (const _ of rounds) least.push(await timeOfLeast(form, file));
    table.add(
      size + (form === "JSON" ? "JSON.parse, stringify" : "yaml, parse"),
      median(least) / 1000,
      1,
      NaN,
      NaN,
      NaN,
      NaN,
      NaN,
    );
    for (const { id, nodeface } of chosen(["node26", "executable"])) {
      const name = `${nodeface.name}, ${size}${form}`;
      const served: Served[] = [];
      for (const i of rounds.keys()) {
        step(name);
        const command = (port: number) => [...nodeface.command(port, ""), "--spec", file];
        served.push(await serve(command, file === DOCUMENT && i === rounds.length - 1));
      }
      const program = id === "node26" ? [PROGRAMS["Node 26"], "--import", "tsx"] : [PROGRAMS.Bun];
      const slices: number[] = [];
      for (const _ of rounds) {
        const printed = await run([...program, `${ROOT}tests/bench/slices.ts`, file]);
        slices.push(JSON.parse(printed).longest);
      }
      const of = (what: keyof Served) => median(served.map((each) => each[what]));
      table.add(
        name,
        of("took") / 1000,
        of("took") / median(least),
        of("yaml") / 1000,
        of("wait"),
        Math.min(...slices),
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
description. "Wait" is the longest response time of \`/v1/info\` during the preparation. "Slice" is the processor time of
the longest slice of this work (the best of three runs), after which other requests get a turn; the row of the executable
has the time of Bun. "MB at most" is the peak memory of the process during the preparation. "MB growth" is the growth in memory, measured one minute after the preparation.`,
    table,
  };
}

/**
 * The first operations of a document with all components to which they refer, as text of at most a
 * mebibyte.
 */
function partOf(
  whole: { paths: object; components: Record<string, Record<string, unknown>> },
  write: (part: object) => string,
): string {
  const textOf = (count: number) => {
    const paths = Object.fromEntries(Object.entries(whole.paths).slice(0, count));
    const components: Record<string, Record<string, unknown>> = {};
    const queue: unknown[] = [paths];
    for (const value of queue) {
      for (const [, section, name] of JSON.stringify(value).matchAll(REFERENCE)) {
        const component = whole.components[section!]![name!];
        if (components[section!]?.[name!]) continue;
        (components[section!] ??= {})[name!] = component;
        queue.push(component);
      }
    }
    const { openapi, info, servers, tags } = whole as Record<string, unknown>;
    return write({ openapi, info, servers, tags, paths, components });
  };
  let count = 0;
  for (let step = 512; step >= 1; step /= 2) {
    if (textOf(count + step).length <= 1_048_576) count += step;
  }
  return textOf(count);
}

const REFERENCE = /"#\/components\/(\w+)\/([\w.-]+)"/g;

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
      sizes.push((await ask(port, path, { "accept-encoding": "gzip" })).body.length);
    }
    if (sizes[0]! > 20_000 && sizes[1]! > 20_000) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("The description is not shown");
}
