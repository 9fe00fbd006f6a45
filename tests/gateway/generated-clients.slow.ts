/**
 * Clients that generators make from `/spec.json`: they compile, and call the operations of the node
 * and of the service with one base address. anvil and litecoind are real (`apt-get install
 * litecoind`), Aptos is simulated. `node tests/gateway/setup.mjs` and `node tests/tools/setup.mjs`
 * install the generators.
 */
import { build } from "esbuild";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { resultOf } from "../nodes/_calls.ts";
import { runProgram } from "../tools/_program.ts";
import { TSC } from "../tools/_tools.ts";
import { besideNode, type StoppableNode } from "./_beside.ts";
import { type Called, type Generator, GENERATORS } from "./_generated-clients.ts";
import { playRest } from "./_played-rest.ts";

const generated = suite("generated clients with one base address");

const NODE_24 = `${ROOT}tests/node_modules/node24/bin/node`;
const PACKAGES = `${ROOT}tests/gateway/node_modules`;
const NEEDED = [NODE_24, `${PACKAGES}/openapi-fetch`, `${ROOT}tests/tools/node_modules/orval`];
const TIMEOUT = 120_000;

interface StartedNode extends StoppableNode {
  readonly operations: readonly Called[];
  /** The results of the operations. */
  readonly results: readonly unknown[];
}

const NODES: Readonly<Record<string, () => Promise<StartedNode>>> = {
  async ethereum() {
    const node = await PROGRAMS.ethereum!.start();
    const address = String(node.known.address);
    return {
      ...node,
      operations: [
        { operationId: "eth_chainId", path: "/v1/rpc/eth_chainId" },
        {
          operationId: "eth_getBalance_post",
          path: "/v1/rpc/eth_getBalance",
          body: { address, block: "latest" },
        },
      ],
      results: [
        await resultOf(node.call!, "eth_chainId", []),
        await resultOf(node.call!, "eth_getBalance", [address, "latest"]),
      ],
    };
  },
  async bitcoin() {
    const node = await PROGRAMS.bitcoin!.start();
    return {
      ...node,
      operations: [
        { operationId: "getblockcount", path: "/v1/rpc/getblockcount" },
        {
          operationId: "getblockhash_post",
          path: "/v1/rpc/getblockhash",
          body: { height: 1 },
        },
      ],
      results: [
        await resultOf(node.call!, "getblockcount", []),
        await resultOf(node.call!, "getblockhash", [1]),
      ],
    };
  },
  async aptos() {
    const node = await playRest("aptos");
    const values = { address: "0x1" };
    const body = { function: "0x1::chain_id::get", type_arguments: [], arguments: [] };
    return {
      ...node,
      operations: [
        { operationId: "get_account", path: "/v1/accounts/{address}", values },
        { operationId: "view", path: "/v1/view", body },
      ],
      results: [{ sequence_number: "5", authentication_key: "0x01" }, [4]],
    };
  },
};

for (const [kind, start] of Object.entries(NODES)) {
  const programs = kind === "aptos" ? [] : [PROGRAMS[kind]!.path];
  for (const generator of GENERATORS) {
    testWhere(
      generated,
      without(...NEEDED, ...programs),
      `${generator.name} makes a client of ${kind} that calls the node and the service`,
      () =>
        besideNode(start(), kind, async ({ url }, node) => {
          const folder = await mkdtemp(join(tmpdir(), "nodeface-generated-"));
          try {
            const [info, ...results] = await callBy(generator, folder, url, node.operations);
            assert.equal(results, node.results);
            const { updated_at: _, ...known } = await (await fetch(`${url}/v1/info`)).json();
            assert.is((info as typeof known).status, known.status);
            assert.equal((info as typeof known).api, known.api);
          } finally {
            await rm(folder, { recursive: true });
          }
        }),
    );
  }
}

/** Generates and compiles a client and its program, and returns what the program shows. */
async function callBy(
  { command, files = {}, env = {}, program }: Generator,
  folder: string,
  base: string,
  operations: readonly Called[],
): Promise<unknown[]> {
  const spec = await (await fetch(`${base}/spec.json`)).text();
  const main = [
    "declare const BASE: string;",
    program(operations),
    "function show(...results: unknown[]) {",
    "  console.log(JSON.stringify(results));",
    "}",
  ].join("\n");
  for (const [name, text] of Object.entries({ ...files, "spec.json": spec, "main.ts": main })) {
    await writeFile(join(folder, name), text);
  }
  await symlink(PACKAGES, join(folder, "node_modules"));
  await work([NODE_24, ...command], folder, { ...env, BASE: base });
  await work([process.execPath, ...TSC, "main.ts"], folder);
  const outfile = join(folder, "main.mjs");
  await build({
    ...{ entryPoints: [join(folder, "main.ts")], outfile, bundle: true, format: "esm" },
    define: { BASE: JSON.stringify(base) },
  });
  const shown = await work([process.execPath, outfile], folder);
  return JSON.parse(shown);
}

async function work(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, output } = await runProgram(command, { cwd, timeout: TIMEOUT, env });
  assert.is(code, 0, output.slice(-3000));
  return output;
}

generated.run();
