/**
 * Calls to real nodes through the service: anvil, hsd, and nodes from Debian packages (`apt-get
 * install litecoind monero etcd-server nats-server syncthing curl`). A node that is not installed
 * is skipped.
 */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseJson } from "../../src/json/lossless.ts";
import { objectOf } from "../../src/json/values.ts";
import { loadInterface } from "../../src/description/known-interface.ts";
import { testWhere, without } from "../_needs.ts";
import { startMonerod } from "../nodes/_start-monerod.ts";
import { PROGRAMS, startLitecoind } from "../nodes/_start-chains.ts";
import { type AskedNode, isHarmless, operationsOf } from "../nodes/_interface.ts";
import { type AskedThrough, askThrough, markedAs } from "./_ask-through.ts";
import { type Beside, startBeside, TOKEN_FILE, WITH_TOKEN } from "./_beside.ts";
import { tryRefused } from "./_refusals.ts";
import { WRITES } from "./_writes.ts";

const nodes = suite("calls to real nodes");

interface Variant {
  readonly name: string;
  readonly kind: string;
  readonly start: () => Promise<AskedNode>;
}

/** The environment variable `NODES` selects variants by name. */
const VARIANTS = ([
  ...Object.entries(PROGRAMS).map(([kind, { start }]) => ({ name: kind, kind, start })),
  { name: "bitcoin with rpcauth", kind: "bitcoin", start: () => startLitecoind("op:geheim") },
  { name: "monero with a login", kind: "monero", start: () => startMonerod("op:geheim") },
] as readonly Variant[]).filter(({ name }) => new RegExp(process.env.NODES ?? "").test(name));

for (const { name, kind, start } of VARIANTS) {
  testWhere(
    nodes,
    without(PROGRAMS[kind]!.path, "/usr/bin/curl"),
    `${name}: reads return the node's own responses, other calls are refused, and the token allows a write`,
    async () => {
      const node = await start();
      try {
        await tryReads(node, kind, name);
        await tryToken(node, kind, name);
      } finally {
        await node.stop();
      }
    },
  );
}

async function tryReads(node: AskedNode, kind: string, name: string): Promise<void> {
  const parts = await loadInterface(kind);
  const beside = await startBeside(node, kind, "reads");
  try {
    const reads = markedAs("read", parts);
    const asked = await askThrough(reads, node, beside);
    const harmless = operationsOf(reads).filter(([, marks]) => isHarmless(marks, node)).length;
    assert.ok(
      asked.outcomes.length >= 0.75 * harmless,
      `${asked.outcomes.length} of ${harmless} reads were called`,
    );
    assertRight(asked);
    const moving = asked.compared.filter(({ is }) => is === "moves");
    assert.ok(moving.length <= 0.1 * asked.compared.length, "too many responses keep changing");
    await tryBatch(asked, node, beside);
    const before = await WRITES[kind]?.state(node);
    const forwarded = beside.forwarded();
    const { operations, requests, wrong } = await tryRefused(parts, node, beside);
    assert.equal(wrong, []);
    assert.equal(await WRITES[kind]?.state(node), before, "the node has changed");
    console.log(`${name}: ${told(asked)}; ${operations} others refused in ${requests} requests`);
    // If a JSON-RPC batch contains read-only and refused calls, the service forwards the read-only
    // calls.
    const { openrpc } = parts;
    if (!openrpc) assert.is(beside.forwarded(), forwarded);
  } finally {
    await beside.service.stop();
  }
}

