/**
 * Third-party JSON-RPC clients at the drop-in address, compared with the same clients at the node.
 * anvil, hardhat, litecoind and hsd are real; Solana, NEAR, CometBFT and Substrate are simulated.
 * `node tests/gateway/setup.mjs` and `node tests/nodes/setup.mjs` install the clients, and `npm run
 * build:exe` builds the executable. `CLIENTS='viem|cast' RUNTIMES='executable'` selects clients and
 * runtimes by name.
 */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { objectOf } from "../../src/json/values.ts";
import { type PlayedNode, textOf } from "../_gateway.ts";
import { testWhere, without } from "../_needs.ts";
import { OTHERS, PROGRAMS } from "../nodes/_start-chains.ts";
import { HARDHAT } from "../nodes/_start-ethereum.ts";
import { besideNode, installed, type Outcomes, outcomesOf, SERVICES } from "./_beside.ts";
import { playFailing, playRpc } from "./_played-rpc.ts";

const clients = suite("JSON-RPC clients that are unaware of Nodeface");

const PROGRAM = "_rpc-clients.mjs";

const PLAYED: readonly (readonly [client: string, kind: string])[] = [
  ["@solana/kit", "solana"],
  ["@solana/web3.js", "solana"],
  ["near-api-js", "near"],
  ["@cosmjs/tendermint-rpc", "cosmos"],
  ["@polkadot/rpc-provider", "substrate"],
];

const REAL: readonly (readonly [client: string, node: string])[] = [
  ["ethers", "ethereum"],
  ["ethers", "hardhat"],
  ["ethers5", "ethereum"],
  ["viem", "ethereum"],
  ["viem with batches", "ethereum"],
  ["@wagmi/core", "ethereum"],
  ["ox", "ethereum"],
  ["hardhat", "ethereum"],
  ["web3", "ethereum"],
  ["@foundry-rs/cast", "ethereum"],
  ["bitcoin-core", "bitcoin"],
  ["rpc-bitcoin", "bitcoin"],
  ["bitcoind-rpc", "bitcoin"],
  ["litecoin-cli", "bitcoin"],
  ["hs-client", "handshake"],
];

const NODES = { ...PROGRAMS, ...OTHERS };
const kindOf = (node: string) => OTHERS[node]?.kind ?? node;

const placeOf = (client: string) =>
  client === "litecoin-cli"
    ? "/usr/bin/litecoin-cli"
    : client === "hardhat"
    ? HARDHAT
    : installed(client.split(" ")[0]!);

const { CLIENTS = "", RUNTIMES = "" } = process.env;
const isSelected = (client: string) => new RegExp(CLIENTS).test(client);

for (const { name, command, files } of SERVICES) {
  if (!new RegExp(RUNTIMES).test(name)) continue;
  for (const [client, kind] of PLAYED.filter(([client]) => isSelected(client))) {
    testWhere(
      clients,
      without(placeOf(client), ...files),
      `${client} gets the same from a simulated node and from ${name} beside it`,
      () =>
        besideNode(
          playRpc(kind),
          kind,
          async ({ url }, node) => {
            const direct = await outcomesOf(PROGRAM, client, node.url);
            compare(direct, await outcomesOf(PROGRAM, client, url));
          },
          "reads",
          command,
        ),
    );
  }
  for (const [client, program] of REAL.filter(([client]) => isSelected(client))) {
    const { path, start } = NODES[program]!;
    testWhere(
      clients,
      without(path, placeOf(client), ...files),
      `${client} gets the same from ${program} and from ${name} beside it`,
      () =>
        besideNode(
          start(),
          kindOf(program),
          async (beside, { url, auth, known }) => {
            const login = auth?.basic_file
              ? await readFile(auth.basic_file, "utf8")
              : "any:password";
            // At the node itself, the calls that the service refuses change something.
            const through = await outcomesOf(PROGRAM, client, beside.url, "any:password", known);
            compare(await outcomesOf(PROGRAM, client, url, login, known), through);
          },
          "reads",
          command,
        ),
    );
  }
  for (const client of ["ethers", "ethers5", "viem"].filter(isSelected)) {
    testWhere(
      clients,
      without(installed(client), ...files),
      `${client} tries again through ${name} where it tries again at the node`,
      async () => {
        const direct = await outcomesAtFailing(client);
        await besideNode(
          playFailing(),
          "ethereum",
          async ({ url }, node) => {
            const through = await outcomesAtFailing(client, url, node);
            assert.equal(through, direct);
            assert.is(direct["0x0429"], "5 after 2");
          },
          "reads",
          command,
        );
      },
    );
  }
}

async function outcomesAtFailing(client: string, url?: string, beside?: PlayedNode) {
  const node = beside ?? await playFailing();
  const outcomes = await outcomesOf(PROGRAM, client, url ?? node.url, "", { isFailing: true });
  if (!beside) await node.close();
  return Object.fromEntries(
    Object.entries(outcomes).map(([address, value]) => {
      const attempts = node.received.filter((request) => textOf(request).includes(address)).length;
      const result = typeof value === "string" ? value : "an error";
      return [address.replace(/0{9,}/, "0"), `${result} after ${attempts}`];
    }),
  );
}

/** What the service refuses must be readable; all else must be the same. */
function compare(direct: Outcomes, through: Outcomes): void {
  for (const [what, outcome] of Object.entries(through)) {
    const { error } = objectOf(outcome);
    if (what.startsWith("REFUSED")) {
      assert.match(String(error), /does not exist\/is not available: /, what);
    } else if (what.startsWith("THROUGH")) {
      assert.is(outcome, true, what);
    } else {
      assert.equal(outcome, direct[what], what);
      // Without this check, calls that fail before they are sent would be the same as well.
      assert.is(error !== undefined, / fails?$/.test(what), `${what}: ${error}`);
    }
  }
}

clients.run();
