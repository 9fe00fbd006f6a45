/**
 * Third-party clients of REST nodes at the drop-in address, compared with the same clients at the
 * node. hsd, etcd and nats-server are real (`apt-get install etcd-server nats-server`); Aptos,
 * algod and Kubo are simulated. `node tests/gateway/setup.mjs` installs the clients, and `npm run
 * build:exe` builds the executable.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { objectOf } from "../../src/json/values.ts";
import type { ReceivedRequest } from "../_gateway.ts";
import { testWhere, without } from "../_needs.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import {
  besideNode,
  installed,
  type Outcomes,
  outcomesOf,
  SERVICES,
  TOKEN,
  TOKEN_FILE,
} from "./_beside.ts";
import { playRest } from "./_played-rest.ts";

const clients = suite("clients of REST nodes that are unaware of Nodeface");

const PROGRAM = "_rest-clients.mjs";

interface Case {
  /** The name of a package, or the kind where `fetch` asks. */
  readonly client: string;
  readonly kind: string;
  /** Operations that need the token. The client sends it. */
  readonly withToken?: readonly string[];
}

const PLAYED: readonly Case[] = [
  { client: "@aptos-labs/ts-sdk", kind: "aptos" },
  { client: "algosdk", kind: "algorand", withToken: ["TealCompile", "TealDisassemble"] },
  { client: "kubo-rpc-client", kind: "kubo" },
];

const REAL: readonly Case[] = [
  {
    client: "hs-client",
    kind: "handshake",
    withToken: [
      ...["GET /", "readTransactionsOfAddress", "readTransactionsOfAddresses"],
      ...["readCoinsOfAddress", "readCoinsOfAddresses"],
    ],
  },
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

const forwardFor = (withToken: readonly string[]) => ({
  open: ["reads"],
  clients: [{ name: "app", allow: withToken, token_file: TOKEN_FILE }],
});

for (const { name, command, files } of SERVICES) {
  for (const { client, kind, withToken = [] } of PLAYED) {
    testWhere(
      clients,
      without(installed(client), ...files),
      `${client} gets the same from a simulated node and from ${name} beside it`,
      async () => {
        const node = await playRest(kind);
        const direct = await outcomesOf(PROGRAM, client, node.url);
        const asked = node.received.map(summaryOf);
        node.received = [];
        await besideNode(
          Promise.resolve(node),
          kind,
          async ({ url }) => {
            const token = withToken.length > 0 ? TOKEN : "";
            assert.equal(await outcomesOf(PROGRAM, client, url, token), direct);
            const arrived = new Set(node.received.map(summaryOf));
            assert.equal(asked.filter((each) => !arrived.has(each)), []);
            assertMeant(direct);
          },
          withToken.length > 0 ? forwardFor(withToken) : "reads",
          command,
        );
      },
    );
  }
  for (const { client, kind, withToken = [] } of REAL) {
    const { path, start } = PROGRAMS[kind]!;
    const programs = [path, ...isPackage(client) ? [installed(client)] : []];
    const forward = forwardFor(withToken);
    testWhere(
      clients,
      without(...programs, ...files),
      `${
        isPackage(client) ? client : "fetch"
      } gets the same from ${kind} and from ${name} beside it`,
      () =>
        besideNode(
          start(),
          kind,
          async ({ url }, node) => {
            const direct = await outcomesOf(PROGRAM, client, node.url, "", node.known);
            assert.equal(await outcomesOf(PROGRAM, client, url, TOKEN, node.known), direct);
            assertMeant(direct);
          },
          forward,
          command,
        ),
    );
  }
}

/**
 * What of a request must be the same. Kubo's reads are written anew with `offline=true`, which
 * keeps the node from asking others.
 */
function summaryOf({ method, url, headers, body }: ReceivedRequest): string {
  const [path = "", query = ""] = url.split("?");
  const values = new URLSearchParams(query);
  values.delete("offline");
  values.sort();
  const { accept, "content-type": type, "content-length": length } = headers;
  const content = Buffer.from(body).toString("base64");
  return JSON.stringify([method, path, `${values}`, accept, type, length, content]);
}

/** Without this check, calls that fail before they are sent would be the same as well. */
function assertMeant(outcomes: Outcomes): void {
  const failed = Object.entries(outcomes).filter(([, value]) => objectOf(value).error)
    .map(([name]) => name);
  assert.equal(failed.filter((name) => !/not there|fails/.test(name)), []);
}

clients.run();
