/** The report as a whole. */
import { LINES } from "../explorers/lines.ts";
import type { Measured, Results } from "../results.ts";
import { CASES } from "../servers/answers.ts";
import type { Chart } from "./chart.ts";
import { explorerChart, explorerTable } from "./explorer.ts";
import { percent } from "./format.ts";
import { clientsTable, growthChart, sizesTable } from "./growth.ts";
import { table } from "./markdown.ts";
import { absoluteTable, ratioTable, requestsChart } from "./requests.ts";
import { startChart, startTable } from "./start.ts";
import { chance, targetsTable } from "./targets.ts";

/** The text, and its charts by the names of their files. */
export interface Document {
  text: string;
  charts: ReadonlyMap<string, Chart>;
}

/** More processes than this were waiting for a processor before: the machine was not quiet. */
const QUIET = 0.5;

/** More of the processors' time than this went to others: the figures are not this machine's alone. */
const UNDISTURBED = 0.02;

/**
 * Writes the report.
 *
 * @param results the parts that were measured; others are said to be missing
 * @param folder where the charts lie, as the text refers to them
 */
export function writeDocument(results: Results, folder: string): Document {
  const charts = new Map<string, Chart>();
  const show = (name: string, chart: Chart) => {
    charts.set(`${name}.svg`, chart);
    return `![${chart.title}](${folder}/${name}.svg)`;
  };
  const blocks = [
    INTRODUCTION,
    ...warnings(results),
    "## Targets",
    targetsTable(results),
    "Each line shows the figure that is farthest from its target, over both requests and all " +
    "numbers of connections. The bare server is one of the same runtime that writes the same bytes.",
    ...chance(results),
    ...requestsBlocks(results, show),
    ...startBlocks(results, show),
    ...explorerBlocks(results, show),
    ...growthBlocks(results, show),
    ...machineBlocks(results),
  ];
  return { text: `${blocks.join("\n\n")}\n`, charts };
}

type Show = (name: string, chart: Chart) => string;

const INTRODUCTION = `# Benchmarks

Written by \`npm run bench\`, which measures everything below on the machine it runs on: what is
compared in turn, A B C D, D C B A and so on, each ratio taken within its round, and of those the
median. Requests are measured in several fields of servers that were started anew. Ratios travel from
machine to machine; times, rates and sizes of memory are this machine's.
\`npm run bench -- --help\` says how to measure a part alone.`;

function warnings(results: Results): string[] {
  const parts = Object.entries(results);
  const named = (test: (part: Measured<unknown>) => boolean) =>
    parts.filter(([, part]) => test(part)).map(([name]) => name).join(", ");
  const quick = named(({ quick }) => quick);
  const busy = named(({ machine }) => machine.busy > QUIET);
  const shared = named(({ steal = 0 }) => steal > UNDISTURBED);
  const commits = new Set(parts.map(([, { machine }]) => machine.versions.Nodeface));
  return [
    quick && `**Quick:** few rounds and sizes (${quick}). These figures only show that it works.`,
    busy && `**Not quiet:** the machine had other work before these parts were measured (${busy}).`,
    shared &&
    `**Shared:** the host gave more than ${percent(UNDISTURBED)} of the processors' time ` +
      `to others (steal) while these parts were measured (${shared}).`,
    commits.size > 1 && "**Not of one commit:** the parts were measured at different times.",
  ].filter((line) => !!line).map((line) => `> ${line}`);
}

