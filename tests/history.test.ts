import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../src/index.ts";
import { ask } from "./_app.ts";
import { playState, readHistory } from "./_state.ts";

const histories = suite("the history");

histories("the history contains the samples in columns", async () => {
  const { info, pass, held, state, history } = playState({ height: 1, peers: 5 });
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

histories(
  "the history has at most 240 samples from one hour, and a sample for each change of the status",
  async () => {
    const { info, pass, held, history } = playState({ height: 1 });
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

histories(
  "the history has no sample that is older than an hour, even if no query follows",
  async () => {
    const { info, pass, history } = playState({ height: 1 });
    await info();
    pass(15_000);
    await info();
    const { etag } = await history.get();
    pass(3_600_000);
    assert.equal((await readHistory({ history })).at, ["2026-01-02T00:00:15.000Z"]);
    assert.is.not((await history.get()).etag, etag);
  },
);

histories("the response times in the history have at most two significant digits", async () => {
  const { info, pass, history } = playState({ height: 1 });
  for (let i = 0; i < 20; i++) {
    pass(15_000);
    await info();
  }
  for (const time of (await readHistory({ history })).response_ms!) {
    assert.match(String(time).replace(/[0.]*([1-9])/, "$1"), /^\d{1,2}(\.\d)?$|^\d{2}0*$/);
  }
});

histories("the history has an ETag, and only the client may cache it", async () => {
  const response = await ask("/v1/history");
  assert.is(response.headers.get("cache-control"), "private, no-cache");
  const etag = response.headers.get("etag")!;
  const again = await ask("/v1/history", { headers: { "if-none-match": etag } });
  assert.is(again.status, 304);
  const off = createNodeface({ info: { history: "off" } });
  assert.is((await off.fetch(new Request("http://localhost/v1/history"))).status, 404);
});

histories("a short outage stays in the history after the node has recovered", async () => {
  const { info, pass, held, history } = playState({ height: 1 });
  for (let second = 0; second < 60; second += 2) {
    held.failure = second === 20 || second === 22 ? "ECONNREFUSED" : undefined;
    pass(2000);
    await info();
  }
  const { status } = await readHistory({ history });
  assert.equal(status, ["ok", "ok", "stale", "ok", "ok", "ok"]);
});

histories("a status that keeps changing shortens the history to a third at most", async () => {
  const { info, pass, held, history } = playState({ height: 1 });
  for (let i = 0; i < 1800; i++) {
    held.failure = i % 4 < 2 ? undefined : "ECONNREFUSED";
    pass(2000);
    await info();
  }
  const at = (await readHistory({ history })).at!.map((time) => Date.parse(String(time)));
  assert.ok(at.at(-1)! - at[0]! >= 1_150_000);
});

histories.run();
