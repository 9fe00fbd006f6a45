import { suite } from "uvu";
import * as assert from "uvu/assert";
import { playState } from "./_state.ts";

const nodeChanges = suite("changes of the node");

nodeChanges("if the node changes to another chain, the change is logged and counted", async () => {
  const { info, pass, state, said, changes } = playState({ chain: 31337, network: "a", peers: 5 });
  await info();
  Object.assign(state, { chain: 31338, network: "b\u0000\u202e" });
  pass(1000);
  await info();
  assert.equal(said, [
    'warn: node http://node.example is on another chain now: chain_id 31338, was 31337; network "b\\u0000\\u202e", was a',
  ]);
  assert.is(changes(), 1);
});

nodeChanges("a change of the version is logged, and not that of a hidden one", async () => {
  for (const hide of [[], ["software"]]) {
    const { info, pass, state, said } = playState({ software: "anvil", peers: 5 }, {
      info: { hide },
    });
    await info();
    for (const software of ["anvil", undefined, "ganache"]) {
      state.software = software;
      pass(1000);
      await info();
    }
    const lines = [
      'info: node http://node.example runs "anvil"',
      'info: node http://node.example runs "ganache" now, was "anvil"',
    ];
    assert.equal(said, hide.length > 0 ? [] : lines);
  }
});

nodeChanges("a change of chain is logged in one short line", async () => {
  const { info, pass, state, said } = playState({ chain: "a".repeat(300) });
  await info();
  state.chain = "b".repeat(300);
  pass(1000);
  await info();
  assert.match(said.join(), /chain_id "?b{20,60}…"?, was "?a{20,60}…"?$/);
});

nodeChanges("after many changes of chain in an hour, a line says that they continue", async () => {
  const { info, pass, state, said, changes } = playState({ chain: 0, peers: 5 });
  for (let i = 0; i < 100; i++) {
    state.chain = i % 2;
    pass(10_000);
    await info();
  }
  assert.is(said.length, 6);
  assert.match(said.at(-1)!, /keeps changing to a different chain/);
  assert.is(changes(), 99);
  pass(3_600_001);
  await info();
  state.chain = 7;
  pass(1000);
  await info();
  assert.is(said.length, 7);
});

nodeChanges(
  "last_seen describes the last node that responded",
  async () => {
    const long = "x".repeat(300);
    const { info, pass, state, held } = playState({
      software: long,
      chain: 1,
      height: 7,
      peers: 5,
    });
    await info();
    Object.assign(state, { software: undefined, chain: 2, height: 3 });
    pass(1000);
    await info();
    const at = new Date(held.date).toISOString();
    held.failure = "ECONNREFUSED";
    pass(1000);
    assert.is((await info()).last_seen, undefined);
    pass(61_000);
    const { status, last_seen, ...rest } = await info();
    assert.is(status, "unreachable");
    assert.equal(last_seen, { chain_id: "2", height: 3, at });
    assert.not.ok("height" in rest);
    held.failure = undefined;
    pass(30_000);
    assert.is((await info()).last_seen, undefined);
  },
);

nodeChanges("the texts in last_seen are truncated", async () => {
  const { info, pass, held } = playState({ software: "x".repeat(300), chain: "y".repeat(300) });
  await info();
  held.failure = "ECONNREFUSED";
  pass(61_000);
  await info();
  pass(61_000);
  const { software, chain_id } = (await info()).last_seen as Record<string, string>;
  assert.ok(software!.length <= 100 && chain_id!.length <= 100);
});

nodeChanges(
  "after a change of chain, last_seen does not describe the node before the change",
  async () => {
    const { info, pass, state, held } = playState({ software: "a", chain: 1 }, {
      info: { hide: ["chain_id"] },
    });
    await info();
    Object.assign(state, { software: undefined, chain: 2 });
    pass(1000);
    await info();
    held.failure = "ECONNREFUSED";
    for (const time of [1000, 61_000]) {
      pass(time);
      await info();
    }
    assert.is((await info()).last_seen, undefined);
  },
);

nodeChanges.run();
