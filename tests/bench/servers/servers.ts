/** Every server that is measured, as data: Nodeface, what is bare of everything, and the peers. */
import { readFileSync } from "node:fs";
import { ROOT } from "../../_paths.ts";
import { NEWEST, NODES, ON_BUN, ON_DENO, type Runtime } from "./runtimes.ts";

/** A server. */
export interface Server {
  id: string;
  /** As tables have it. */
  name: string;
  /**
   * `bare` writes what the one it is beside was seen to send, and nothing else; `other` does so as
   * well, for information; a `peer` shows the same description.
   */
  role: "nodeface" | "bare" | "other" | "peer";
  /** The bare server that it is held against; of a bare one the Nodeface that is held against it. */
  beside: string;
  /** The Nodeface whose answers it repeats, or whose content it shows. */
  source?: string;
  /** Where its page is, if not where Nodeface has it. */
  page?: string;
  /** What starts it; a bare server has a port for each answer in the file that its source wrote. */
  command(ports: readonly number[], file: string): readonly string[];
}

const HERE = `${ROOT}tests/bench/servers/`;
const PEERS = `${ROOT}tests/bench/peers/`;
const BARE_HTTP = `${HERE}bare-http.mjs`;

/** The bare server as an executable, made by the run. */
export const BARE_EXECUTABLE: string = `${ROOT}dist/bench/bare`;
export const BARE_BUN: string = `${HERE}bare-bun.mjs`;

const { tasks } = JSON.parse(readFileSync(`${ROOT}deno.json`, "utf8"));
/** What `deno task start` runs, on the built package. */
const DENO_START: string[] = tasks.start.command.split(" ").slice(1, -1);
const DENO_RUN = [ON_DENO.program, "run", "--no-prompt", "--allow-net", "--allow-read"];

type Command = readonly string[];

const nodeface = (id: string, name: string, beside: string, command: Command): Server => ({
  id,
  name: `Nodeface, ${name}`,
  role: "nodeface",
  beside,
  command: ([port]) => [...command, "--port", String(port)],
});

const bare = (id: string, name: string, source: string, command: Command): Server => ({
  id,
  name,
  role: "bare",
  beside: source,
  source,
  command: (ports, file) => [...command, file, ...ports.map(String)],
});

const other = (id: string, name: string, source: string, command: Command): Server => ({
  ...bare(id, name, source, command),
  role: "other",
  beside: `bare-${source}`,
});

const peer = (id: string, name: string, page = "/v1/spec"): Server => ({
  id,
  name: `${name}, ${NEWEST.name}`,
  role: "peer",
  beside: `bare-${NEWEST.id}`,
  source: NEWEST.id,
  page,
  command: ([port], file) => [NEWEST.program, `${PEERS}${id}.mjs`, file, String(port)],
});

const onNode = ({ id, name, program }: Runtime): readonly Server[] => [
  nodeface(id, name, `bare-${id}`, [program, "dist/main.js"]),
  bare(`bare-${id}`, `node:http, ${name}`, id, [program, BARE_HTTP]),
];

/** In the order in which they are measured: each beside what it is held against. */
export const SERVERS: readonly Server[] = [
  ...NODES.flatMap(onNode),
  other("again", `node:http, ${NEWEST.name}, again`, NEWEST.id, [NEWEST.program, BARE_HTTP]),
  other("text", `node:http, ${NEWEST.name}, text`, NEWEST.id, [
    NEWEST.program,
    `${HERE}bare-text.mjs`,
  ]),
  peer("hono", "Hono"),
  peer("fastify", "Fastify", "/v1/spec/"),
  peer("express", "Express", "/v1/spec/"),
  nodeface("deno", "Deno", "bare-deno", [ON_DENO.program, ...DENO_START, "dist/main.js"]),
  bare("bare-deno", "node:http, Deno", "deno", [...DENO_RUN, BARE_HTTP]),
  other("deno-serve", "Deno.serve", "deno", [...DENO_RUN, `${HERE}bare-deno.mjs`]),
  nodeface("bun", "Bun", "bare-bun", [ON_BUN.program, "dist/main.js"]),
  bare("bare-bun", "Bun.serve", "bun", [ON_BUN.program, BARE_BUN]),
  other("bun-reads", "Bun.serve, reading", "bun", [ON_BUN.program, BARE_BUN, "--reading"]),
  nodeface("exe", "executable", "bare-exe", [`${ROOT}dist/nodeface`]),
  bare("bare-exe", "Bun.serve, executable", "exe", [BARE_EXECUTABLE]),
];

/** Finds a server by its id. */
export function serverOf(id: string): Server {
  const found = SERVERS.find((server) => server.id === id);
  if (!found) throw new Error(`"${id}" is no server`);
  return found;
}
