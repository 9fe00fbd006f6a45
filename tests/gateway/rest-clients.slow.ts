/**
 * Third-party clients of REST nodes at the drop-in address, compared with the same clients at the
 * node. hsd, etcd and nats-server are real (`apt-get install etcd-server nats-server`); Aptos,
 * algod and Kubo are simulated. `node tests/gateway/setup.mjs` installs the clients, and `npm run
 * build:exe` builds the executable.
 */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { objectOf } from "../../src/json/values.ts";
import type { Come } from "../_gateway.ts";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { COMMANDS, run } from "../_server.ts";
import type { AskedNode } from "../nodes/_interface.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { startBeside, TOKEN, TOKEN_FILE } from "./_beside.ts";
import { playRest } from "./_played-rest.ts";

const clients = suite("clients of REST nodes that are unaware of Nodeface");

const EXECUTABLE = `${ROOT}dist/nodeface`;
const SERVICES = { Node: COMMANDS.Node, "the executable": [EXECUTABLE] };

const installed = (name: string) => `${ROOT}tests/gateway/node_modules/${name}`;

interface Case {
  /** The name of a package, or the kind where `fetch` asks. */
  readonly client: string;
  readonly kind: string;
  /** Operations that need the token. The client sends it. */
  readonly withToken?: readonly string[];
}

const PLAYED: readonly Case[] = [
  { client: "@aptos-labs/ts-sdk", kind: "aptos" },
  { client: "algosdk", kind: "algorand" },
  { client: "kubo-rpc-client", kind: "kubo" },
];

const REAL: readonly Case[] = [
  { client: "hs-client", kind: "handshake", withToken: ["GET /"] },
  {
    client: "etcd",
    kind: "etcd",
    withToken: ["getRange", "listMembers", "getLease"],
  },
  {
    client: "nats",
    kind: "nats",
    withToken: ["getServer", "listConnections", "listRoutes", "getAccounts", "getJetStream"],
  },
];

const isPackage = (client: string) => client !== "etcd" && client !== "nats";

for (const [runtime, command] of Object.entries(SERVICES)) {
  const missing = runtime === "Node" ? [] : [EXECUTABLE];
  for (const { client, kind } of PLAYED) {
    testWhere(
      clients,
      without(installed(client), ...missing),
      `${client} gets the same from a simulated node and from ${runtime} beside it`,
      async () => {
        const node = await playRest(kind);
        const direct = await outcomesOf(client, node.url);
        const asked = node.come.map(summaryOf);
        node.come = [];
        const beside = await startBeside(node, kind, "reads", command);
        try {
          const through = await outcomesOf(client, beside.url);
          assert.equal(through, direct);
          const arrived = new Set(node.come.map(summaryOf));
          assert.equal(asked.filter((each) => !arrived.has(each)), []);
          assertMeant(direct);
        } finally {
          await beside.service.stop();
          await node.close();
        }
      },
    );
  }
  for (const { client, kind, withToken = [] } of REAL) {
    const programs = [PROGRAMS[kind]!.path, ...isPackage(client) ? [installed(client)] : []];
    testWhere(
      clients,
      without(...programs, ...missing),
      `${
        isPackage(client) ? client : "fetch"
      } gets the same from ${kind} and from ${runtime} beside it`,
      async () => {
        const node = await PROGRAMS[kind]!.start();
        const forward = {
          open: ["reads"],
          clients: [{ name: "app", allow: withToken, token_file: TOKEN_FILE }],
        };
        const beside = await startBeside(node, kind, forward, command);
        try {
          const direct = await outcomesOf(client, node.url, "", node.known);
          const through = await outcomesOf(client, beside.url, TOKEN, node.known);
          assert.equal(through, direct);
          assertMeant(direct);
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
  password = "",
  known: AskedNode["known"] = {},
): Promise<Record<string, unknown>> {
  const program = `${ROOT}tests/gateway/_rest-clients.mjs`;
  const words = [client, url.replace(/\/$/, ""), password, JSON.stringify(known)];
  const { stdout, stderr, code } = await run([process.execPath, program, ...words]);
  assert.is(code, 0, stderr);
  // The SDK of Aptos prints notes.
  return JSON.parse(stdout.slice(stdout.lastIndexOf("\n") + 1));
}

/**
 * What of a request must be the same. Kubo's reads are written anew with `offline=true`, which
 * keeps the node from asking others.
 */
function summaryOf({ method, url, headers, body }: Come): string {
  const [path = "", query = ""] = url.split("?");
  const values = new URLSearchParams(query);
  values.delete("offline");
  values.sort();
  const { accept, "content-type": type, "content-length": length } = headers;
  const content = Buffer.from(body).toString("base64");
  return JSON.stringify([method, path, `${values}`, accept, type, length, content]);
}

/** Without this check, calls that fail before they are sent would be the same as well. */
function assertMeant(outcomes: Readonly<Record<string, unknown>>): void {
  const failed = Object.entries(outcomes).filter(([, value]) => objectOf(value).error)
    .map(([name]) => name);
  assert.equal(failed.filter((name) => !/not there|fails/.test(name)), []);
}

clients.run();
