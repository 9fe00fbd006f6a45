/** Runs the `nodeface` command in front of a real node. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import * as assert from "uvu/assert";
import { formatJson } from "../../src/json/lossless.ts";
import { type JsonObject, objectOf } from "../../src/json/values.ts";
import { ROOT } from "../_paths.ts";
import { COMMANDS, run, type Running, start } from "../_server.ts";
import { requestsTo } from "../nodes/_calls.ts";
import { until } from "../nodes/_daemon.ts";
import type { AskedNode } from "../nodes/_interface.ts";

export const TOKEN = "Kq3vJ0mZ8xR5tY2wB7nC4dF6gH9sL1pA";

/** The `token_file` of the client, relative to the configuration file. */
export const TOKEN_FILE = "token";

export const WITH_TOKEN = { authorization: `Bearer ${TOKEN}` };

export const EXECUTABLE = `${ROOT}dist/nodeface`;

/** The commands that the suites about clients compare, and the files that each needs. */
export const SERVICES: readonly {
  readonly name: string;
  readonly command: readonly string[];
  readonly files: readonly string[];
}[] = [
  { name: "Node", command: COMMANDS.Node, files: [] },
  { name: "the executable", command: [EXECUTABLE], files: [EXECUTABLE] },
];

/** The folder of a package that `tests/gateway/setup.mjs` installs. */
export const installed = (name: string): string => `${ROOT}tests/gateway/node_modules/${name}`;

export interface Beside {
  /** The URL of the service, without a trailing slash. */
  readonly url: string;
  /** The paths in the service's description. */
  readonly paths: Readonly<Record<string, JsonObject>>;
  readonly ask: AskedNode["send"];
  /** Counts the calls that the service has sent to the node, according to its log. */
  forwarded(): number;
  readonly service: Running;
}

/** The paths of the service itself, and those of some nodes, which mark their operations. */
const OWN_PATH = /^\/(?:v1(?:\/(?!rpc\/.).*)?|spec\..*|\.well-known\/.*)?$/;

/**
 * Waits until the service describes the node's operations.
 *
 * @param forward the value of `--forward`, or the `forward` object of the configuration
 */
export async function startBeside(
  { url, auth }: Pick<AskedNode, "url" | "auth">,
  kind: string,
  forward: string | JsonObject = "reads",
  command: readonly string[] = COMMANDS.Node,
): Promise<Beside> {
  const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
  const file = join(folder, "nodeface.yaml");
  await writeFile(join(folder, TOKEN_FILE), TOKEN);
  // These suites compare every read with the node, also those that the node lacks.
  const node = { url, kind, ask_methods: false, ...auth && { auth } };
  const isFlag = typeof forward === "string";
  await writeFile(file, formatJson({ node, log_calls: "all", ...!isFlag && { forward } }));
  const flags = isFlag ? ["--forward", forward] : [];
  const service = await start([...command, "--config", file, ...flags]);
  try {
    let paths: Record<string, JsonObject> = {};
    await until(async () => {
      const description = await (await fetch(new URL("spec.json", service.url))).json();
      paths = objectOf(description.paths) as Record<string, JsonObject>;
      return Object.entries(paths).some(([path, item]) =>
        !OWN_PATH.test(path) || Object.values(item).some((part) => "x-call" in objectOf(part))
      );
    }, 60_000);
    const url = service.url.replace(/\/$/, "");
    const ask = requestsTo(url);
    const forwarded = () => service.stderr().match(/ \d+ ms \d+ bytes$/gm)?.length ?? 0;
    return { url, paths, service, ask, forwarded };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

export interface StoppableNode extends Pick<AskedNode, "url" | "auth"> {
  /** Real nodes have `stop`, and simulated nodes have `close`. */
  stop?(): Promise<void>;
  close?(): Promise<void>;
}

/** Starts the service beside a node, and stops both after `use`. */
export async function besideNode<N extends StoppableNode>(
  starting: Promise<N>,
  kind: string,
  use: (beside: Beside, node: N) => Promise<void>,
  forward?: string | JsonObject,
  command?: readonly string[],
): Promise<void> {
  const node = await starting;
  try {
    const beside = await startBeside(node, kind, forward, command);
    try {
      await use(beside, node);
    } finally {
      await beside.service.stop();
    }
  } finally {
    await (node.stop?.() ?? node.close?.());
  }
}

/** What each call of a client resulted in, or the text of its error as `{ error }`. */
export type Outcomes = Readonly<Record<string, unknown>>;

/**
 * Runs a program in this folder that makes the calls of a client, and prints their outcomes as its
 * last line.
 */
export async function outcomesOf(
  program: string,
  client: string,
  url: string,
  login = "",
  known: AskedNode["known"] = {},
): Promise<Outcomes> {
  const file = `${ROOT}tests/gateway/${program}`;
  const words = [client, url.replace(/\/$/, ""), login, JSON.stringify(known)];
  const { stdout, stderr, code } = await run([process.execPath, file, ...words]);
  assert.is(code, 0, stderr);
  // Some clients print notes.
  return JSON.parse(stdout.slice(stdout.trimEnd().lastIndexOf("\n") + 1));
}
