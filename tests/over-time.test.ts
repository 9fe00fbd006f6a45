import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../src/index.ts";
import { KINDS } from "../src/generated/kinds.js";
import { parseJson } from "../src/json/lossless.ts";
import type { JsonObject } from "../src/json/values.ts";
import { NodeMemory } from "../src/info/node-memory.ts";
import type { PollResult } from "../src/info/node-reader.ts";
import { Poller } from "../src/info/poller.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { ask } from "./_app.ts";
import { until } from "./_gateway.ts";
import { type SceneOptions, setScene } from "./_scene.ts";
import { play as playNode } from "./_sources.ts";
import { play, RECORDINGS } from "./nodes/_recorded.ts";

const overTime = suite("a node over time");

const KIND: Kind = {
  title: "A node",
  url: "http://127.0.0.1:1",
  detect: { "state#/is": "^node$" },
  sources: { state: { get: "/state" } },
  fields: {
    software: "state#/software",
    chain_id: "state#/chain",
    network: "state#/network",
    height: "state#/height",
    peers: "state#/peers",
    head_at: { from: "state#/head", as: "time" },
    progress: "state#/progress",
  },
  health: {
    ok: "it responds",
    networks: { "*": { peers: 3, quiet: "1h" } },
    complete: 1,
    target: "state#/target",
  },
};

function play1(state: JsonObject, options: Partial<SceneOptions> = {}) {
  const fetch = () =>
    Promise.resolve(
      new Response(JSON.stringify(state, (_, v) => typeof v === "bigint" ? String(v) : v)),
    );
  const node = { kind: "mine" };
  return { state, ...setScene({ fetch, kinds: { mine: KIND }, node, ...options }) };
}

const readHistory = async ({ history }: { history: ReturnType<typeof setScene>["history"] }) => {
  const { body } = await history.get();
  return parseJson(new TextDecoder().decode(body)) as Record<string, unknown[]>;
};

overTime(
  "a source may need a value that another one has just got, from the first poll",
  async () => {
    const sources = { more: { get: "state#/next" as const } };
    const fields = { extra: "more#/extra" as const };
    const { info } = play1({ next: "/more", extra: 7 }, { info: { sources, fields } });
    assert.is((await info()).extra, 7);
  },
);

overTime("the history contains the samples in columns", async () => {
  const { info, pass, held, state, history } = play1({ height: 1, peers: 5 });
  const interval = 15_000;
  await info();
  pass(interval);
  Object.assign(state, { height: "36893488147419103232", peers: null });
  await info();
  held.failure = "ECONNREFUSED";
  pass(interval);
  await info();
  for (let i = 0; i < 6; i++) {
    pass(interval);
    await info();
  }
  const { interval: seconds, at, status, response_ms, height, peers, ...rest } = await readHistory({
    history,
  });
  assert.equal(rest, {});
  assert.is(seconds, 15);
  assert.is(at![0], "2026-01-02T00:00:00.000Z");
  assert.is(at![1], "2026-01-02T00:00:15.000Z");
  assert.equal(status!.slice(0, 3), ["ok", "ok", "stale"]);
  assert.is(status!.at(-1), "unreachable");
  assert.equal(height!.slice(0, 2), [1, 2n ** 65n]);
  assert.equal(peers!.slice(0, 2), [5, null]);
  assert.is(height!.at(-1), null);
  assert.ok(response_ms!.slice(0, 2).every((time) => typeof time === "number"));
  assert.is(response_ms!.at(-1), null);
  assert.ok([status, response_ms, height, peers].every((column) => column!.length === at!.length));
});

overTime(
  "the history has at most 240 samples from one hour, and a sample for each change of the status",
  async () => {
    const { info, pass, held, history } = play1({ height: 1 });
    for (let i = 0; i < 300; i++) {
      pass(5000);
      if (i === 298) held.failure = "ECONNREFUSED";
      await info();
    }
    const { at, status } = await readHistory({ history });
    assert.is(at!.length, 101);
    assert.equal(status!.slice(-2), ["ok", "stale"]);
    held.failure = undefined;
    for (let i = 0; i < 400; i++) {
      pass(15_000);
      await info();
    }
    assert.is((await readHistory({ history })).at!.length, 240);
    pass(3_600_001);
    await info();
    assert.is((await readHistory({ history })).at!.length, 1);
  },
);

