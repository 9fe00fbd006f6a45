/**
 * The operations of kinds, called at real nodes: anvil and hsd, and those of Debian (`apt-get install litecoind monero
 * etcd-server nats-server syncthing`). A missing node is skipped.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { askKind } from "./_ask-kind.ts";
import { PROGRAMS } from "./_start-chains.ts";
import { type AskedNode, isHarmless, isThere, operationsOf, tally } from "./_interface.ts";
import type { KindInterface } from "../../src/kinds/interface.ts";

const interfaces = suite("interfaces of real nodes");

for (const [kind, { path, lacks = [] }] of Object.entries(PROGRAMS)) {
  testWhere(
    interfaces,
    without(path),
    `${kind}: the named operations exist, and the responses of reads match their schemas`,
    async () => {
      let harmless = 0;
      const { parts, outcomes } = await askKind(kind, async (node, parts) => {
        harmless = operationsOf(parts).filter(([, marks]) => isHarmless(marks, node)).length;
        await compareNames(node, parts, lacks);
        await comparePaths(node, parts);
      });
      const asked = outcomes.filter(({ name }) => !lacks.includes(name));
      const wrong = asked.flatMap(({ name, mistake }) => mistake ? [`${name} ${mistake}`] : []);
      const { asked: number, exist, right } = tally(kind, parts, asked);
      assert.ok(number >= 0.75 * harmless, `${number} of ${harmless} were asked`);
      assert.ok(exist >= 0.95 * number, wrong.join("\n"));
      assert.ok(right >= 0.9 * number, wrong.join("\n"));
    },
  );
}

/** Compares the names of a kind with those of a node. */
async function compareNames(
  node: AskedNode,
  { openrpc }: KindInterface,
  lacks: readonly string[],
): Promise<void> {
  const methods = (openrpc?.methods ?? []).filter((method) => isThere(method, node));
  const names = methods.map(({ name }) => name);
  assert.ok(lacks.length <= 0.1 * names.length, "others have to have most of what it lacks");
  const missing: string[] = [];
  for (const name of names) if (!await node.has!(name)) missing.push(name);
  const unknown = missing.filter((name) => !lacks.includes(name));
  assert.equal(lacks.filter((name) => !missing.includes(name)), [], "it has what it should lack");
  assert.ok(unknown.length <= 0.05 * names.length, `it does not have ${unknown.join(", ")}`);
  const { listed } = node;
  if (!listed) return;
  assert.ok(listed.length > 0, "it lists nothing");
  const unnamed = listed.filter((name) => !names.includes(name));
  assert.ok(unnamed.length <= 0.2 * listed.length, `the kind does not name ${unnamed.join(", ")}`);
}

/** Looks for each REST operation, writes included. */
async function comparePaths(node: AskedNode, { openapi }: KindInterface): Promise<void> {
  if (!openapi || !node.hasOperation) return;
  const missing: string[] = [];
  for (const [name, marks] of operationsOf({ openapi })) {
    const [verb, path] = name.split(" ") as [string, string];
    if (isThere(marks, node) && !await node.hasOperation(verb, path)) missing.push(name);
  }
  assert.equal(missing, [], "it does not have all that is named");
}

interfaces.run();