function requestsBlocks({ requests }: Results, show: Show): string[] {
  if (!requests) return missing("Requests a second");
  const { result } = requests;
  const cases = CASES.filter(({ id }) => Object.values(result.offers).some((offer) => offer[id]));
  return [
    "## Requests a second",
    "Each Nodeface beside a bare server that repeats what it sends: status, headers and content " +
    "are the same bytes but for the date, which the run checks before it measures. It has the " +
    "limits for clients that its runtime sets by itself, and Nodeface its own. Columns are " +
    `ratios to the bare server at ${result.connections.join(", ")} connections: of the rate more ` +
    "is better, of the 99th percentile of the time and of the processor time of a request less " +
    "is; the last varies least where the machine has other work. One bare server is measured again as " +
    "if it were another: what its ratios are away from 1 is chance. Another, for information, " +
    "writes its content as text, which Node sends a little faster than ready bytes, and one on Bun " +
    "first reads of each request the method, the address and the four header fields that Nodeface " +
    "reads, each of which Bun makes only when it is asked for. Each server has answered each " +
    "request for some seconds before, in which an engine compiles what it runs.",
    "Hono, Fastify and Express show the same info and the same description with the plugins that " +
    "are usual for them, each as its documentation has it. They send fewer headers, compress " +
    "nothing and, but for Express, know no validators; their page is a short one that loads everything else by script, " +
    "with Hono from another host, where Nodeface's holds every operation as text.",
    ...cases.filter(({ isTarget }) => isTarget).map((each) =>
      show(`requests-${each.id}`, requestsChart(result, each))
    ),
    ...cases.flatMap((each) => [`### ${each.name}`, ratioTable(result, each)]),
    details("Rates and times on this machine", absoluteTable(result)),
  ];
}

function startBlocks({ start }: Results, show: Show): string[] {
  if (!start) return missing("Start and memory");
  return [
    "## Start and memory",
    `From the start of the process to the first byte of the first answer to \`/v1/info\`, ` +
    `${start.result.servers.bun?.took.length ?? "some"} times in turn, and the resident memory ` +
    "after that answer and after more of them. The executables are held against a bare server " +
    "in an executable of the same kind.",
    show("start", startChart(start.result)),
    startTable(start.result),
  ];
}

function explorerBlocks({ explorer }: Results, show: Show): string[] {
  if (!explorer) return missing("The explorer");
  const lines: Readonly<Record<string, string>> = {
    fast: "On a fast line",
    slow: "On a slow line",
  };
  return [
    "## The explorer",
    `Each explorer with the same description in Chromium ${explorer.result.browser}, with its ` +
    "default settings and an empty cache, and once more with what is in the cache then. The slow " +
    "line has 1.6 Mbit/s and 150 ms, and the processor is slowed down four times. All files are " +
    "served in brotli. An operation is readable when its path is on the screen, and ready to try " +
    "when its form or what opens it is; of Stoplight Elements, which shows operations after a " +
    "click, the list that leads to them counts as both. Redoc cannot try anything. " +
    "*Outside* counts requests to other hosts until then.",
    show("explorer", explorerChart(explorer.result)),
    ...LINES.flatMap(({ name }) => [
      `### ${lines[name]}`,
      explorerTable(explorer.result, name),
    ]),
  ];
}

function growthBlocks({ growth }: Results, show: Show): string[] {
  if (!growth) return missing("Growth");
  const { result } = growth;
  return [
    "## Growth",
    "### Operations",
    "Descriptions from few to many operations of about 1 kB each. The cost of a request is the " +
    "inverse of the rate at 32 connections, of that with the smallest description; beside it the " +
    "same by the processor time of the server. *Kept* is the heap that remains.",
    show("growth", growthChart(result)),
    sizesTable(result),
    "### Clients",
    `Clients that ask for \`/v1/info\` without pause, beside a node that takes ${result.delay} ms ` +
    "for each answer: what the node is asked stays the same.",
    clientsTable(result),
  ];
}

function machineBlocks(results: Results): string[] {
  const parts = Object.entries(results);
  const { machine } = parts.at(-1)![1];
  const { processor, cores, memory, system, versions } = machine;
  const made = parts.map(([name, { at, took, steal, quick, machine: { busy, versions } }]) => [
    name,
    `${at.slice(0, 16).replace("T", " ")} UTC`,
    `${(took / 60).toFixed(1)} min`,
    quick ? "quick" : "full",
    busy.toFixed(1),
    percent(steal),
    versions.Nodeface ?? "",
  ]);
  return [
    "## This machine",
    `${processor}, ${cores} cores, ${memory} GiB, ${system}.`,
    table(["part", "measured", "took", "mode", "load before", "steal", "Nodeface"], made),
    table(
      ["what", "version"],
      Object.entries(versions).filter(([name]) => name !== "Nodeface"),
    ),
  ];
}

const missing = (title: string) => [`## ${title}`, "Not measured yet."];

const details = (title: string, text: string) =>
  `<details>\n<summary>${title}</summary>\n\n${text}\n\n</details>`;