async function tryToken(node: AskedNode, kind: string, name: string): Promise<void> {
  const secrets = markedAs("secret", await loadInterface(kind));
  const writes = WRITES[kind];
  const names = operationsOf(secrets).map(([name, operation]) =>
    String(objectOf(operation).operationId ?? name)
  );
  if (writes) names.push(writes.name);
  const forward = { clients: [{ name: "app", allow: names, token_file: TOKEN_FILE }] };
  const beside = await startBeside(node, kind, forward);
  try {
    const { ask } = beside;
    const withToken: Beside["ask"] = (path, { headers, ...init }) =>
      ask(path, { ...init, headers: { ...headers, ...WITH_TOKEN } });
    const asked = await askThrough(secrets, node, { ...beside, ask: withToken });
    assertRight(asked);
    console.log(`${name}, with the token: ${told(asked)}`);
    if (!writes) return;
    const before = await writes.state(node);
    const { path, ...init } = writes.write(node);
    assert.is((await ask(path, init)).status, 401);
    const wrong = { ...init.headers, authorization: `${WITH_TOKEN.authorization}x` };
    assert.is((await ask(path, { ...init, headers: wrong })).status, 401);
    assert.equal(await writes.state(node), before);
    const written = await withToken(path, init);
    assert.is(written.status, 200, await written.text());
    assert.not.equal(await writes.state(node), before, "nothing has changed");
  } finally {
    await beside.service.stop();
  }
}

function assertRight({ outcomes, compared }: AskedThrough): void {
  // Syncthing's configuration contains its API key, which the service never passes on.
  const isKept = (shown = "") => /but 502 [^]*contains the service's credentials/.test(shown);
  const wrong = compared.filter(({ is, shown }) => is === "wrong" && !isKept(shown));
  assert.equal(wrong.map(({ asked, shown }) => `${asked}\n  ${shown}`), []);
  // A mistake whose text begins with "gets" is an unexpected status or error, and the first
  // assertion covers it.
  const misfits = outcomes.filter(({ mistake }) => mistake && !/^gets /.test(mistake));
  assert.equal(misfits.map(({ name, mistake }) => `${name} ${mistake}`), []);
}

async function tryBatch(
  { still: before }: AskedThrough,
  node: AskedNode,
  { ask }: Beside,
): Promise<void> {
  // `uptime` and `getnettotals` are skipped, because their results change with time.
  const still = before.filter(({ method }) => method !== "uptime" && method !== "getnettotals");
  if (still.length === 0) return;
  const writeOld = (result: string, id: number) => `{"result":${result},"error":null,"id":${id}}`;
  const writeNew = (result: string, id: number) =>
    `{"jsonrpc":"2.0","result":${result},"id":${id}}`;
  // litecoind 0.21 and hsd respond in the form of JSON-RPC 1 to each call.
  const [{ method, params }] = still as [typeof still[0]];
  const direct = await node.send(node.rpcPath ?? "", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const isOld = !objectOf(parseJson(await direct.text())).jsonrpc;
  await tryBody("2.0", isOld ? writeOld : writeNew);
  // python-bitcoinrpc sends calls with the obsolete member `version` and without `jsonrpc`.
  await tryBody(undefined, writeOld);

  async function tryBody(
    jsonrpc: string | undefined,
    write: (result: string, id: number) => string,
  ) {
    const more = jsonrpc ? { jsonrpc } : { version: "1.1" };
    const calls = still.map(({ method, params }, id) => ({ ...more, method, params, id }));
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(calls) };
    // Some results are random, such as the order of the inputs and outputs of joinpsbts.
    let missing = still.map(({ result }, id) => write(result, id));
    for (let attempt = 0; attempt < 50 && missing.length > 0; attempt++) {
      const text = await (await ask("/v1/rpc", init)).text();
      const answers = parseJson(text) as { id: number }[];
      assert.equal(answers.map(({ id }) => id), [...still.keys()]);
      missing = missing.filter((part) => !text.includes(part));
    }
    assert.equal(missing, []);
  }
}

function told({ outcomes, compared }: AskedThrough): string {
  const count = (is: string) => compared.filter((one) => one.is === is).length;
  return `${outcomes.length} operations in ${compared.length} requests: ${count("same")} same, ` +
    `${count("moves")} changing, ${count("error")} errors from the node`;
}

nodes.run();
