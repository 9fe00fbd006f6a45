import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../src/json/values.ts";
import type { Kind } from "../src/kinds/kind.ts";
import type { SceneOptions } from "./_scene.ts";
import { KIND, playState } from "./_state.ts";

const syncing = suite("a node that syncs");

/** Plays a node whose latest block is as old as `lagAt` says, for as many seconds. */
async function playLags(
  seconds: number,
  lagAt: (second: number) => number,
  options: Partial<SceneOptions> = {},
) {
  const { info, pass, held, state } = playState({ height: 1000, peers: 5 }, options);
  const told: string[] = [];
  for (let second = 0; second <= seconds; second += 10) {
    const head = new Date(held.date - lagAt(second) * 1000).toISOString();
    Object.assign(state, { height: 1000 + second, head });
    const { status, status_reason = "" } = await info();
    told.push([status, status_reason].join(": ").replace(/(\d+ \w+ ?)+/, "TIME "));
    pass(10_000);
  }
  return told;
}

syncing("a node that catches up is syncing, even if it says that it is in sync", async () => {
  // It is two hours behind, and gains ten seconds in each second.
  const told = await playLags(800, (second) => Math.max(7200 - 10 * second, 5));
  assert.is(told[0], "degraded: no new block for TIME ");
  const isSyncing = (line: string) =>
    line === "syncing: is catching up; its latest block is TIME old";
  assert.equal([...new Set(told.slice(2, 36))].map(isSyncing), [true]);
  assert.equal([...new Set(told.slice(37))], ["ok: "]);
});

syncing(
  "a node that takes the place of one in sync unseen, and catches up, is syncing",
  async () => {
    // A balancer switches after ten minutes to a node that is five hours behind.
    const lagAt = (second: number) => second < 600 ? 5 : 18_000 - 10 * (second - 600);
    const told = await playLags(1500, lagAt);
    assert.equal([...new Set(told.slice(0, 60))], ["ok: "]);
    assert.equal([...new Set(told.slice(95))], [
      "syncing: is catching up; its latest block is TIME old",
    ]);
  },
);

syncing("a node that falls behind is stalled, and so is one that keeps its distance", async () => {
  const reason = "its latest block is TIME old, although new ones arrive";
  for (const lagAt of [() => 7200, (second: number) => 7200 + second / 2]) {
    const told = await playLags(800, lagAt);
    assert.equal([...new Set(told.slice(1))], [`degraded: ${reason}`]);
  }
  // Two nodes behind one address have stopped at different blocks.
  const told = await playLags(7200, (second) => 7200 + second - (second % 20) * 60);
  assert.equal([...new Set(told.slice(-300))], [`degraded: ${reason}`]);
});

syncing(
  "two nodes behind one address that stand still at different heights are stalled",
  async () => {
    const options = { info: { stalled_after: "10m" } } as const;
    for (const [target, minutes] of [[undefined, 1], [1000, 1], [1000, 10]] as const) {
      const { info, pass, state } = playState({ height: 100, peers: 5, target }, options);
      const seen: unknown[] = [];
      for (let polls = 0; polls <= 15; polls++) {
        state.height = 100 + polls % 2;
        seen.push((await info()).status_code);
        pass(minutes * 60_000);
      }
      assert.is(seen.at(-1), "stalled");
      // One of them moves again.
      state.height = 102;
      assert.is((await info()).status_code, target && "syncing");
    }
  },
);

syncing("a node that stops catching up is stalled", async () => {
  const told = await playLags(8000, (second) => 20_000 - 10 * Math.min(second, 400) + second);
  assert.match(told[40]!, /^syncing/);
  assert.is(told.at(-1), "degraded: its latest block is TIME old, although new ones arrive");
});

syncing("a node in sync that stops is stalled, however late its last blocks were", async () => {
  // After a block that was 15 minutes late and one that was five, it stops, or a balancer switches
  // to a node that stopped five hours ago.
  for (const lag of [300, 18_000]) {
    const lagAt = (second: number) => second < 200 ? 900 : second < 400 ? 300 : lag + second - 400;
    const told = await playLags(4200, lagAt);
    assert.equal([...new Set(told.map((line) => line.split(":")[0]))], ["ok", "degraded"]);
  }
});

syncing("a node without peers that says that it is syncing has no peers", async () => {
  const { info, state } = playState({ height: 0, peers: 0, target: 100 });
  const { status, status_code, status_reason } = await info();
  assert.equal([status, status_code, status_reason], ["degraded", "no_peers", "has no peers"]);
  state.peers = 3;
  assert.is((await playState(state).info()).status_code, "syncing");
});