overTime(
  "the history has no sample that is older than an hour, even if no query follows",
  async () => {
    const { info, pass, history } = play1({ height: 1 });
    await info();
    pass(15_000);
    await info();
    const { etag } = await history.get();
    pass(3_600_000);
    assert.equal((await readHistory({ history })).at, ["2026-01-02T00:00:15.000Z"]);
    assert.is.not((await history.get()).etag, etag);
  },
);

overTime("the response times in the history have at most two significant digits", async () => {
  const { info, pass, history } = play1({ height: 1 });
  for (let i = 0; i < 20; i++) {
    pass(15_000);
    await info();
  }
  for (const time of (await readHistory({ history })).response_ms!) {
    assert.match(String(time).replace(/[0.]*([1-9])/, "$1"), /^\d{1,2}(\.\d)?$|^\d{2}0*$/);
  }
});

overTime("the history has an ETag, and only the client may cache it", async () => {
  const response = await ask("/v1/history");
  assert.is(response.headers.get("cache-control"), "private, no-cache");
  const etag = response.headers.get("etag")!;
  const again = await ask("/v1/history", { headers: { "if-none-match": etag } });
  assert.is(again.status, 304);
  const off = createNodeface({ info: { history: "off" } });
  assert.is((await off.fetch(new Request("http://localhost/v1/history"))).status, 404);
});

