/**
 * Writes BENCHMARKS.md: the method, the results of each benchmark, and a description of the
 * machine.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import process from "node:process";
import { DENO, ROOT } from "../_paths.ts";
import type { Section } from "./output.ts";
import { run } from "./processes.ts";
import { PROGRAMS } from "./servers.ts";

/** The load average is read before the run, because the run itself raises the load average. */
const [LOAD = 0] = loadavg();

const FILE = `${ROOT}BENCHMARKS.md`;

const METHOD =
  `\`npm run bench\` writes this page. Only ratios (×) can be compared between machines.

On each runtime, Nodeface is compared with a **bare server**: the simplest and fastest server that sends the same bytes.
The run verifies that both servers send the same status line, header fields and content. From each request, the bare
server reads only what it needs to select a response: the method, the URL, and the fields \`Host\`, \`Accept-Encoding\`
and \`If-None-Match\`. The bare server keeps a prepared response for each path. On Node, the bare server uses
\`node:http\`, and passes the content as text, because Node sends text and headers in one write. On Bun, the bare server
uses \`Bun.serve\`. The Nodeface executable is compared with the bare Bun server, compiled to an executable. On Deno,
Nodeface and the bare server use \`node:http\`, because \`Deno.serve\` cannot disconnect slow clients. Unlike the bare
server, Nodeface reads \`Origin\`, compares the quality values in \`Accept-Encoding\`, disconnects slow
clients, and checks that the prepared response is current.

\`wrk\` generates the load, with one thread and 32 connections. On each runtime, the servers are warmed up, and then
measured in turn for three seconds each, in five rounds. Alternate rounds measure the servers in reverse order. The
main result is the **processor time per request**: the user and system time of all threads of the server's process,
divided by the number of requests. Processor time is stable, whereas the request rate depends on other load on the
machine. Each round yields a time and a ratio; the tables show the medians.`;

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
  }, ${process.arch}; ${
    since.toISOString().slice(0, 10)
  }. The run took ${minutes} minutes. The load average
before the run was ${LOAD.toFixed(1)}.

Nodeface ${readPackage("").version} (commit ${commit}), ${[...versions, ...packages].join(", ")}.`;
}

function readPackage(folder: string): { version: string } {
  return JSON.parse(readFileSync(`${ROOT}${folder}package.json`, "utf8"));
}
