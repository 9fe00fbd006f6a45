import { suite } from "uvu";
import * as assert from "uvu/assert";
import { NodeMemory } from "../src/info/node-memory.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { setScene } from "./_scene.ts";
import { KIND, playState } from "./_state.ts";
import { play, RECORDINGS } from "./nodes/_recorded.ts";

const statuses = suite("the status over time");

statuses("a node without a new block for longer than stalled_after is stalled", async () => {
  const head = "2026-01-02T00:00:00Z";
  const { info, pass, state } = playState({ height: 1, peers: 5, head }, {
    info: { stalled_after: "10m" },
  });
  assert.is((await info()).status, "ok");
  pass(599_000);
  assert.is((await info()).status, "ok");
  pass(2000);
  const { status, status_code, status_reason } = await info();
  assert.equal([status, status_code, status_reason], [
    "degraded",
    "stalled",
    "no new block for 10 min 1 s",
  ]);
  state.head = "2026-01-02T00:10:00Z";
  pass(1000);
  assert.is((await info()).status, "ok");
});

statuses("a silent node keeps its kind when the configuration is reloaded", async () => {
  const memory = new NodeMemory();
  const options = { fetch: play(RECORDINGS.get("anvil")!), memory };
  const before = setScene(options);
  await before.info();
  assert.is(before.node.kind, "ethereum");
  const after = setScene(options);
  after.held.failure = "ECONNREFUSED";
  assert.is((await after.info()).status_code, "connection_refused");
  assert.is(after.node.kind, "ethereum");
  const other = setScene({ ...options, memory: new NodeMemory() });
  other.held.failure = "ECONNREFUSED";
  await other.info();
  assert.is(other.node.kind, undefined);
});

statuses("a node without block times is stalled if its height does not change", async () => {
  const { info, pass, state } = playState({ height: 1, peers: 5 }, {
    info: { stalled_after: "10m" },
  });
  const statusAfter = async (time: number) => {
    pass(time);
    return (await info()).status;
  };
  assert.is(await statusAfter(0), "ok");
  assert.is(await statusAfter(590_000), "ok");
  state.height = 2;
  assert.is(await statusAfter(20_000), "ok");
  assert.is(await statusAfter(590_000), "ok");
  assert.is(await statusAfter(20_000), "degraded");
  // A decrease of the height also counts as a change.
  state.height = 1;
  assert.is(await statusAfter(1000), "ok");
});

const HEADS: Readonly<Record<string, object>> = {
  solana: { getBlockHeight: 7 },
  algorand: {},
  substrate: { chain_getHeader: { number: "0x7" } },
};

for (const [name, head] of Object.entries(HEADS)) {
  statuses(`${name} without a new block for ten minutes is stalled, whatever it says`, async () => {
    const recording = RECORDINGS.get(name)!;
    const answers = { ...recording.answers, ...head };
    const fetch = play({ ...recording, answers });
    const { held, info, pass } = setScene({ fetch, node: { kind: name } });
    held.date = Date.parse(recording.now ?? "2026-01-02T00:00:00Z");
    assert.is((await info()).status, "ok");
    pass(599_000);
    assert.is((await info()).status, "ok");
    pass(2000);
    assert.equal((await info()).status_reason, "no new block for 10 min 1 s");
  });
}

statuses("a label of the operator decides no rule, unless the node says nothing", async () => {
  const networks = { main: { name: "Main", peers: 3, quiet: "1h" } } as const;
  const kinds = { mine: { ...KIND, health: { ...KIND.health, networks } } };
  const state = { height: 1, peers: 0, network: "main" };
  const { info } = playState(state, { kinds, info: { static: { network: "Mainnet", peers: 9 } } });
  const { status_code, network, network_name } = await info();
  assert.equal([status_code, network, network_name], ["no_peers", "Mainnet", "Main"]);
  const silent = playState({ height: 1, peers: 0 }, {
    kinds,
    info: { static: { network: "main" } },
  });
  assert.is((await silent.info()).status_code, "no_peers");
});

statuses("a node whose clock is years ahead is stalled if its height does not change", async () => {
  const head = "2036-01-02T00:00:00Z";
  const { info, pass, state } = playState({ height: 1, peers: 5, head });
  await info();
  pass(3_599_000);
  assert.is((await info()).status, "ok");
  pass(2000);
  assert.is((await info()).status_reason, "no new block for 1 h");
  state.height = 2;
  pass(1000);
  assert.is((await info()).status, "ok");
});

statuses("a step of the wall clock stalls no node, and hides none that is stalled", async () => {
  for (const target of [undefined, 100]) {
    const options = { info: { stalled_after: "10m" } } as const;
    const { info, pass, held } = playState({ height: 1, peers: 5, target }, options);
    const { status } = await info();
    held.date += 3_600_000;
    pass(1000);
    assert.is((await info()).status, status);
    held.date -= 7_200_000;
    pass(600_000);
    assert.is((await info()).status_code, "stalled");
  }
});

statuses("a wall clock that is set back is no earlier start of the node", async () => {
  const started_at = { from: "state#/up", as: "uptime" } as const;
  const kind: Kind = { ...KIND, fields: { ...KIND.fields, started_at } };
  const { info, pass, held, said } = playState({ up: 1000, peers: 5 }, { kinds: { mine: kind } });
  await info();
  held.date -= 3_600_000;
  pass(1000);
  assert.is((await info()).started_at, "2026-01-01T22:43:21.000Z");
  assert.equal(said, []);
});