syncing("a node that syncs without progress for stalled_after is stalled", async () => {
  const options = { info: { stalled_after: "10m" } } as const;
  const { info, pass, state } = playState({ height: 5, peers: 5, target: 100 }, options);
  assert.is((await info()).status, "syncing");
  pass(599_000);
  assert.is((await info()).status, "syncing");
  pass(2000);
  const { status, status_code, status_reason } = await info();
  assert.equal([status, status_code, status_reason], [
    "degraded",
    "stalled",
    "is syncing without progress for 10 min 1 s",
  ]);
  state.height = 6;
  pass(1000);
  assert.is((await info()).status, "syncing");
});

syncing("a kind may know of stages of a sync in which nothing moves for long", async () => {
  const kinds = { mine: { ...KIND, health: { ...KIND.health, sync_pause: "24h" } } } as const;
  const { info, pass } = playState({ height: 5, peers: 5, target: 100 }, { kinds });
  assert.is((await info()).status, "syncing");
  pass(23 * 3_600_000);
  assert.is((await info()).status, "syncing");
  pass(2 * 3_600_000);
  assert.is((await info()).status_code, "stalled");
});

syncing("a node without blocks whose headers do not move is stalled after a day", async () => {
  const rules = [{
    when: { "state#/height": null },
    code: "syncing",
    reason: "has {state#/headers} headers",
  }] as const;
  const kinds = { mine: { ...KIND, health: { ...KIND.health, rules } } };
  const { info, pass, state } = playState({ headers: 1, peers: 5 }, { kinds });
  for (let headers = 1; headers <= 3; headers++) {
    state.headers = headers;
    assert.is((await info()).status_code, "syncing");
    pass(23 * 3_600_000);
  }
  assert.is((await info()).status_code, "syncing");
  pass(2 * 3_600_000);
  assert.is((await info()).status_code, "stalled");
});

syncing("a progress that falls is no progress", async () => {
  const options = { info: { stalled_after: "10m" } } as const;
  const { info, pass, state } = playState(
    { height: 0, peers: 5, target: 100, progress: 1e-5 },
    options,
  );
  for (let minute = 0; minute <= 10; minute++) {
    assert.is((await info()).status, "syncing", `minute ${minute}`);
    pass(60_000);
    state.progress = Number(state.progress) * 0.999;
  }
  assert.is((await info()).status_code, "stalled");
});

syncing("neither a clock nor a target that moves by itself is progress", async () => {
  const options = { info: { stalled_after: "10m" } } as const;
  const highest = "state#/sync/highest";
  const cases = [
    [{ synced: { from: "state#/catchup", as: "not" } }, {}],
    [{ synced: { from: "state#/sync", as: "not" } }, { target: highest }],
    [{ synced: { from: "state#/sync", as: "not" } }, { sync_ignores: [highest] }],
  ] as const;
  for (const [more, health] of cases) {
    const fields = { ...KIND.fields, ...more };
    const kinds = { mine: { ...KIND, fields, health: { ...KIND.health, ...health } } };
    const { info, pass, state } = playState({ height: 5, peers: 5 }, { kinds, ...options });
    for (let minute = 0; minute <= 10; minute++) {
      Object.assign(state, { catchup: 1e9 + minute, sync: { current: 5, highest: 100 + minute } });
      assert.is((await info()).status, "syncing", `minute ${minute}`);
      pass(60_000);
    }
    assert.is((await info()).status_code, "stalled");
    Object.assign(state, { sync: { current: 5, highest: 110, healed: 1 } });
    pass(1000);
    assert.is((await info()).status, more.synced.from === "state#/sync" ? "syncing" : "degraded");
  }
});

syncing(
  "without stalled_after, a node that syncs may rest for an hour, or as long as its network",
  async () => {
    // Some stages of a sync take far longer than a block.
    for (
      const networks of [{ "*": { quiet: "1h" } }, { "*": { quiet: "10m" } }, undefined] as const
    ) {
      const health = { ...KIND.health, networks };
      const kinds = { mine: { ...KIND, health } };
      const { info, pass } = playState({ height: 5, peers: 5, target: 100 }, { kinds });
      await info();
      pass(3_599_000);
      assert.is((await info()).status, "syncing");
      pass(2000);
      assert.is((await info()).status_code, "stalled");
    }
  },
);

syncing("a node that has the head but has not finished is given no time", async () => {
  const kinds = { mine: { ...KIND, fields: { ...KIND.fields, synced: "state#/synced" as const } } };
  const { info, pass, state, held } = playState({ peers: 5, synced: false }, { kinds });
  for (let minute = 0; minute <= 10; minute++) {
    const height = 90_000 + 5 * minute;
    Object.assign(state, { height, target: height - 1, head: held.date / 1000 });
    await info();
    pass(60_000);
  }
  const { status, status_reason, seconds_left, blocks_per_second } = await info();
  assert.equal([status, seconds_left, blocks_per_second], ["syncing", undefined, undefined]);
  assert.match(status_reason as string, "has the latest blocks, but has not finished");
  state.target = 200_000;
  pass(60_000);
  assert.match((await info()).status_reason as string, "blocks behind");
});

