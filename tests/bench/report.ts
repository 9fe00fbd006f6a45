/** Writes BENCHMARKS.md: the method, the results of each benchmark, and a description of the machine. */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import process from "node:process";
import { DENO, ROOT } from "../_paths.ts";
import type { Section } from "./output.ts";
import { run } from "./processes.ts";
import { PROGRAMS } from "./servers.ts";

/** The load average of the last minute before the run. */
const [LOAD = 0] = loadavg();

const FILE = `${ROOT}BENCHMARKS.md`;

const METHOD =
  `Written by \`npm run bench\`. Ratios travel from machine to machine; times, rates and
sizes are those of the one named at the end.

Each Nodeface stands beside a **bare server**: the plainest and fastest of the same runtime that sends
the same bytes (status line, all header fields and content, which the run compares) and reads of each
request what any server has to that answers by path and conditions: the method, the URL, and the
fields \`Host\`, \`Accept-Encoding\` and \`If-None-Match\`. It finds its answer ready in a map of paths.
On Node it is \`node:http\`, which is given the content as text and so writes it in one piece with the
head; on Bun it is \`Bun.serve\` with a \`fetch\` handler, and beside the executable the same compiled.
On Deno it is \`node:http\` as well, because \`Deno.serve\` cannot cut slow clients, so that Nodeface
cannot use it. Nodeface also reads \`If-Match\` and \`Origin\`, weighs codings, limits how long a client
may take, and finds out whether its content is still current.

\`wrk\` makes the load from one thread and 32 connections. The servers of a runtime are measured in turn for
three seconds each, five times, first to last and then last to first, after they are warmed up. What counts is
the **processor time of a request**: that of the process, in all its threads, user and system, divided by the
requests. It is steady where the rate depends on what else the machine does. A ratio is the median of the
ratios of the rounds.`;

/** The measured packages, by the folder in which they are installed. */
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

/**
 * Writes the report, formatted by `deno fmt`.
 *
 * @param since the time at which the run began
 */
export async function writeReport(sections: readonly Section[], since: Date): Promise<void> {
  const parts = sections.map(({ title, text, table }) => `## ${title}\n\n${text}\n\n${table}`);
  writeFileSync(FILE, ["# Benchmarks", METHOD, ...parts, await machine(since), ""].join("\n\n"));
  await run([DENO, "fmt", "--quiet", FILE]);
  console.log(`\nwrote ${FILE}`);
}

async function machine(since: Date): Promise<string> {
  const versions = await Promise.all(
    Object.entries(PROGRAMS).map(async ([name, program]) => {
      const [version = ""] = /\d+\.\d+\.\d+/.exec(await run([program, "--version"])) ?? [];
      return `${name.split(" ")[0]} ${version}`;
    }),
  );
  const packages = Object.entries(PACKAGES).flatMap(([folder, names]) =>
    names.map((name) => `${name} ${readPackage(`${folder}/${name}/`).version}`)
  );
  const minutes = Math.ceil((Date.now() - since.getTime()) / 60_000);
  const memory = Math.round(totalmem() / 2 ** 30);
  const commit = (await run(["git", "rev-parse", "--short", "HEAD"])).trim();
  return `## This machine

${cpus()[0]?.model ?? process.arch}, ${availableParallelism()} cores, ${memory} GiB, ${type()} ${
    release().split(".").slice(0, 2).join(".")
  }, ${process.arch}; ${since.toISOString().slice(0, 10)}, in ${minutes} minutes, with a load of ${
    LOAD.toFixed(1)
  } before.

Nodeface ${readPackage("").version} (commit ${commit}), ${[...versions, ...packages].join(", ")}.`;
}

function readPackage(folder: string): { version: string } {
  return JSON.parse(readFileSync(`${ROOT}${folder}package.json`, "utf8"));
}
