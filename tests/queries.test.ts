import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { PollResult } from "../src/info/node-reader.ts";
import { Poller } from "../src/info/poller.ts";
import { KIND, playState } from "./_state.ts";

const queries = suite("queries over time");

queries(
  "a source may need a value that another one has just got, from the first poll",
  async () => {
    const sources = { more: { get: "state#/next" as const } };
    const fields = { extra: "more#/extra" as const };
    const { info } = playState({ next: "/more", extra: 7 }, { info: { sources, fields } });
    assert.is((await info()).extra, 7);
  },
);

queries("what a suspended service missed is neither a timeout nor a response", async () => {
  const { info, pass, held, state, said } = playState({ height: 1, peers: 5 });
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

queries(
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

queries("the result of a background query is not cached for later requests", async () => {
  const { info, pass, held, monitor, state } = playState({ height: 1 });
  await info();
  pass(30_000);
  await monitor.poll();
  const { asked } = held;
  state.height = 2;
  pass(20_000);
  assert.is((await monitor.snapshot()).info.height, 2);
  assert.is(held.asked, asked + 1);
});

queries("background queries ask slow-changing sources and programs less often", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  const file = join(folder, "runs");
  const asked: string[] = [];
  const { monitor, pass } = playState({}, {
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

queries(
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
      const { info } = playState({}, { fetch, kinds });
      const { status, peers, height } = await info();
      assert.equal([status, peers, height], [optional ? "ok" : "degraded", undefined, 1]);
    }
  },
);

queries("an operator's source at the node keeps its ttl unless the node was away", async () => {
  let [asked, status] = [0, 200];
  const { info, pass, held } = playState({}, {
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

queries.run();