/** The ways in which nodes report how far they are, for a node with 10,000 blocks to come. */
const WAYS: Readonly<Record<string, (height: number, date: number) => JsonObject>> = {
  "by the height of its peers": (height) => ({ target: 11_000, progress: height / 11_000 }),
  "by a height alone": () => ({ target: 11_000 }),
  "by its own progress alone": (height) => ({ progress: height / 11_000, synced: false }),
  "by the number of missing blocks": (height) => ({ behind: 11_000 - height, synced: false }),
  "by the time of its latest block": (height, date) => ({
    head: new Date(date - (11_000 - height) * 12_000).toISOString(),
    synced: false,
  }),
};

syncing("a node that syncs tells its progress, its speed and the time that is left", async () => {
  const kind: Kind = {
    ...KIND,
    fields: { ...KIND.fields, synced: "state#/synced" },
    health: { ok: "it responds", target: "state#/target", behind: "state#/behind", complete: 1 },
  };
  for (const [way, report] of Object.entries(WAYS)) {
    const { info, pass, held, state } = playState({ peers: 5 }, { kinds: { mine: kind } });
    let before = 0;
    for (let second = 0; second <= 480; second += 4) {
      // Ten blocks a second, in bursts.
      const height = 1000 + 10 * second + (second % 8);
      Object.assign(state, { height }, report(height, held.date));
      const { status, progress: told, blocks_per_second, seconds_left } = await info();
      assert.is(status, "syncing", way);
      const progress = Number(told ?? 0);
      assert.ok(progress >= before && progress < 1, `${way}: ${progress} after ${before}`);
      before = progress;
      if (second < 56) assert.equal([blocks_per_second, seconds_left], [undefined, undefined], way);
      if (second < 64) {
        pass(4000);
        continue;
      }
      const left = (11_000 - height) / 10;
      assert.ok(Number(seconds_left) > left / 2, `${way}: ${seconds_left} s left, not ${left}`);
      assert.ok(Number(seconds_left) < left * 2, `${way}: ${seconds_left} s left, not ${left}`);
      assert.ok(Math.abs(Number(blocks_per_second) - 10) < 1, `${way}: ${blocks_per_second}`);
      pass(4000);
    }
    assert.ok(before > 0.4, way);
    Object.assign(state, { height: 11_000, synced: true, progress: 1, behind: 0 });
    pass(4000);
    const { status, seconds_left } = await info();
    assert.equal([status, seconds_left], ["ok", undefined], way);
  }
});

syncing("the estimate outlasts a reorganization and a step of the wall clock", async () => {
  const kind: Kind = { ...KIND, fields: { ...KIND.fields, synced: "state#/synced" } };
  const { info, pass, held, state } = playState({ peers: 5, synced: false }, {
    kinds: { mine: kind },
  });
  const start = held.date;
  for (let second = 0; second <= 100; second += 4) {
    if (second === 80) held.date += 60_000;
    const isReorganized = second === 72;
    const height = isReorganized ? Number(state.height) - 50 : 1000 + 10 * second;
    const head = new Date(start - 1e7 + height * 1000).toISOString();
    Object.assign(state, { height, head });
    const { blocks_per_second, seconds_left } = await info();
    pass(4000);
    if (second < 64) continue;
    // The node catches up by nine seconds in each second.
    const left = (held.date - Date.parse(head)) / 1000 / 9;
    const factor = Number(seconds_left) / left;
    assert.ok(factor > 0.5 && factor < 2, `${seconds_left} s left, not ${left}, at ${second} s`);
    assert.ok(Math.abs(Number(blocks_per_second) - 10) < 2, `${blocks_per_second}`);
  }
});

syncing("after a sleep, the time left is estimated anew", async () => {
  const { info, pass, held, state } = playState({ peers: 5, target: 100_000 });
  const told = async (height: number) => {
    state.height = height;
    const { status, blocks_per_second, seconds_left } = await info();
    assert.is(status, "syncing");
    pass(4000);
    return [blocks_per_second, seconds_left !== undefined];
  };
  let height = 1000;
  for (let second = 0; second < 120; second += 4) await told(height += 40);
  assert.equal(await told(height += 40), [10, true]);
  held.date += 8 * 3_600_000;
  held.slept += 8 * 3_600_000;
  assert.equal(await told(height += 40), [undefined, false]);
  for (let second = 0; second < 60; second += 4) await told(height += 40);
  assert.equal(await told(height += 40), [10, true]);
});

syncing("a node whose height is not known is not said to be in sync", async () => {
  const { info, state } = playState({ software: "x", peers: 5, target: 1000 });
  assert.equal(await info(), { software: "x", peers: 5, status: "ok" });
  state.height = 1000;
  assert.is((await playState(state).info()).synced, true);
});

syncing.run();
