/** The measured servers, and the commands that start them. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { BUN, DENO, ROOT } from "../_paths.ts";

export interface Server {
  name: string;
  /** Every server except Nodeface sends the responses in the file `answers`. */
  command(port: number, answers: string): readonly string[];
}

export interface Runtime {
  id: string;
  name: string;
  nodeface: Server;
  nodefaceIn(folder: string): Server;
  bare: Server;
  peers: readonly Server[];
  proxyProgram: string;
}

export const PROGRAMS = {
  "Node 20": `${ROOT}tests/node_modules/node20/bin/node`,
  "Node 26": `${ROOT}tests/node_modules/node26/bin/node`,
  "Deno": DENO,
  "Bun": BUN,
} as const;

const NODE_HTTP = `${ROOT}tests/bench/bare/node-http.mjs`;
const FETCH = `${ROOT}tests/bench/bare/fetch.mjs`;
const BARE_EXECUTABLE = `${ROOT}dist/bench-bare`;

/** The bare executable is built with bytecode, like Nodeface's own executable. */
export const BUILD_BARE: readonly string[] = [
  ...[BUN, "build", "--compile", "--bytecode", "--format=esm"],
  ...[FETCH, `--outfile=${BARE_EXECUTABLE}`],
];

const { tasks } = JSON.parse(readFileSync(`${ROOT}deno.json`, "utf8"));
const DENO_START: readonly string[] = [
  ...[DENO, "run", "--node-modules-dir=manual"],
  ...tasks.start.command.split(" ").slice(2, -1),
];
const DENO_RUN = [DENO, "run", "--no-prompt", "--allow-net", "--allow-read"];

const repeating = (name: string, ...command: string[]): Server => ({
  name,
  command: (port, answers) => [...command, answers, `${port}`],
});
const peer = (file: string) => `${ROOT}tests/bench/peers/${file}.mjs`;

/**
 * @param program the command and flags that run `dist/main.js`; if `undefined`, the executable runs
 * instead
 */
function runtime(
  id: string,
  name: string,
  program: readonly string[] | undefined,
  bare: readonly string[],
  peers: Readonly<Record<string, readonly string[]>>,
): Runtime {
  const main = (folder: string) =>
    program ? [...program, `${folder}/dist/main.js`] : [`${folder}/dist/nodeface`];
  const nodefaceIn = (folder: string, suffix = ` of ${folder}`): Server => ({
    name: `Nodeface${suffix}, ${name}`,
    command: (port) => [...main(resolve(folder)), "--port", `${port}`],
  });
  return {
    ...{ id, name, nodefaceIn, nodeface: nodefaceIn(ROOT, "") },
    bare: repeating(`bare, ${name}`, ...bare),
    peers: Object.entries(peers).map(([peer, command]) =>
      repeating(`${peer}, ${name}`, ...command)
    ),
    proxyProgram: name.startsWith("Node") ? program![0]! : PROGRAMS["Node 26"],
  };
}

const OLDEST = PROGRAMS["Node 20"], NEWEST = PROGRAMS["Node 26"];

export const RUNTIMES: readonly Runtime[] = [
  runtime("node20", "Node 20", [OLDEST], [OLDEST, NODE_HTTP], {}),
  runtime("node26", "Node 26", [NEWEST], [NEWEST, NODE_HTTP], {
    "Hono, same bytes": [NEWEST, peer("hono-same")],
    Fastify: [NEWEST, peer("fastify")],
  }),
  runtime("deno", "Deno", DENO_START, [...DENO_RUN, NODE_HTTP], {}),
  runtime("bun", "Bun", [BUN], [BUN, FETCH], { "Hono, same bytes": [BUN, peer("hono-same")] }),
  runtime("executable", "executable", undefined, [BARE_EXECUTABLE], {}),
];

export function chosen(only: readonly string[]): readonly Runtime[] {
  return only.length === 0 ? RUNTIMES : RUNTIMES.filter(({ id }) => only.includes(id));
}
