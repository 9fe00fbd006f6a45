/**
 * Calls the operations in the kind files on real nodes. The nodes are anvil, hsd, the nodes that
 * `tests/nodes/setup.mjs` installs, and Debian packages (`apt-get install litecoind monero
 * etcd-server nats-server syncthing`). A node that is not installed is skipped.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { type Asked, askKind, callShown, NODES } from "./_ask-kind.ts";
import {
  type AskedNode,
  isHarmless,
  isThere,
  operationsOf,
  type Outcome,
  tally,
} from "./_interface.ts";
import { isAskable } from "../../src/description/missing-methods.ts";
import type { KindInterface } from "../../src/kinds/interface.ts";

const interfaces = suite("interfaces of real nodes");

for (const program of NODES) {
  const { name, kind, path, lacks = [] } = program;
  // hardhat and ganache lack many methods of their kind.
  const isPartial = name !== kind;
  testWhere(
    interfaces,
    without(path),
    isPartial
      ? `${name}: 90 % of the responses match the schemas`
      : `${name}: 95 % of the described operations exist, and 90 % of the responses match`,
    async () => {
      let harmless = 0;
      const { parts, outcomes } = await askKind(program, async (node, asked) => {
        const { parts } = asked;
        harmless = operationsOf(parts).filter(([, marks]) => isHarmless(marks, node)).length;
        await compareShown(node, name, kind, asked);
        if (isPartial) return;
        await compareNames(node, parts, lacks);
        await comparePaths(node, parts);
      });
      const isAsked = (one: Outcome) => isPartial ? one.exists : !lacks.includes(one.name);
      const asked = outcomes.filter(isAsked);
      const wrong = asked.flatMap(({ name, mistake }) => mistake ? [`${name} ${mistake}`] : []);
      const { asked: number, exist, right } = tally(name, parts, asked);
      assert.ok(outcomes.length >= 0.75 * harmless, `${outcomes.length} of ${harmless} were asked`);
      if (!isPartial) assert.ok(exist >= 0.95 * number, wrong.join("\n"));
      assert.ok(right >= 0.9 * number, wrong.join("\n"));
    },
  );
}

/** Asserts that the service shows a light `read` method if and only if the node has the method. */
async function compareShown(
  node: AskedNode,
  name: string,
  kind: string,
  asked: Asked,
): Promise<void> {
  if (!node.call) return;
  const methods = (asked.parts.openrpc?.methods ?? []).filter((method) => isThere(method, node));
  const askable = methods.filter(isAskable).map(({ name }) => name);
  const outcomes = asked.outcomes.filter(({ name }) => askable.includes(name));
  const missing = outcomes.filter(({ exists }) => !exists).map(({ name }) => name);
  const { shown, called, absent } = await callShown(node, kind, asked, missing);
  console.log(
    `${name}: ${methods.length} described, ${askable.length} askable, ${missing.length} missing, ` +
      `${shown.length} shown, ${called.length} called`,
  );
  assert.equal(absent, [], "the description shows methods that the node lacks");
  const omitted = outcomes.filter(({ name, exists }) => exists && !shown.includes(name));
  // A node that lists its methods may not list all of them.
  if (!node.listed) assert.equal(omitted.map(({ name }) => name), []);
}

async function compareNames(
  node: AskedNode,
  { openrpc }: KindInterface,
  lacks: readonly string[],
): Promise<void> {
  const methods = (openrpc?.methods ?? []).filter((method) => isThere(method, node));
  const names = methods.map(({ name }) => name);
  assert.ok(lacks.length <= 0.125 * names.length, "other nodes of the kind must have most methods");
  const missing: string[] = [];
  for (const name of names) if (!await node.has!(name)) missing.push(name);
  const unknown = missing.filter((name) => !lacks.includes(name));
  assert.equal(
    lacks.filter((name) => !missing.includes(name)),
    [],
    "the node has methods that it should lack",
  );
  assert.ok(unknown.length <= 0.05 * names.length, `the node lacks ${unknown.join(", ")}`);
  const { listed } = node;
  if (!listed) return;
  assert.ok(listed.length > 0, "the node lists no operations");
  const unnamed = listed.filter((name) => !names.includes(name));
  assert.ok(unnamed.length <= 0.2 * listed.length, `the kind lacks ${unnamed.join(", ")}`);
}

async function comparePaths(node: AskedNode, { openapi }: KindInterface): Promise<void> {
  if (!openapi || !node.hasOperation) return;
  const missing: string[] = [];
  for (const [name, marks] of operationsOf({ openapi })) {
    const [verb, path] = name.split(" ") as [string, string];
    if (isThere(marks, node) && !await node.hasOperation(verb, path)) missing.push(name);
  }
  assert.equal(missing, [], "the node lacks operations of the kind");
}

interfaces.run();