statuses(
  "without stalled_after, the kind and the network decide when a node is stalled",
  async () => {
    for (const head of [undefined, "2026-01-02T00:00:00Z"]) {
      const { info, pass } = playState({ height: 1, peers: 5, head });
      await info();
      pass(3_599_000);
      assert.is((await info()).status, "ok");
      pass(2000);
      assert.is((await info()).status_reason, "no new block for 1 h");
    }
    const kind = { ...KIND, health: { ...KIND.health, networks: {} } };
    const { info, pass } = playState({ height: 1, peers: 5 }, { kinds: { mine: kind } });
    await info();
    pass(24 * 3_600_000);
    assert.is((await info()).status, "ok");
  },
);

statuses("a node that no longer reports the time of its latest block is stalled", async () => {
  const { info, pass, state } = playState({ height: 1, peers: 5, head: "2026-01-02T00:00:00Z" });
  await info();
  pass(1_800_000);
  state.head = null;
  assert.is((await info()).status, "ok");
  pass(1_802_000);
  assert.is((await info()).status_code, "stalled");
});

statuses("a block whose time is reached later is no new block", async () => {
  const head = "2026-01-02T02:00:00Z";
  const { info, pass } = playState({ height: 1, peers: 5, head });
  await info();
  for (let minute = 0; minute < 240; minute += 10) {
    assert.is((await info()).status_code, minute > 60 ? "stalled" : undefined, `minute ${minute}`);
    pass(600_000);
  }
});

statuses("a reload of the configuration hides no node that is stalled", async () => {
  const memory = new NodeMemory();
  const options = { memory, info: { stalled_after: "10m" } } as const;
  for (const target of [undefined, 100]) {
    const state = { height: 1, peers: 5, target };
    const before = playState(state, options);
    await before.info();
    before.pass(590_000);
    await before.info();
    const after = playState(state, options);
    Object.assign(after.held, before.held);
    await after.info();
    after.pass(11_000);
    assert.is((await after.info()).status_code, "stalled");
  }
});

statuses("a machine that sleeps, or sets its clock forward, sees no node stall", async () => {
  const options = { info: { stalled_after: "10m" } } as const;
  for (const target of [undefined, 100]) {
    const { info, pass, held } = playState({ height: 1, peers: 5, target }, options);
    const { status } = await info();
    held.date += 8 * 3_600_000;
    held.slept += 8 * 3_600_000;
    pass(1000);
    assert.is((await info()).status, status);
    pass(600_000);
    assert.is((await info()).status_code, "stalled");
  }
});

statuses(
  "what holds for a software on any network comes before what holds for a chain",
  async () => {
    const networks = { "anvil *": { private: true }, "1": { quiet: "10m" } } as const;
    const kinds = { mine: { ...KIND, health: { ...KIND.health, networks } } };
    for (const [software, code] of [["anvil", undefined], ["geth", "stalled"]]) {
      const { info, pass } = playState({ software, chain: 1, height: 5, peers: 5 }, { kinds });
      await info();
      pass(660_000);
      assert.is((await info()).status_code, code, software);
    }
  },
);

statuses("with stalled_after: off, a node is never stalled", async () => {
  const options = { info: { stalled_after: "off" } } as const;
  for (const target of [undefined, 100]) {
    const { info, pass } = playState({ height: 1, peers: 5, target }, options);
    const { status } = await info();
    pass(200 * 3_600_000);
    assert.is((await info()).status, status);
  }
});

statuses("a well-known network has a name", async () => {
  const anvil = RECORDINGS.get("anvil")!;
  const programs = { "Geth/v1.16.0/linux": "Ethereum mainnet", "anvil/v1.7.1": undefined };
  for (const [web3_clientVersion, name] of Object.entries(programs)) {
    const answers = { ...anvil.answers, eth_chainId: "0x1", web3_clientVersion };
    const { info } = setScene({
      fetch: play({ ...anvil, answers }),
      node: { kind: "ethereum" },
    });
    const { chain_id, network_name, status } = await info();
    // A fork by anvil has the chain id, but is another network, in which nobody has mined yet.
    assert.equal([chain_id, network_name], ["1", name]);
    assert.is(status, name === undefined ? "ok" : "syncing");
  }
});

statuses(
  "old values say of synchronization what was last judged, not what the node claims",
  async () => {
    const fields = { ...KIND.fields, synced: "state#/synced" as const };
    const kinds = { mine: { ...KIND, fields } };
    const given = { software: "a", synced: true, height: 5, peers: 9, progress: 1 };
    const behind = playState({ ...given, target: 50 }, { kinds });
    const alone = playState({ ...given, peers: 0 }, { kinds });
    const well = playState(given, { kinds });
    const cases = [[behind, "syncing", false], [alone, "degraded", undefined], [well, "ok", true]];
    for (const [node, status, synced] of cases as [typeof well, string, boolean | undefined][]) {
      const now = await node.info();
      assert.equal([now.status, now.synced], [status, synced]);
      node.pass(10_000);
      const old = await node.infoOfPage();
      assert.equal([old.status_code, old.synced], ["outdated", synced]);
      await node.monitor.settled();
      node.held.failure = "ECONNREFUSED";
      node.pass(10_000);
      const away = await node.info();
      assert.equal([away.status, away.synced], ["stale", synced]);
    }
  },
);

statuses.run();
