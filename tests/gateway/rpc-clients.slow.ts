/**
 * Third-party JSON-RPC clients at the drop-in address, compared with the same clients at the node.
 * anvil, litecoind and hsd are real; Solana, NEAR, CometBFT and Substrate are simulated. `node
 * tests/gateway/setup.mjs` installs the clients, and `npm run build:exe` builds the executable.
 */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { objectOf } from "../../src/json/values.ts";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { COMMANDS, run } from "../_server.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { startBeside } from "./_beside.ts";
import { playRpc } from "./_played-rpc.ts";

const clients = suite("JSON-RPC clients that are unaware of Nodeface");

const EXECUTABLE = `${ROOT}dist/nodeface`;
const SERVICES = { Node: COMMANDS.Node, "the executable": [EXECUTABLE] };

const PLAYED: readonly (readonly [client: string, kind: string])[] = [
  ["@solana/kit", "solana"],
  ["@solana/web3.js", "solana"],
  ["near-api-js", "near"],
  ["@cosmjs/tendermint-rpc", "cosmos"],
  ["@polkadot/rpc-provider", "substrate"],
];

const REAL: readonly (readonly [client: string, kind: string])[] = [
  ["ethers", "ethereum"],
  ["ethers5", "ethereum"],
  ["viem", "ethereum"],
  ["viem with batches", "ethereum"],
  ["@wagmi/core", "ethereum"],
  ["ox", "ethereum"],
  ["web3", "ethereum"],
  ["@foundry-rs/cast", "ethereum"],
  ["bitcoin-core", "bitcoin"],
  ["rpc-bitcoin", "bitcoin"],
  ["bitcoind-rpc", "bitcoin"],
  ["litecoin-cli", "bitcoin"],
  ["hs-client", "handshake"],
];

const placeOf = (client: string) =>
  client === "litecoin-cli"
    ? "/usr/bin/litecoin-cli"
    : `${ROOT}tests/gateway/node_modules/${client.split(" ")[0]}`;

for (const [runtime, command] of Object.entries(SERVICES)) {
  const missing = runtime === "Node" ? [] : [EXECUTABLE];
  for (const [client, kind] of PLAYED) {
    testWhere(
      clients,
      without(placeOf(client), ...missing),
      `${client} gets the same from a simulated node and from ${runtime} beside it`,
      async () => {
        const node = await playRpc(kind);
        const beside = await startBeside(node, kind, "reads", command);
        try {
          compare(await outcomesOf(client, node.url), await outcomesOf(client, beside.url));
        } finally {
          await beside.service.stop();
          await node.close();
        }
      },
    );
  }
  for (const [client, kind] of REAL) {
    testWhere(
      clients,
      without(PROGRAMS[kind]!.path, placeOf(client), ...missing),
      `${client} gets the same from ${kind} and from ${runtime} beside it`,
      async () => {
        const node = await PROGRAMS[kind]!.start();
        const { known, auth, url } = node;
        const login = auth?.basic_file ? await readFile(auth.basic_file, "utf8") : "any:password";
        const beside = await startBeside(node, kind, "reads", command);
        try {
          // At the node itself, the calls that the service refuses change something.
          const through = await outcomesOf(client, beside.url, "any:password", known);
          compare(await outcomesOf(client, url, login, known), through);
        } finally {
          await beside.service.stop();
          await node.stop();
        }
      },
    );
  }
}

async function outcomesOf(
  client: string,
  url: string,
  login = "",
  known: object = {},
): Promise<Record<string, unknown>> {
  const program = `${ROOT}tests/gateway/_rpc-clients.mjs`;
  const words = [client, url.replace(/\/$/, ""), login, JSON.stringify(known)];
  const { stdout, stderr, code } = await run([process.execPath, program, ...words]);
  assert.is(code, 0, stderr);
  return JSON.parse(stdout.slice(stdout.trimEnd().lastIndexOf("\n") + 1));
}

/** What the service refuses must be readable; all else must be the same. */
function compare(
  direct: Readonly<Record<string, unknown>>,
  through: Readonly<Record<string, unknown>>,
): void {
  for (const [what, outcome] of Object.entries(through)) {
    const { error } = objectOf(outcome);
    if (what.startsWith("REFUSED")) {
      assert.match(String(error), /does not exist\/is not available: /, what);
    } else {
      assert.equal(outcome, direct[what], what);
      // Without this check, calls that fail before they are sent would be the same as well.
      assert.is(error !== undefined, / fails?$/.test(what), `${what}: ${error}`);
    }
  }
}

clients.run();
