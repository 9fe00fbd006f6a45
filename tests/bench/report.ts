/** Writes BENCHMARKS.md: the method, the parts that were measured, and the machine. */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, release, totalmem, type } from "node:os";
import process from "node:process";
import { DENO, ROOT } from "../_paths.ts";
import type { Section } from "./output.ts";
import { run } from "./processes.ts";
import { PROGRAMS } from "./servers.ts";
import { CONNECTIONS, WARM_UP } from "./wrk.ts";

/** The titles of the parts, in the order of the page. */
const TITLES = ["A request", "Calls of the node", "A large description", "The explorer"];

const FILE = `${ROOT}BENCHMARKS.md`;

const METHOD =
  `\`npm run bench\` writes this page, and \`npm run bench PART\` one part of it. Only ratios (×) can be compared between
machines.

\`wrk\` generates the load of the first two parts, with one thread and ${CONNECTIONS} connections. On each runtime, each server is
warmed up for ${WARM_UP} seconds. Then the servers are measured in turn, in five rounds of a second each; every other round is
in reverse order. The main result is the **processor time per request** in microseconds: the user and system time of
all threads of the server's process, divided by the number of requests. Lower is better.

Each cell shows the median, and in brackets the lowest and the highest value. A ratio is the quotient of two medians
in the same table, with the lowest and the highest quotient of one round. If 1 is in the brackets, this page does not
say which of the two servers takes less.`;

const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "node_modules": ["@scalar/api-reference"],
  "tests/bench/peers/node_modules": [
    "@fastify/http-proxy",
    "@hono/node-server",
    "fastify",
    "hono",
    "swagger-ui-dist",
  ],
};

/** A part of the page. */
interface Part {
  readonly section: Section;
  readonly since: Date;
  /** The load average before the part was measured. */
  readonly load: number;
}

/** Replaces one part of the page, and leaves the others as they are. */
export async function writeReport(part: Part): Promise<void> {
  const [, ...before] = readFileSync(FILE, "utf8").split(/^(?=## )/m);
  const written = await write(part);
  const all = TITLES.flatMap((title) =>
    [written, ...before].find((text) => text.startsWith(`## ${title}\n`))?.trim() ?? []
  );
  writeFileSync(FILE, ["# Benchmarks", METHOD, ...all, await machine(), ""].join("\n\n"));
  await run([DENO, "fmt", "--quiet", FILE]);
  console.log(`\nwrote ${FILE}`);
}

async function write({ section: { title, text, table }, since, load }: Part): Promise<string> {
  const minutes = ((Date.now() - since.getTime()) / 60_000).toFixed(1);
  const commit = (await run(["git", "rev-parse", "--short", "HEAD"])).trim();
  const measured = `Measured on ${
    since.toISOString().slice(0, 10)
  } at commit ${commit}, in ${minutes} minutes, after a
load average of ${load.toFixed(1)}.`;
  return `## ${title}\n\n${text}\n\n${table}\n\n${measured}`;
}

async function machine(): Promise<string> {
  const versions = await Promise.all(
    Object.entries(PROGRAMS).map(async ([name, program]) => {
      const [version = ""] = /\d+\.\d+\.\d+/.exec(await run([program, "--version"])) ?? [];
      return `${name.split(" ")[0]} ${version}`;
    }),
  );
  const packages = Object.entries(PACKAGES).flatMap(([folder, names]) =>
    names.map((name) => `${name} ${readPackage(`${folder}/${name}/`).version}`)
  );
  const memory = Math.round(totalmem() / 2 ** 30);
  const system = `${type()} ${release().split(".").slice(0, 2).join(".")}`;
  return `## This machine

${
    cpus()[0]?.model ?? process.arch
  }, ${availableParallelism()} cores, ${memory} GiB, ${system}, ${process.arch}.

Nodeface ${readPackage("").version}, ${[...versions, ...packages].join(", ")}.`;
}

function readPackage(folder: string): { version: string } {
  return JSON.parse(readFileSync(`${ROOT}${folder}package.json`, "utf8"));
}
