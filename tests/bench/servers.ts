/** Every server that is measured, as data. */
import { readFileSync } from "node:fs";
import { BUN, DENO, ROOT } from "../_paths.ts";

/** A server. */
export interface Server {
  name: string;
  /** What starts it on a port; all but Nodeface repeat the answers in a file. */
  command(port: number, answers: string): readonly string[];
}

/** A runtime with Nodeface, the bare server it is held against, and peers where there are any. */
export interface Runtime {
  id: string;
  nodeface: Server;
  /** The same, counting what it answers; of one runtime for each engine. */
  counting: readonly Server[];
  bare: Server;
  peers: readonly Server[];
}

/** The runtimes' programs, by the names that tables have. */
export const PROGRAMS = {
  "Node 22": `${ROOT}tests/node_modules/node22/bin/node`,
  "Node 26": `${ROOT}tests/node_modules/node26/bin/node`,
  "Deno": DENO,
  "Bun": BUN,
} as const;

const MAIN = `${ROOT}dist/main.js`;
const NODE_HTTP = `${ROOT}tests/bench/bare/node-http.mjs`;
const BARE_ON_BUN = `${ROOT}tests/bench/bare/bun.mjs`;
const BARE_EXECUTABLE = `${ROOT}dist/bench-bare`;

/** Makes the executable of the bare server in the way that Nodeface's is made. */
export const BUILD_BARE: readonly string[] = [
  ...[BUN, "build", "--compile", "--bytecode", "--format=esm"],
  ...[BARE_ON_BUN, `--outfile=${BARE_EXECUTABLE}`],
];

const { tasks } = JSON.parse(readFileSync(`${ROOT}deno.json`, "utf8"));
/** The permissions of `deno task start`. */
const DENO_START: readonly string[] = [
  ...["run", "--node-modules-dir=manual"],
  ...tasks.start.command.split(" ").slice(2, -1),
];
const DENO_RUN = ["run", "--no-prompt", "--allow-net", "--allow-read"];

const peer = (name: string, file: string): Server => ({
  name: `${name}, Node 26`,
  command: (port, answers) => [
    PROGRAMS["Node 26"],
    ...[`${ROOT}tests/bench/peers/${file}`, answers, `${port}`],
  ],
});
const PEERS = [peer("Hono", "hono.mjs"), peer("Fastify", "fastify.mjs")];

const { "Node 22": node22, "Node 26": node26, Deno: deno, Bun: bun } = PROGRAMS;
type Row = readonly [id: string, name: string, own: string[], bare: string[], peers: Server[]];
const ROWS: readonly Row[] = [
  ["node22", "Node 22", [node22, MAIN], [node22, NODE_HTTP], []],
  ["node26", "Node 26", [node26, MAIN], [node26, NODE_HTTP], PEERS],
  ["deno", "Deno", [deno, ...DENO_START, MAIN], [deno, ...DENO_RUN, NODE_HTTP], []],
  ["bun", "Bun", [bun, MAIN], [bun, BARE_ON_BUN], []],
  ["executable", "executable", [`${ROOT}dist/nodeface`], [BARE_EXECUTABLE], []],
];

/** Those that are also measured with metrics. */
const COUNTING = ["node26", "executable"];

export const RUNTIMES: readonly Runtime[] = ROWS.map(([id, name, own, bare, peers]) => ({
  id,
  nodeface: { name: `Nodeface, ${name}`, command: (port) => [...own, "--port", `${port}`] },
  counting: COUNTING.includes(id)
    ? [{
      name: `with metrics, ${name}`,
      command: (port) => [...own, "--metrics", "--port", `${port}`],
    }]
    : [],
  bare: { name: `bare, ${name}`, command: (port, answers) => [...bare, answers, `${port}`] },
  peers,
}));

/** The runtimes that are named, or all. */
export function chosen(only: readonly string[]): readonly Runtime[] {
  return only.length === 0 ? RUNTIMES : RUNTIMES.filter(({ id }) => only.includes(id));
}