overTime("a node without a new block for longer than stalled_after is stalled", async () => {
  const head = "2026-01-02T00:00:00Z";
  const { info, pass, state } = play1({ height: 1, peers: 5, head }, {
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

overTime("a node without block times is stalled if its height does not change", async () => {
  const { info, pass, state } = play1({ height: 1, peers: 5 }, { info: { stalled_after: "10m" } });
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
  overTime(`${name} without a new block for ten minutes is stalled, whatever it says`, async () => {
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

overTime("a label of the operator decides no rule, unless the node says nothing", async () => {
  const networks = { main: { name: "Main", peers: 3, quiet: "1h" } } as const;
  const kinds = { mine: { ...KIND, health: { ...KIND.health, networks } } };
  const state = { height: 1, peers: 0, network: "main" };
  const { info } = play1(state, { kinds, info: { static: { network: "Mainnet", peers: 9 } } });
  const { status_code, network, network_name } = await info();
  assert.equal([status_code, network, network_name], ["no_peers", "Mainnet", "Main"]);
  const silent = play1({ height: 1, peers: 0 }, { kinds, info: { static: { network: "main" } } });
  assert.is((await silent.info()).status_code, "no_peers");
});

overTime("a node whose clock is years ahead is stalled if its height does not change", async () => {
  const head = "2036-01-02T00:00:00Z";
  const { info, pass, state } = play1({ height: 1, peers: 5, head });
  await info();
  pass(3_599_000);
  assert.is((await info()).status, "ok");
  pass(2000);
  assert.is((await info()).status_reason, "no new block for 1 h");
  state.height = 2;
  pass(1000);
  assert.is((await info()).status, "ok");
});

overTime("a step of the wall clock stalls no node, and hides none that is stalled", async () => {
  for (const target of [undefined, 100]) {
    const options = { info: { stalled_after: "10m" } } as const;
    const { info, pass, held } = play1({ height: 1, peers: 5, target }, options);
    const { status } = await info();
    held.date += 3_600_000;
    pass(1000);
    assert.is((await info()).status, status);
    held.date -= 7_200_000;
    pass(600_000);
    assert.is((await info()).status_code, "stalled");
  }
});

overTime("a wall clock that is set back is no earlier start of the node", async () => {
  const started_at = { from: "state#/up", as: "uptime" } as const;
  const kind: Kind = { ...KIND, fields: { ...KIND.fields, started_at } };
  const { info, pass, held, said } = play1({ up: 1000, peers: 5 }, { kinds: { mine: kind } });
  await info();
  held.date -= 3_600_000;
  pass(1000);
  assert.is((await info()).started_at, "2026-01-01T22:43:21.000Z");
  assert.equal(said, []);
});

overTime(
  "without stalled_after, the kind and the network decide when a node is stalled",
  async () => {
    for (const head of [undefined, "2026-01-02T00:00:00Z"]) {
      const { info, pass } = play1({ height: 1, peers: 5, head });
      await info();
      pass(3_599_000);
      assert.is((await info()).status, "ok");
      pass(2000);
      assert.is((await info()).status_reason, "no new block for 1 h");
    }
    const kind = { ...KIND, health: { ...KIND.health, networks: {} } };
    const { info, pass } = play1({ height: 1, peers: 5 }, { kinds: { mine: kind } });
    await info();
    pass(24 * 3_600_000);
    assert.is((await info()).status, "ok");
  },
);

overTime("a node that no longer reports the time of its latest block is stalled", async () => {
  const { info, pass, state } = play1({ height: 1, peers: 5, head: "2026-01-02T00:00:00Z" });
  await info();
  pass(1_800_000);
  state.head = null;
  assert.is((await info()).status, "ok");
  pass(1_802_000);
  assert.is((await info()).status_code, "stalled");
});

overTime("a block whose time is reached later is no new block", async () => {
  const head = "2026-01-02T02:00:00Z";
  const { info, pass } = play1({ height: 1, peers: 5, head });
  await info();
  for (let minute = 0; minute < 240; minute += 10) {
    assert.is((await info()).status_code, minute > 60 ? "stalled" : undefined, `minute ${minute}`);
    pass(600_000);
  }
});

overTime("a reload of the configuration hides no node that is stalled", async () => {
  const memory = new NodeMemory();
  const options = { memory, info: { stalled_after: "10m" } } as const;
  for (const target of [undefined, 100]) {
    const state = { height: 1, peers: 5, target };
    const before = play1(state, options);
    await before.info();
    before.pass(590_000);
    await before.info();
    const after = play1(state, options);
    Object.assign(after.held, before.held);
    await after.info();
    after.pass(11_000);
    assert.is((await after.info()).status_code, "stalled");
  }
});

overTime("what a suspended service missed is neither a timeout nor a response", async () => {
  const { info, pass, held, state, said } = play1({ height: 1, peers: 5 });
  await info();
  const { fetch } = held;
  const suspend = (failure?: string): typeof fetch => async (...sent) => {
    const response = await fetch(...sent);
    held.fetch = fetch;
    pass(30_000);
    state.height = Number(state.height) + 1;
    if (failure) throw Object.assign(new TypeError("x"), { cause: { code: failure } });
    return response;
  };
  for (const failure of [undefined, "ETIMEDOUT"]) {
    held.fetch = suspend(failure);
    pass(5000);
    const { status, height } = await info();
    assert.equal([status, height], ["ok", state.height]);
  }
  assert.equal(said, []);
});

overTime(
  "whoever waits for a poll that begins anew after a suspension waits for its end",
  async () => {
    let time = 0;
    const ends: ((result: PollResult) => void)[] = [];
    const poll = () => new Promise<PollResult>((resolve) => ends.push(resolve));
    const poller = new Poller(poll, { ttl: 1000, now: () => time });
    poller.startIfDue();
    time = 9990;
    const overdueSince = poller.ended(10_000);
    time = 30_000;
    ends[0]!("suspended");
    await new Promise((resolve) => setTimeout(resolve, 30));
    ends[1]!("responded");
    assert.is(await overdueSince, undefined);
  },
);

/** Plays a node whose latest block is as old as `lagAt` says, for as many seconds. */
async function play2(
  seconds: number,
  lagAt: (second: number) => number,
  options: Partial<SceneOptions> = {},
) {
  const { info, pass, held, state } = play1({ height: 1000, peers: 5 }, options);
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

overTime("a node that catches up is syncing, even if it says that it is in sync", async () => {
  // It is two hours behind, and gains ten seconds in each second.
  const told = await play2(800, (second) => Math.max(7200 - 10 * second, 5));
  assert.is(told[0], "degraded: no new block for TIME ");
  const isSyncing = (line: string) =>
    line === "syncing: is catching up; its latest block is TIME old";
  assert.equal([...new Set(told.slice(2, 36))].map(isSyncing), [true]);
  assert.equal([...new Set(told.slice(37))], ["ok: "]);
});

overTime(
  "a node that takes the place of one in sync unseen, and catches up, is syncing",
  async () => {
    // A balancer switches after ten minutes to a node that is five hours behind.
    const lagAt = (second: number) => second < 600 ? 5 : 18_000 - 10 * (second - 600);
    const told = await play2(1500, lagAt);
    assert.equal([...new Set(told.slice(0, 60))], ["ok: "]);
    assert.equal([...new Set(told.slice(95))], [
      "syncing: is catching up; its latest block is TIME old",
    ]);
  },
);

overTime("a node that falls behind is stalled, and so is one that keeps its distance", async () => {
  const reason = "its latest block is TIME old, although new ones arrive";
  for (const lagAt of [() => 7200, (second: number) => 7200 + second / 2]) {
    const told = await play2(800, lagAt);
    assert.equal([...new Set(told.slice(1))], [`degraded: ${reason}`]);
  }
  // Two nodes behind one address have stopped at different blocks.
  const told = await play2(7200, (second) => 7200 + second - (second % 20) * 60);
  assert.equal([...new Set(told.slice(-300))], [`degraded: ${reason}`]);
});

overTime(
  "two nodes behind one address that stand still at different heights are stalled",
  async () => {
    const options = { info: { stalled_after: "10m" } } as const;
    for (const [target, minutes] of [[undefined, 1], [1000, 1], [1000, 10]] as const) {
      const { info, pass, state } = play1({ height: 100, peers: 5, target }, options);
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

overTime("a node that stops catching up is stalled", async () => {
  const told = await play2(8000, (second) => 20_000 - 10 * Math.min(second, 400) + second);
  assert.match(told[40]!, /^syncing/);
  assert.is(told.at(-1), "degraded: its latest block is TIME old, although new ones arrive");
});

overTime("a node in sync that stops is stalled, however late its last blocks were", async () => {
  // After a block that was 15 minutes late and one that was five, it stops, or a balancer switches
  // to a node that stopped five hours ago.
  for (const lag of [300, 18_000]) {
    const lagAt = (second: number) => second < 200 ? 900 : second < 400 ? 300 : lag + second - 400;
    const told = await play2(4200, lagAt);
    assert.equal([...new Set(told.map((line) => line.split(":")[0]))], ["ok", "degraded"]);
  }
});

overTime("a machine that sleeps, or sets its clock forward, sees no node stall", async () => {
  const options = { info: { stalled_after: "10m" } } as const;
  for (const target of [undefined, 100]) {
    const { info, pass, held } = play1({ height: 1, peers: 5, target }, options);
    const { status } = await info();
    held.date += 8 * 3_600_000;
    held.slept += 8 * 3_600_000;
    pass(1000);
    assert.is((await info()).status, status);
    pass(600_000);
    assert.is((await info()).status_code, "stalled");
  }
});

overTime("a node without peers that says that it is syncing has no peers", async () => {
  const { info, state } = play1({ height: 0, peers: 0, target: 100 });
  const { status, status_code, status_reason } = await info();
  assert.equal([status, status_code, status_reason], ["degraded", "no_peers", "has no peers"]);
  state.peers = 3;
  assert.is((await play1(state).info()).status_code, "syncing");
});

overTime("a node that syncs without progress for stalled_after is stalled", async () => {
  const options = { info: { stalled_after: "10m" } } as const;
  const { info, pass, state } = play1({ height: 5, peers: 5, target: 100 }, options);
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

overTime("a kind may know of stages of a sync in which nothing moves for long", async () => {
  const kinds = { mine: { ...KIND, health: { ...KIND.health, sync_pause: "24h" } } } as const;
  const { info, pass } = play1({ height: 5, peers: 5, target: 100 }, { kinds });
  assert.is((await info()).status, "syncing");
  pass(23 * 3_600_000);
  assert.is((await info()).status, "syncing");
  pass(2 * 3_600_000);
  assert.is((await info()).status_code, "stalled");
});

overTime("a node without blocks whose headers do not move is stalled after a day", async () => {
  const rules = [{
    when: { "state#/height": null },
    code: "syncing",
    reason: "has {state#/headers} headers",
  }] as const;
  const kinds = { mine: { ...KIND, health: { ...KIND.health, rules } } };
  const { info, pass, state } = play1({ headers: 1, peers: 5 }, { kinds });
  for (let headers = 1; headers <= 3; headers++) {
    state.headers = headers;
    assert.is((await info()).status_code, "syncing");
    pass(23 * 3_600_000);
  }
  assert.is((await info()).status_code, "syncing");
  pass(2 * 3_600_000);
  assert.is((await info()).status_code, "stalled");
});

overTime(
  "what holds for a software on any network comes before what holds for a chain",
  async () => {
    const networks = { "anvil *": { private: true }, "1": { quiet: "10m" } } as const;
    const kinds = { mine: { ...KIND, health: { ...KIND.health, networks } } };
    for (const [software, code] of [["anvil", undefined], ["geth", "stalled"]]) {
      const { info, pass } = play1({ software, chain: 1, height: 5, peers: 5 }, { kinds });
      await info();
      pass(660_000);
      assert.is((await info()).status_code, code, software);
    }
  },
);

overTime("with stalled_after: off, a node is never stalled", async () => {
  const options = { info: { stalled_after: "off" } } as const;
  for (const target of [undefined, 100]) {
    const { info, pass } = play1({ height: 1, peers: 5, target }, options);
    const { status } = await info();
    pass(200 * 3_600_000);
    assert.is((await info()).status, status);
  }
});

overTime("a progress that falls is no progress", async () => {
  const options = { info: { stalled_after: "10m" } } as const;
  const { info, pass, state } = play1(
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

overTime("neither a clock nor a target that moves by itself is progress", async () => {
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
    const { info, pass, state } = play1({ height: 5, peers: 5 }, { kinds, ...options });
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

overTime(
  "without stalled_after, a node that syncs may rest for an hour, or as long as its network",
  async () => {
    // Some stages of a sync take far longer than a block.
    for (
      const networks of [{ "*": { quiet: "1h" } }, { "*": { quiet: "10m" } }, undefined] as const
    ) {
      const health = { ...KIND.health, networks };
      const kinds = { mine: { ...KIND, health } };
      const { info, pass } = play1({ height: 5, peers: 5, target: 100 }, { kinds });
      await info();
      pass(3_599_000);
      assert.is((await info()).status, "syncing");
      pass(2000);
      assert.is((await info()).status_code, "stalled");
    }
  },
);

overTime("a node that has the head but has not finished is given no time", async () => {
  const kinds = { mine: { ...KIND, fields: { ...KIND.fields, synced: "state#/synced" as const } } };
  const { info, pass, state, held } = play1({ peers: 5, synced: false }, { kinds });
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

overTime("a node that syncs tells its progress, its speed and the time that is left", async () => {
  const kind: Kind = {
    ...KIND,
    fields: { ...KIND.fields, synced: "state#/synced" },
    health: { ok: "it responds", target: "state#/target", behind: "state#/behind", complete: 1 },
  };
  for (const [way, report] of Object.entries(WAYS)) {
    const { info, pass, held, state } = play1({ peers: 5 }, { kinds: { mine: kind } });
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

overTime("the estimate outlasts a reorganization and a step of the wall clock", async () => {
  const kind: Kind = { ...KIND, fields: { ...KIND.fields, synced: "state#/synced" } };
  const { info, pass, held, state } = play1({ peers: 5, synced: false }, { kinds: { mine: kind } });
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

overTime("after a sleep, the time left is estimated anew", async () => {
  const { info, pass, held, state } = play1({ peers: 5, target: 100_000 });
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

overTime("a node whose height is not known is not said to be in sync", async () => {
  const { info, state } = play1({ software: "x", peers: 5, target: 1000 });
  assert.equal(await info(), { software: "x", peers: 5, status: "ok" });
  state.height = 1000;
  assert.is((await play1(state).info()).synced, true);
});

overTime("a hidden height cannot be computed from an estimate", async () => {
  const { info } = play1({ height: 500, peers: 5, target: 1000 }, { info: { hide: ["height"] } });
  assert.equal(await info(), {
    peers: 5,
    synced: false,
    status: "syncing",
    status_code: "syncing",
    status_reason: "is catching up with its network",
  });
});

overTime("a well-known network has a name", async () => {
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

overTime("if the node changes to another chain, the change is logged and counted", async () => {
  const { info, pass, state, said, changes } = play1({ chain: 31337, network: "a", peers: 5 });
  await info();
  Object.assign(state, { chain: 31338, network: "b\u0000\u202e" });
  pass(1000);
  await info();
  assert.equal(said, [
    'warn: node http://node.example is on another chain now: chain_id 31338, was 31337; network "b\\u0000\\u202e", was a',
  ]);
  assert.is(changes(), 1);
});

overTime("a change of the version is logged, and not that of a hidden one", async () => {
  for (const hide of [[], ["software"]]) {
    const { info, pass, state, said } = play1({ software: "anvil", peers: 5 }, { info: { hide } });
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

overTime("a change of chain is logged in one short line", async () => {
  const { info, pass, state, said } = play1({ chain: "a".repeat(300) });
  await info();
  state.chain = "b".repeat(300);
  pass(1000);
  await info();
  assert.match(said.join(), /chain_id "?b{20,60}…"?, was "?a{20,60}…"?$/);
});

overTime("a hidden value appears in no response", async () => {
  const state: JsonObject = {
    ...{ is: "node", software: "softwarely", chain: "chainly-1", network: "networkly" },
    ...{ height: 7654321987, peers: 31415926, progress: 0.7654321, target: 7654322000 },
    head: "2026-11-20T07:08:09Z",
  };
  const shown: Record<string, RegExp> = {
    ...{ software: /softwarely/, chain_id: /chainly-1/, network: /networkly/ },
    ...{ height: /7654321987|7[ ,.\u202f]654[ ,.\u202f]321[ ,.\u202f]987/ },
    ...{ peers: /31415926|31[ ,.\u202f]415[ ,.\u202f]926/, progress: /\b76\.5|\b0\.7654321/ },
    head_at: /07:08:09/,
  };
  const everything = async (hide: string[]) => {
    const node = await playNode((_, response) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify(state));
    });
    const app = createNodeface({
      ...{ node: { url: node.url, kind: "mine" }, kinds: { mine: KIND }, info: { hide } },
      ...{ metrics: true, log: () => {} },
    });
    await app.refresh();
    const readInfo = async () =>
      await (await app.fetch(new Request("http://localhost/v1/info"))).json();
    // A busy machine may be too slow for the first query.
    await until(async () => (await readInfo()).status === "syncing");
    const paths = ["/v1/info", "/v1/health", "/v1/history", "/v1/metrics", "/v1/spec", "/spec.json"]
      .concat("/v1/spec/simple", "/spec.yaml", "/v1/events");
    const texts = paths.map(async (path) => {
      const response = await app.fetch(new Request(`http://localhost${path}`));
      if (path !== "/v1/events") return `${path} ${await response.text()}`;
      const reader = response.body!.getReader();
      await reader.read();
      const { value } = await reader.read();
      await reader.cancel();
      return `${path} ${new TextDecoder().decode(value)}`;
    });
    const served = await Promise.all(texts);
    await app.close();
    await node.close();
    return served;
  };
  const open = await everything([]);
  for (const [key, value] of Object.entries(shown)) {
    assert.ok(
      open.filter((text) => value.test(text)).length >= 2,
      `${key} is not served although it is not hidden`,
    );
    for (const text of await everything([key])) {
      const at = value.exec(text);
      assert.not.ok(
        at,
        `${key}: ${text.slice(0, 20)} … ${
          text.slice((at?.index ?? 0) - 40, (at?.index ?? 0) + 40)
        }`,
      );
    }
  }
});

overTime("a change of chain is logged without hidden values", async () => {
  const { info, pass, state, said } = play1({ chain: 31337 }, { info: { hide: ["chain_id"] } });
  await info();
  state.chain = 31338;
  pass(1000);
  await info();
  assert.equal(said, ["warn: node http://node.example is on another chain now"]);
});

overTime("after many changes of chain in an hour, a line says that they continue", async () => {
  const { info, pass, state, said, changes } = play1({ chain: 0, peers: 5 });
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

overTime(
  "last_seen describes the last node that responded",
  async () => {
    const long = "x".repeat(300);
    const { info, pass, state, held } = play1({ software: long, chain: 1, height: 7, peers: 5 });
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

overTime("the texts in last_seen are truncated", async () => {
  const { info, pass, held } = play1({ software: "x".repeat(300), chain: "y".repeat(300) });
  await info();
  held.failure = "ECONNREFUSED";
  pass(61_000);
  await info();
  pass(61_000);
  const { software, chain_id } = (await info()).last_seen as Record<string, string>;
  assert.ok(software!.length <= 100 && chain_id!.length <= 100);
});

overTime("the result of a background query is not cached for later requests", async () => {
  const { info, pass, held, monitor, state } = play1({ height: 1 });
  await info();
  pass(30_000);
  await monitor.poll();
  const { asked } = held;
  state.height = 2;
  pass(20_000);
  assert.is((await monitor.snapshot()).info.height, 2);
  assert.is(held.asked, asked + 1);
});

overTime("background queries ask slow-changing sources and programs less often", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  const file = join(folder, "runs");
  const asked: string[] = [];
  const { monitor, pass } = play1({}, {
    fetch: (input) => {
      asked.push(new URL(String(input)).pathname);
      return Promise.resolve(new Response('{"height":1}'));
    },
    kinds: {
      mine: {
        ...KIND,
        sources: { ...KIND.sources, genesis: { get: "/genesis", ttl: "1h" } },
        fields: { ...KIND.fields, id: "genesis#/height" },
      },
    },
    info: {
      sources: { disk: { command: ["sh", "-c", `echo run >> ${file}; echo 7`] } },
      fields: { free: "disk#" },
    },
  });
  for (let i = 0; i < 10; i++) {
    await monitor.poll();
    // `poll` has just polled the node, so `inspect` only waits for the program that `poll`
    // started.
    const { info } = await monitor.inspect();
    assert.is(String(info.free), "7");
    assert.is(info.updated_at, undefined, "a value is not old until the program is due");
    pass(20_000);
  }
  const runs = readFileSync(file, "utf8").trim().split("\n").length;
  rmSync(folder, { recursive: true });
  const count = (path: string) => asked.filter((each) => each === path).length;
  assert.equal([count("/state"), count("/genesis"), runs], [10, 1, 5]);
});

overTime("hidden values appear nowhere, whatever the status of the node is", async () => {
  for (const [name, recording] of RECORDINGS) {
    const { sources: _, fields } = KINDS[recording.kind]!;
    const open = setScene({ fetch: play(recording), node: { kind: recording.kind } });
    open.held.date = Date.parse(recording.now ?? "2026-11-21T10:00:00Z");
    const all = await open.info();
    for (const key of [...Object.keys(fields), "peers", "height", "head_at"]) {
      const value = all[key];
      if (typeof value !== "string" && typeof value !== "number") continue;
      const text = String(value);
      // A short value is skipped, because the same text might occur elsewhere by chance.
      if (text.length < 5) continue;
      const scene = setScene({
        fetch: play(recording),
        node: { kind: recording.kind },
        info: { hide: [key] },
      });
      scene.held.date = open.held.date;
      const said: string[] = [];
      const others = { ...all };
      delete others[key];
      if (JSON.stringify(others).includes(text)) continue;
      said.push(JSON.stringify(await scene.info(), (_, v) => typeof v === "bigint" ? `${v}` : v));
      scene.held.failure = "ECONNREFUSED";
      for (const time of [1000, 61_000, 61_000]) {
        scene.pass(time);
        const shown = await scene.info();
        said.push(JSON.stringify(shown, (_, v) => typeof v === "bigint" ? `${v}` : v));
      }
      said.push(JSON.stringify(await readHistory(scene), (_, v) => String(v)), ...scene.said);
      for (const line of said) assert.not.ok(line.includes(text), `${name} ${key}: ${line}`);
    }
  }
});

overTime("if any value is hidden, the log does not say what identified the kind", async () => {
  const recorded = RECORDINGS.get("geth") ??
    [...RECORDINGS.values()].find(({ kind }) => kind === "ethereum")!;
  const linesWith = async (hide: string[]) => {
    const scene = setScene({ fetch: play(recorded), node: {}, info: { hide } });
    await scene.info();
    return scene.said.filter((line) => line.includes("of the kind ethereum"));
  };
  assert.match((await linesWith([])).join(), /of the kind ethereum: chain# is "0x/);
  assert.match((await linesWith(["chain_id"])).join(), /of the kind ethereum$/);
});

overTime("an error text from the node is not shown if any value is hidden", async () => {
  const error = { code: 1, message: "chain 31337" };
  const reasonWith = async (hide: string[]) => {
    const source = { jsonrpc: "state" };
    const { info } = play1({}, {
      fetch: async (_, init) => {
        const { id } = JSON.parse(String(await new Response(init?.body).text()));
        return Response.json({ jsonrpc: "2.0", id, error });
      },
      kinds: { mine: { ...KIND, sources: { state: source } } },
      info: { hide },
    });
    return String((await info()).status_reason);
  };
  assert.match(await reasonWith([]), "31337");
  assert.is(await reasonWith(["chain_id"]), "responds with something unexpected");
});

overTime(
  "after a change of chain, last_seen does not describe the node before the change",
  async () => {
    const { info, pass, state, held } = play1({ software: "a", chain: 1 }, {
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

overTime(
  "a list that is too long to be read is no fault of the node, if it is optional",
  async () => {
    const sources = (optional: true | undefined) => ({
      ...KIND.sources,
      list: { get: "/list", ...optional && { optional } } as const,
    });
    const fields = { ...KIND.fields, peers: { from: "list#", as: "count" } } as const;
    const state = { height: 1, peers: 5 };
    const fetch = (input: unknown) =>
      Promise.resolve(Response.json(String(input).endsWith("/list") ? "x".repeat(2 ** 20) : state));
    for (const optional of [true, undefined] as const) {
      const kinds = { mine: { ...KIND, sources: sources(optional), fields } };
      const { info } = play1({}, { fetch, kinds });
      const { status, peers, height } = await info();
      assert.equal([status, peers, height], [optional ? "ok" : "degraded", undefined, 1]);
    }
  },
);

overTime("a short outage stays in the history after the node has recovered", async () => {
  const { info, pass, held, history } = play1({ height: 1 });
  for (let second = 0; second < 60; second += 2) {
    held.failure = second === 20 || second === 22 ? "ECONNREFUSED" : undefined;
    pass(2000);
    await info();
  }
  const { status } = await readHistory({ history });
  assert.equal(status, ["ok", "ok", "stale", "ok", "ok", "ok"]);
});

overTime("a status that keeps changing shortens the history to a third at most", async () => {
  const { info, pass, held, history } = play1({ height: 1 });
  for (let i = 0; i < 1800; i++) {
    held.failure = i % 4 < 2 ? undefined : "ECONNREFUSED";
    pass(2000);
    await info();
  }
  const at = (await readHistory({ history })).at!.map((time) => Date.parse(String(time)));
  assert.ok(at.at(-1)! - at[0]! >= 1_150_000);
});

overTime("a reason that would contain a hidden value is shown in a general form", async () => {
  const cases: [JsonObject, string, string][] = [
    [{ height: 1, peers: 2 }, "peers", "has too few peers"],
    [{ height: 1, peers: 5, target: 1000 }, "height", "is catching up with its network"],
    [{ height: 1, peers: 5, progress: 0.4 }, "progress", "is catching up with its network"],
    [
      { height: 1, peers: 5, head: "2026-01-01T00:00:00Z" },
      "head_at",
      "has had no new block for too long",
    ],
  ];
  for (const [state, key, reason] of cases) {
    const shown = await play1(state).info();
    assert.match(String(shown.status_reason), /\d/);
    const hidden = await play1(state, { info: { hide: [key] } }).info();
    assert.is(hidden.status_reason, reason);
    assert.is(hidden.status_code, shown.status_code);
  }
});

overTime("an operator's source at the node keeps its ttl unless the node was away", async () => {
  let [asked, status] = [0, 200];
  const { info, pass, held } = play1({}, {
    fetch: (input) => {
      const isFee = String(input).endsWith("/fee");
      if (isFee) asked++;
      return Promise.resolve(new Response('{"height":1}', { status: isFee ? status : 200 }));
    },
    info: { sources: { fee: { get: "/fee", ttl: "1h" } }, fields: { fee: "fee#/height" } },
  });
  const after = async (time: number) => {
    pass(time);
    const { fee } = await info();
    return [asked, fee];
  };
  assert.equal(await after(0), [1, 1]);
  assert.equal(await after(60_000), [1, 1], "after a pause");
  held.failure = "ECONNREFUSED";
  assert.equal(await after(1_800_000), [1, undefined], "while the node is away");
  held.failure = undefined;
  assert.equal(await after(1000), [2, 1], "when the node is back");
  status = 500;
  assert.equal(await after(3_600_000), [3, undefined]);
  for (let second = 1; second < 60; second++) assert.is((await after(1000))[0], 3);
  assert.is((await after(1000))[0], 4, "a minute after its failure");
});

overTime(
  "old values say of synchronization what was last judged, not what the node claims",
  async () => {
    const fields = { ...KIND.fields, synced: "state#/synced" as const };
    const kinds = { mine: { ...KIND, fields } };
    const given = { software: "a", synced: true, height: 5, peers: 9, progress: 1 };
    const behind = play1({ ...given, target: 50 }, { kinds });
    const alone = play1({ ...given, peers: 0 }, { kinds });
    const well = play1(given, { kinds });
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

overTime.run();
