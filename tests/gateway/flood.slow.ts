/**
 * One client floods a real anvil or litecoind with 200 connections; another client and somebody
 * without a token, who each ask five times a second, wait at most twice as long as without the
 * flood, and are refused nothing. `npm run build:exe` builds the executable. `RUNTIMES='Node|Deno'`
 * and `FLOODS='light'` select by name.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { COMMANDS, start } from "../_server.ts";
import type { AskedNode } from "../nodes/_interface.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { sleep } from "./_honest-client.ts";
import { EXECUTABLE } from "./_beside.ts";

const floods = suite("a flood of one client");

const CONNECTIONS = 200;
const INTERVAL_MS = 200;
const ALONE_MS = 6000;
const FLOOD_MS = 12_000;
/** The service, the node and the flood share the processor of one machine. */
const NOISE_MS = 5;

const TOKENS = { flooder: "f".repeat(64), quiet: "a".repeat(64) };

interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Target {
  readonly kind: string;
  readonly quiet: Call;
  readonly floods: Readonly<Record<string, readonly (Call | readonly Call[])[]>>;
}

const TARGETS: readonly Target[] = [
  {
    kind: "ethereum",
    quiet: { method: "eth_blockNumber", params: [] },
    floods: {
      light: [{ method: "eth_chainId", params: [] }],
      heavy: [{ method: "eth_getLogs", params: [{ fromBlock: "0x0" }] }],
      batches: [Array(100).fill({ method: "eth_gasPrice", params: [] })],
    },
  },
  {
    kind: "bitcoin",
    quiet: { method: "getblockcount", params: [] },
    floods: {
      light: [{ method: "getbestblockhash", params: [] }],
      heavy: [{ method: "getchaintips", params: [] }],
      batches: [Array(100).fill({ method: "getblockhash", params: [1] })],
    },
  },
];

const SERVICES: ReadonlyMap<string, readonly string[]> = new Map([
  ...Object.entries(COMMANDS),
  ["the executable", [EXECUTABLE]],
]);

const bodyOf = (calls: Call | readonly Call[]): string => {
  const one = (call: Call, id: number) => ({ jsonrpc: "2.0", id, ...call });
  return JSON.stringify("method" in calls ? one(calls, 1) : calls.map(one));
};

/** Resolves to the waits in milliseconds of calls that are made at regular times. */
async function waitsOf(url: string, call: Call, time: number, token?: string): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const headers = {
    "content-type": "application/json",
    ...token !== undefined && { authorization: `Bearer ${token}` },
  };
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      const begun = performance.now();
      const message = request(url, { method: "POST", agent, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => text += part);
        response.on("end", () => {
          if (response.statusCode === 200 && text.includes('"result"')) {
            resolve(performance.now() - begun);
          } else reject(new Error(`refused with ${response.statusCode}: ${text}`));
        });
      });
      message.on("error", reject).end(bodyOf(call));
    });
  const asked: Promise<number>[] = [];
  const end = performance.now() + time;
  while (performance.now() < end) {
    asked.push(ask());
    await sleep(INTERVAL_MS, undefined);
  }
  const waits = await Promise.all(asked);
  agent.destroy();
  return waits.sort((a, b) => a - b);
}

const part = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor(sorted.length * share)]!;

function startFlood(url: string, bodies: readonly string[]) {
  const file = `${ROOT}tests/gateway/_flood.mjs`;
  const args = [file, url, TOKENS.flooder, String(CONNECTIONS), JSON.stringify(bodies)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => printed += text);
  const ended = new Promise((resolve) => child.on("close", resolve));
  return {
    async end(): Promise<Record<string, number>> {
      child.stdin.end();
      await ended;
      return JSON.parse(printed);
    },
  };
}

async function beside(
  { url, auth }: Pick<AskedNode, "url" | "auth">,
  kind: string,
  command: readonly string[],
) {
  const folder = await mkdtemp(join(tmpdir(), "nodeface-flood-"));
  const clients = await Promise.all(
    Object.entries(TOKENS).map(async ([name, token]) => {
      await writeFile(join(folder, name), token, { mode: 0o600 });
      return { name, token_file: name, allow: ["reads"] };
    }),
  );
  const file = join(folder, "nodeface.json");
  const forward = { open: ["reads"], clients };
  await writeFile(file, JSON.stringify({ node: { url, kind, ...auth && { auth } }, forward }));
  const service = await start([...command, "--config", file]);
  return {
    url: `${service.url}v1/rpc`,
    async stop() {
      await service.stop();
      await rm(folder, { recursive: true });
    },
  };
}

const { RUNTIMES = "", FLOODS = "" } = process.env;

for (const [runtime, command] of SERVICES) {
  if (!new RegExp(RUNTIMES).test(runtime)) continue;
  for (const { kind, quiet, floods: shapes } of TARGETS) {
    const { path, start: startNode } = PROGRAMS[kind]!;
    testWhere(
      floods,
      without(path, ...command[0] === EXECUTABLE ? [EXECUTABLE] : []),
      `on ${runtime}, others wait at most twice as long during floods of a real ${kind} node`,
      async () => {
        const node = await startNode();
        const service = await beside(node, kind, command);
        const askFor = (time: number) =>
          Promise.all([
            waitsOf(service.url, quiet, time, TOKENS.quiet),
            waitsOf(service.url, quiet, time),
          ]);
        const failures: string[] = [];
        try {
          await askFor(2000);
          for (const [shape, bodies] of Object.entries(shapes)) {
            if (!new RegExp(FLOODS).test(`${kind} ${shape}`)) continue;
            const alone = await askFor(ALONE_MS);
            const flood = startFlood(service.url, bodies.map(bodyOf));
            await sleep(3000, undefined);
            const flooded = await askFor(FLOOD_MS);
            const counts = await flood.end();
            for (const [at, who] of ["the quiet client", "anonymous"].entries()) {
              const figures = [0.5, 0.95].map((share) =>
                [part(alone[at]!, share), part(flooded[at]!, share)] as const
              );
              const text = `${runtime}, ${kind}, ${shape}: ${who} ${
                figures.map(([a, b]) => `${a.toFixed(1)} to ${b.toFixed(1)}`).join(", ")
              } ms (median, 95 %), flood ${JSON.stringify(counts)}`;
              console.log(text);
              if (figures.some(([a, b]) => b > 2 * a + NOISE_MS)) failures.push(text);
            }
          }
        } finally {
          await service.stop();
          await node.stop?.();
        }
        assert.equal(failures, []);
      },
    );
  }
}

floods.run();
