import { suite } from "uvu";
import * as assert from "uvu/assert";
import { KINDS } from "../src/generated/kinds.js";
import { SystemClock } from "../src/info/clock.ts";
import { Monitor } from "../src/info/monitor.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { passTime } from "./_clock.ts";
import { contentOf } from "./_representation.ts";
import { type SceneOptions, setScene } from "./_scene.ts";
import { contextFor } from "./_sources.ts";
import { play, RECORDINGS } from "./nodes/_recorded.ts";

const monitor = suite("monitor");

const REFUSED = "connection refused; start the node, or correct its address (node.url)";

const RUNS = 'info: node http://node.example runs "anvil 1.7.1"';

const anvil = play(RECORDINGS.get("anvil")!);

const scene = (options: Partial<SceneOptions> = {}) =>
  setScene({ fetch: anvil, node: { kind: "ethereum" }, ...options });

function gate() {
  let open = () => {};
  const closed = new Promise<void>((resolve) => open = resolve);
  return { closed, open };
}

const KIND: Kind = {
  title: "A node",
  url: "http://127.0.0.1:1",
  detect: { "state#/is": "^node$" },
  sources: {
    state: { get: "/state" },
    genesis: { get: "/genesis", ttl: "1h" },
  },
  fields: { height: "state#/height", chain_id: "genesis#/id" },
  health: { ok: "it answers" },
};

/** A number stands for an empty response with that status. */
const answers = (paths: Record<string, unknown>): typeof fetch => (input) => {
  const answer = paths[new URL(String(input)).pathname] ?? 404;
  const isStatus = typeof answer === "number";
  return Promise.resolve(
    isStatus ? new Response("", { status: answer }) : new Response(JSON.stringify(answer)),
  );
};

const oneNode = (paths: Record<string, unknown>, options: Partial<SceneOptions> = {}) =>
  setScene({
    fetch: answers(paths),
    kinds: { mine: KIND },
    node: { kind: "mine" },
    ...options,
  });

monitor("a node that responds to one of its two sources is not unreachable", async () => {
  const paths = answers({ "/state": { height: 7 } });
  const refused = new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } });
  const genesis = { get: "/genesis" };
  const { info } = oneNode({}, {
    kinds: { mine: { ...KIND, sources: { ...KIND.sources, genesis } } },
    fetch: (input, init) =>
      String(input).endsWith("/genesis") ? Promise.reject(refused) : paths(input, init),
  });
  const { height, status, status_reason } = await info();
  assert.equal([height, status, status_reason], [7, "degraded", "connection refused (genesis)"]);
});

monitor("a method that hangs makes only its own values unknown", async () => {
  const results: Record<string, unknown> = { state: { height: 7 } };
  const asked: string[][] = [];
  const { info, pass } = setScene({
    kinds: {
      mine: {
        ...KIND,
        sources: { state: { jsonrpc: "state" }, genesis: { jsonrpc: "genesis" } },
      },
    },
    node: { kind: "mine", timeout: "30ms" },
    fetch: (_, init) => {
      const sent = JSON.parse(String(init!.body));
      const calls: { id: number; method: string }[] = [sent].flat();
      asked.push(calls.map(({ method }) => method));
      if (calls.some(({ method }) => !(method in results))) {
        return new Promise((_, reject) => {
          init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason));
        });
      }
      const all = calls.map(({ id, method }) => ({ jsonrpc: "2.0", id, result: results[method] }));
      return Promise.resolve(Response.json(Array.isArray(sent) ? all : all[0]));
    },
  });
  await info();
  for (let polls = 0; polls < 2; polls++) {
    pass(3000);
    const { height, status, status_reason } = await info();
    assert.equal([height, status], [7, "degraded"]);
    assert.match(String(status_reason), "(genesis)");
  }
  assert.equal(asked[0], ["state", "genesis"]);
  delete results.state;
  pass(3000);
  assert.is((await info()).height, 7);
  pass(3000);
  const before = asked.length;
  await info();
  assert.ok(asked.slice(before).every(({ length }) => length === 2), "all hang: one request");
});

monitor("a node that responds with errors only is asked after the ttl", async () => {
  const { info, held, pass } = oneNode({ "/state": 429, "/genesis": 429 }, {
    info: { ttl: "1m" },
  });
  await info();
  const { asked } = held;
  pass(5000);
  await info();
  assert.is(held.asked, asked);
  pass(60_000);
  await info();
  assert.ok(held.asked > asked);
});

monitor("without requests, the node is not queried", async () => {
  const { held, pass, info } = scene();
  assert.is(held.asked, 0);
  await info();
  const { asked } = held;
  pass(3_600_000);
  await Promise.resolve();
  assert.is(held.asked, asked);
});

monitor("of a node of no kind, only whether it responds is known", async () => {
  const info = { static: { network: "home" } };
  for (const status of [200, 404, 301, 401, 500]) {
    const { monitor, held, pass } = scene({
      info,
      node: { kind: "none" },
      fetch: (_, init) => Promise.resolve(new Response(null, { status, ...init })),
    });
    const first = await monitor.snapshot();
    assert.equal([first.info.status, first.info.status_reason, first.info.network], [
      "ok",
      "responds to HTTP; its state is not known",
      "home",
    ]);
    assert.is(first.info.api?.software, "nodeface");
    pass(3_600_000);
    assert.equal([await monitor.snapshot(), held.asked], [first, 2]);
  }
});

monitor("a node of no kind that refuses or hangs is not ok", async () => {
  const node = { kind: "none", timeout: "20ms" } as const;
  const { held, pass, infoMeanwhile } = scene({ node, fetch: answers({ "/": 200 }) });
  assert.is((await infoMeanwhile()).status, "ok");
  held.failure = "ECONNREFUSED";
  pass(2000);
  const { status, status_code } = await infoMeanwhile();
  assert.equal([status, status_code], ["stale", "connection_refused"]);
  held.failure = undefined;
  pass(1000);
  assert.is((await infoMeanwhile()).status, "ok");
  held.gate = new Promise(() => {});
  pass(2000);
  assert.is((await infoMeanwhile()).status_code, "timeout");
});

monitor("a node of no kind is stale before it is unreachable", async () => {
  const { held, pass, info } = scene({ node: { kind: "none" }, fetch: answers({ "/": 200 }) });
  await info();
  held.failure = "ECONNREFUSED";
  pass(2000);
  const { status, updated_at } = await info();
  assert.equal([status, updated_at], ["stale", "2026-01-02T00:00:00.000Z"]);
  pass(60_000);
  assert.is((await info()).status, "unreachable");
});

monitor("a proxy without a node is not ok", async () => {
  for (const status of [502, 503, 504]) {
    const { info } = scene({ node: { kind: "none" }, fetch: answers({ "/": status }) });
    const { status: word, status_code, status_reason } = await info();
    assert.equal([word, status_code, status_reason], [
      "unreachable",
      "bad_gateway",
      `does not respond, according to a proxy (${status})`,
    ]);
  }
});

/** Caddy says nothing. */
const OF_PROXIES = ["", "<html>", "no available server", "no healthy upstream"];

monitor("a 503 is a node's own, unless it is what a proxy says", async () => {
  for (const kind of ["ethereum", "etcd"]) {
    const proxies = OF_PROXIES.map((text) => [text, "bad_gateway"]);
    for (const [text, expected] of [["busy", "bad_answer"], ...proxies]) {
      const fetch = () => Promise.resolve(new Response(text, { status: 503 }));
      const { info } = scene({ node: { kind }, fetch });
      assert.is((await info()).status_code, expected, `${kind} ${text}`);
    }
  }
  // No proxy is in front of a node that has responded at another path.
  const sources = { state: { get: "/state" }, ready: { get: "/ready" } } as const;
  const { info: infoOf } = scene({
    node: { kind: "mine" },
    kinds: { mine: { ...KIND, sources, fields: { height: "state#/height", version: "ready#/v" } } },
    fetch: answers({ "/state": { height: 5 }, "/ready": 503 }),
  });
  const { status_code, status_reason, height } = await infoOf();
  assert.equal([status_code, status_reason, height], [
    "bad_answer",
    "responded with 503 (ready)",
    5,
  ]);
  // No proxy says this in JSON-RPC.
  const error = { code: 503, message: "busy" };
  const { info } = scene({
    fetch: (_, { body } = {}) =>
      Promise.resolve(Response.json({ id: JSON.parse(String(body)).id, error })),
  });
  assert.is((await info()).status_code, "bad_answer");
});

monitor("a node behind a proxy that says 502 or 504 is away, whatever its kind is", async () => {
  for (const kind of ["ethereum", "etcd", undefined] as const) {
    for (const status of [502, 504]) {
      const fetch = () => Promise.resolve(new Response("<html>", { status }));
      const { info } = scene({ node: { ...kind && { kind } }, fetch });
      const { status: word, status_code } = await info();
      assert.equal([word, status_code], ["unreachable", "bad_gateway"], `${kind} ${status}`);
    }
  }
});

monitor("any number of requests cause one query per time to live", async () => {
  const { monitor, held, pass, info } = scene();
  const all = await Promise.all(Array.from({ length: 50 }, () => monitor.snapshotNow()));
  const { asked } = held;
  assert.is(new Set(all).size, 1);
  pass(999);
  await monitor.snapshotNow();
  assert.is(held.asked, asked);
  pass(1);
  await Promise.all(Array.from({ length: 50 }, () => monitor.snapshotNow()));
  await info();
  assert.is(held.asked, 2 * asked);
});

monitor("without a node, requests repeat one snapshot", async () => {
  let made = 0;
  const service = {
    get software() {
      made++;
      return "nodeface";
    },
    version: "1",
    started_at: "2026-01-01T00:00:00.000Z",
  };
  await using bare = new Monitor(contextFor(undefined), {
    service,
    log: assert.unreachable,
    onError: assert.unreachable,
    clock: { now: () => ({ monotonic: 0, awake: 0, date: 0 }) },
  });
  await bare.snapshot();
  const before = made;
  await bare.snapshot();
  assert.is(made, before);
});

monitor("if the node has not changed, the snapshot is the same object", async () => {
  const { monitor, held, pass, info } = scene();
  const first = await monitor.snapshotNow();
  const { asked } = held;
  pass(1000);
  await info();
  assert.ok(held.asked > asked);
  assert.is(await monitor.snapshotNow(), first);
});

monitor(
  "the cached info object is returned until the next query is due",
  async () => {
    const { monitor, held, pass } = scene();
    const first = await monitor.snapshotNow();
    const { asked } = held;
    assert.is(await monitor.snapshotNow(), first);
    assert.is(held.asked, asked);
    pass(1000);
    assert.is(await monitor.snapshotNow(), first);
    await monitor.poll();
    assert.ok(held.asked > asked);
  },
);

monitor("a response that is younger than twice ttl is repeated while a query runs", async () => {
  const { monitor, held, pass } = scene();
  const first = await monitor.snapshot();
  const { closed, open } = gate();
  held.gate = closed;
  pass(1999);
  assert.is(await monitor.snapshot(), first);
  open();
});

monitor("a request waits for a node whose last response is older than twice ttl", async () => {
  const { monitor, held, pass } = oneNode({ "/state": { height: 7 }, "/genesis": { id: "x" } });
  await monitor.snapshot();
  const { closed, open } = gate();
  held.gate = closed;
  held.fetch = answers({ "/state": { height: 8 }, "/genesis": { id: "x" } });
  for (const age of [2000, 5000, 9000, 30_000]) {
    pass(age);
    const asked = Promise.all([monitor.snapshot(), monitor.snapshot()]);
    open();
    const [first, second] = await asked;
    assert.equal([first!.info.status, first!.info.height], ["ok", 8]);
    assert.is(first, second);
  }
});

monitor("a request is never told that a hanging node is ok", async () => {
  for (const interval of [500, 5000, 9000, 30_000]) {
    const node = { kind: "ethereum", timeout: "20ms" } as const;
    const { held, pass, infoMeanwhile } = scene({ node });
    await infoMeanwhile();
    held.gate = new Promise(() => {});
    let hung = 0;
    while (hung < 60_000) {
      pass(interval);
      hung += interval;
      const { status } = await infoMeanwhile();
      if (hung >= 2000) assert.is.not(status, "ok", `after ${hung} ms, every ${interval} ms`);
    }
  }
});

monitor("the page does not wait, and says that its values are old", async () => {
  const paths = { "/state": { height: 7 }, "/genesis": { id: "x" } };
  const { held, pass, said, info, infoOfPage } = oneNode(paths);
  await info();
  held.gate = new Promise(() => {});
  for (const age of [2000, 600_000]) {
    pass(age);
    const { height, status, status_code, updated_at } = await infoOfPage();
    assert.equal([height, status, status_code], [7, "stale", "outdated"]);
    assert.is(updated_at, "2026-01-02T00:00:00.000Z");
  }
  assert.equal(said, []);
});

monitor("a node that is always asked when a query is due is always ok", async () => {
  const info = { ttl: "5s", sources: { more: { get: "/more", ttl: "1s" } } } as const;
  const paths = { "/state": { height: 7 }, "/genesis": { id: "x" }, "/more": { id: "y" } };
  for (const latency of [1, 100, 900]) {
    const { held, pass, infoMeanwhile, monitor } = oneNode(paths, { info });
    const { fetch } = held;
    held.fetch = (input, init) => {
      pass(latency);
      return fetch(input, init);
    };
    for (let step = 0; step < 200; step++) {
      assert.is((await infoMeanwhile()).status, "ok", `step ${step}, ${latency} ms away`);
      await monitor.poll();
      pass(50 + step % 7);
    }
  }
});

monitor("a slow node is ok for ttl after its response has arrived", async () => {
  const { monitor, held, pass } = oneNode({}, { node: { kind: "mine", timeout: "10s" } });
  held.fetch = () => {
    pass(4000);
    return Promise.resolve(new Response('{"height":7}'));
  };
  assert.is((await monitor.snapshot()).info.status, "ok");
  pass(999);
  assert.is((await monitor.snapshotNow()).info.status, "ok");
  pass(1);
  assert.is((await monitor.snapshotNow()).info.status_code, "outdated");
});

monitor("a node that has not responded yet is starting", async () => {
  const { held, infoMeanwhile } = scene({ node: { timeout: "1ms" } });
  const { closed, open } = gate();
  held.gate = closed;
  const { status, status_code, status_reason } = await infoMeanwhile();
  assert.equal([status, status_code], ["starting", "starting"]);
  assert.is(status_reason, "has not responded yet");
  open();
});

monitor("the last values of a stopped node are shown for a while, then dropped", async () => {
  const { monitor, held, said, pass, info } = scene({ info: { stale: "60s" } });
  await info();
  held.failure = "ECONNREFUSED";
  pass(1000);
  const { status, status_code, status_reason, height, updated_at } = await info();
  assert.equal([status, status_code, status_reason, height], [
    "stale",
    "connection_refused",
    "connection refused",
    0,
  ]);
  assert.is(updated_at, "2026-01-02T00:00:00.000Z");
  pass(58_999);
  assert.is((await info()).status, "stale");
  pass(1000);
  const gone = await monitor.snapshot();
  assert.equal([gone.info.status, gone.info.status_code], ["unreachable", "connection_refused"]);
  assert.not("height" in gone.info);
  assert.not("updated_at" in gone.info);
  held.failure = undefined;
  pass(24_000);
  assert.is((await info()).status, "ok");
  assert.equal(said, [
    RUNS,
    "warn: node http://node.example is stale (after 1 s of ok): " + REFUSED,
    "error: node http://node.example is unreachable (after 1 min of stale): " + REFUSED,
    "info: node http://node.example is ok again, after 24 s of unreachable (connection refused), " +
    "1 min 24 s after it was last ok",
  ]);
});

monitor("a source that is still cached does not count as a sign of life", async () => {
  const { held, pass, info } = oneNode({ "/state": { height: 7 }, "/genesis": { id: "x" } });
  assert.equal(await info(), { chain_id: "x", height: 7, status: "ok" });
  held.failure = "ECONNREFUSED";
  pass(1000);
  assert.is((await info()).status, "stale");
  pass(60_000);
  assert.equal(await info(), {
    status: "unreachable",
    status_code: "connection_refused",
    status_reason: "connection refused",
    last_seen: { chain_id: "x", height: 7, at: "2026-01-02T00:00:00.000Z" },
  });
});

monitor("when a node comes back, all sources are queried, as the node may be new", async () => {
  const { held, pass, info } = oneNode({ "/state": { height: 7 }, "/genesis": { id: "x" } });
  await info();
  held.failure = "ECONNREFUSED";
  pass(1000);
  await info();
  held.failure = undefined;
  held.fetch = answers({ "/state": { height: 1 }, "/genesis": { id: "y" } });
  pass(1000);
  assert.equal(await info(), { chain_id: "y", height: 1, status: "ok" });
});

monitor("after a pause without requests, all sources are queried again", async () => {
  const { held, pass, info } = oneNode({ "/state": { height: 7 }, "/genesis": { id: "x" } });
  await info();
  held.fetch = answers({ "/state": { height: 1 }, "/genesis": { id: "y" } });
  pass(60_000);
  assert.is((await info()).chain_id, "y");
});

monitor("a source with a long time to live is not queried before it expires", async () => {
  const { held, pass, info } = oneNode({ "/state": { height: 7 }, "/genesis": { id: "x" } });
  await info();
  assert.is(held.asked, 2);
  for (let second = 0; second < 100; second++) {
    pass(1000);
    await info();
  }
  assert.is(held.asked, 102);
});

monitor("a node is ok within a second of its return, however long it was away", async () => {
  for (const absence of [2, 60, 600]) {
    const { held, pass, info, infoMeanwhile } = scene();
    await info();
    held.failure = "ECONNREFUSED";
    for (let second = 0; second < absence; second++) {
      pass(1000);
      await infoMeanwhile();
    }
    held.failure = undefined;
    pass(1000);
    assert.is((await infoMeanwhile()).status, "ok", `after ${absence} s`);
  }
});

monitor("/v1/info and /v1/health have the remedy for the status code", async () => {
  const { monitor, held } = scene();
  held.failure = "ECONNREFUSED";
  const { info, health } = await monitor.snapshot();
  assert.is(info.status_remedy, "start the node, or correct its address (node.url)");
  const failing = JSON.parse(await contentOf(health.failing));
  assert.is(failing.status_remedy, info.status_remedy);
});

monitor("of a node that is up and down all the time, few changes are logged", async () => {
  const { held, said, pass, info } = scene();
  const flap = async () => {
    held.failure = held.failure ? undefined : "ECONNREFUSED";
    pass(1000);
    await info();
  };
  await info();
  for (let second = 0; second < 100; second++) await flap();
  const changes = said.filter((line) => / is (?:ok|stale)/.test(line)).length;
  assert.ok(changes > 15 && changes <= 20, `${changes} changes`);
  assert.match(said.at(-2)!, "keeps changing; no more than 20 changes in 10 min are logged");
  held.failure = "ECONNREFUSED";
  pass(600_000);
  await info();
  assert.match(said.at(-1)!, "is unreachable");
});

monitor("the reason is that of the last query", async () => {
  const { held, pass, info } = scene();
  await info();
  for (const [code, reason] of [["ETIMEDOUT", "timeout"], ["ECONNREFUSED", "connection_refused"]]) {
    held.failure = code;
    pass(1000);
    assert.is((await info()).status_code, reason);
  }
});

monitor("after the machine has slept, the last response is old", async () => {
  // Only the wall clock goes on while a machine sleeps.
  const { now } = Date;
  let [slept, asked] = [0, 0];
  Date.now = () => now() + slept;
  const fetch: typeof anvil = (...request) => {
    asked++;
    return anvil(...request);
  };
  const node = contextFor("http://node.example", { kind: "ethereum", kinds: KINDS, fetch });
  const service = { software: "nodeface", version: "1", started_at: "2026-01-01T00:00:00.000Z" };
  const { unreachable } = assert;
  await using awake = new Monitor(node, { service, log() {}, onError: unreachable });
  try {
    await awake.snapshot();
    const before = asked;
    await awake.snapshot();
    assert.is(asked, before);
    slept = 3_600_000;
    await awake.snapshot();
    assert.ok(asked > before);
  } finally {
    Date.now = now;
  }
});

for (const goesOn of [false, true]) {
  const what = goesOn ? "goes on" : "stands still";
  monitor(
    `while the machine sleeps, its time awake stands still, even if the clock ${what}`,
    () => {
      const { now } = performance;
      const { now: date } = Date;
      let passed = 0, slept = 0;
      performance.now = () => passed;
      Date.now = () => passed + slept;
      try {
        const clock = new SystemClock(goesOn);
        const pass = (ms: number) => {
          passed += ms;
          return clock.now();
        };
        clock.now();
        for (let ticks = 0; ticks < 20; ticks++) pass(5000);
        assert.is(clock.now().awake, 100_000);
        if (goesOn) passed += 8 * 3_600_000;
        else slept += 8 * 3_600_000;
        const { awake, monotonic } = clock.now();
        assert.equal([awake, monotonic], [100_000, 100_000 + 8 * 3_600_000]);
        assert.is(pass(5000).awake, 105_000);
      } finally {
        performance.now = now;
        Date.now = date;
      }
    },
  );
}

monitor("if the clock is set back, the node is queried as before", async () => {
  const { held, pass, info } = oneNode({ "/state": { height: 7 }, "/genesis": { id: "x" } });
  await info();
  held.date -= 3_600_000;
  held.fetch = answers({ "/state": { height: 8 }, "/genesis": { id: "x" } });
  pass(1000);
  assert.is((await info()).height, 8);
});

monitor("a response that arrives after its query was abandoned changes nothing", async () => {
  const { held, pass, info, infoMeanwhile } = oneNode({
    "/state": { height: 7 },
    "/genesis": { id: "x" },
  });
  await info();
  const { closed, open } = gate();
  held.gate = closed;
  pass(1000);
  await infoMeanwhile();
  // After 61 seconds, the service abandons the running query and starts another one.
  pass(61_000);
  held.gate = Promise.resolve();
  held.fetch = answers({ "/state": { height: 9 }, "/genesis": { id: "x" } });
  assert.is((await info()).height, 9);
  held.fetch = answers({ "/state": { height: 8 }, "/genesis": { id: "x" } });
  open();
  await new Promise((resolve) => setTimeout(resolve));
  assert.is((await info()).height, 9);
});

monitor("a node that starts after the service is detected once it runs", async () => {
  const { held, said, pass, info } = scene({ node: {} });
  held.failure = "ECONNREFUSED";
  assert.is((await info()).status, "unreachable");
  held.failure = undefined;
  pass(1000);
  assert.is((await info()).status, "ok");
  assert.match(said.join("\n"), /is unreachable: connection refused/);
  assert.match(said.join("\n"), /is of the kind ethereum: chain# is "0x7a69"/);
});

monitor("the first contact with a node is not logged as its return", async () => {
  const { held, said, pass, info } = scene();
  held.failure = "ECONNREFUSED";
  await info();
  held.failure = undefined;
  pass(2000);
  await info();
  held.failure = "ECONNREFUSED";
  pass(2000);
  await info();
  held.failure = undefined;
  pass(2000);
  await info();
  assert.equal(said, [
    "error: node http://node.example is unreachable: " + REFUSED,
    RUNS,
    "info: node http://node.example is ok",
    "warn: node http://node.example is stale (after 2 s of ok): " + REFUSED,
    "info: node http://node.example is ok again, after 2 s of stale (connection refused)",
  ]);
});

monitor("if a node of another kind replaces the node, the new kind is detected", async () => {
  const { held, pass, info } = scene({ node: {} });
  assert.is((await info()).chain_id, "31337");
  held.fetch = play(RECORDINGS.get("nats")!);
  pass(1000);
  const after = await info();
  assert.equal([after.software, after.status, after.chain_id], ["nats-server", "ok", undefined]);
});

for (
  const [form, refuse] of [
    ["an error", (error: object) => ({ jsonrpc: "2.0", id: null, error })],
    ["a list with one error", (error: object) => [{ jsonrpc: "2.0", id: 0, error }]],
  ] as const
) {
  monitor(`a node that stops taking batches, with ${form}, stays ok`, async () => {
    const { held, pass, info } = scene();
    assert.is((await info()).status, "ok");
    const answer = play(RECORDINGS.get("anvil")!);
    let batches = 0;
    held.fetch = (url, init) => {
      if (!String(init?.body).startsWith("[")) return answer(url, init);
      batches++;
      return Promise.resolve(Response.json(refuse({ code: -32600, message: "batch too large" })));
    };
    for (let round = 0; round < 3; round++) {
      pass(12_000);
      const { status, height } = await info();
      assert.equal([status, height], ["ok", 0]);
    }
    assert.is(batches, 1);
  });
}

const NOTHING = "no request has this";

/** A node that hangs on requests with the text `hangsOn`; it must have the chain id of anvil. */
function nodeThatHangs(hangsOn: string) {
  const state = { hangsOn, sent: [] as string[] };
  const fetch: typeof globalThis.fetch = (url, init) => {
    const body = String(init?.body);
    state.sent.push(body.startsWith("[") ? "batch" : "call");
    return body.includes(state.hangsOn) ? new Promise(() => {}) : anvil(url, init);
  };
  const node = { kind: "ethereum", timeout: "50ms", expect: { chain_id: "31337" } } as const;
  const { monitor, infoMeanwhile, pass } = scene({ fetch, node });
  /** Polls some time later, and returns the status, the height and what the node was sent. */
  const poll = async (after = 2000) => {
    pass(after);
    passTime(after);
    state.sent = [];
    const { status, height } = await infoMeanwhile();
    return [status, height, state.sent.includes("batch"), state.sent.includes("call")];
  };
  return { state, monitor, poll };
}

monitor("a method that hangs takes only its own value from the node", async () => {
  const { state, monitor, poll } = nodeThatHangs("net_peerCount");
  assert.equal(await poll(), ["unreachable", undefined, true, false]);
  for (const after of [2000, 2000, 61_000, 2000]) {
    // After a long time, a batch is tried beside the calls.
    assert.equal(await poll(after), ["degraded", 0, after > 60_000, true]);
    assert.is(await monitor.identityCheck.reasonAgainstCalls(), undefined);
  }
  state.hangsOn = NOTHING;
  assert.equal(await poll(), ["ok", 0, false, true]);
  assert.equal(await poll(61_000), ["ok", 0, true, true]);
  assert.equal(await poll(), ["ok", 0, true, false]);
});

monitor("a node that is too slow only for batches is ok while it gets single calls", async () => {
  const { poll } = nodeThatHangs("[{");
  assert.equal(await poll(), ["unreachable", undefined, true, false]);
  assert.equal(await poll(), ["ok", 0, false, true]);
  assert.equal(await poll(61_000), ["ok", 0, true, true]);
  assert.equal(await poll(), ["ok", 0, false, true]);
});

monitor("a node that does not respond at all still gets batches", async () => {
  const { state, poll } = nodeThatHangs("jsonrpc");
  const sent: unknown[] = [];
  for (let round = 0; round < 5; round++) sent.push((await poll())[3]);
  assert.equal(sent, [false, true, false, false, false], "single calls once a minute");
  state.hangsOn = NOTHING;
  assert.equal(await poll(), ["ok", 0, true, false]);
});

monitor("a node that is busy is not asked the questions of all kinds", async () => {
  for (const status of [429, 503]) {
    const { held, pass, info } = scene({ node: {} });
    await info();
    const paths = new Set<string>();
    held.fetch = (input) => {
      paths.add(new URL(String(input)).pathname);
      return Promise.resolve(new Response("", { status }));
    };
    for (let round = 0; round < 5; round++) {
      pass(12_000);
      await info();
    }
    assert.equal([...paths], ["/"]);
  }
});

monitor("a kind that is detected again is not logged again", async () => {
  const { held, said, pass, info } = scene({ node: {} });
  await info();
  const { eth_blockNumber: _, ...answers } = RECORDINGS.get("anvil")!.answers;
  held.fetch = play({ ...RECORDINGS.get("anvil")!, answers });
  for (let round = 0; round < 3; round++) {
    pass(12_000);
    assert.equal((await info()).chain_id, "31337");
  }
  assert.is(said.filter((line) => line.includes("is of the kind")).length, 1);
});

monitor(
  "a node that has responded is not unreachable while its kind is detected anew",
  async () => {
    const { held, said, pass, infoOfPage, infoMeanwhile } = scene({ node: {} });
    await infoMeanwhile();
    const { eth_blockNumber: _, ...answers } = RECORDINGS.get("anvil")!.answers;
    const filtered = play({ ...RECORDINGS.get("anvil")!, answers });
    const asked = gate();
    const hanging = gate();
    held.fetch = async (input, init) => {
      if (new URL(String(input)).pathname === "/varz") {
        asked.open();
        await hanging.closed;
      }
      return await filtered(input, init);
    };
    pass(12_000);
    await infoOfPage();
    await asked.closed;
    pass(2300);
    const { status, status_code } = await infoMeanwhile();
    assert.equal([status, status_code], ["degraded", "bad_answer"], said.join("\n"));
    assert.not.match(said.join("\n"), "has not responded in time");
    hanging.open();
  },
);

monitor(
  "a node that never responded like its kind has the wrong kind; one that once did is faulty",
  async () => {
    const page = () => Promise.resolve(new Response("<!doctype html>", { status: 200 }));
    const other = scene({ fetch: page });
    assert.equal((await other.info()).status_code, "wrong_kind");
    const { held, pass, info, said } = scene();
    await info();
    held.fetch = page;
    pass(1000);
    const { status_code, status_reason } = await info();
    assert.is(status_code, "bad_answer");
    assert.match(String(status_reason), /^returned something other than JSON/);
    held.fetch = () => Promise.resolve(new Response("", { status: 403 }));
    pass(24_000);
    await info();
    assert.match(said.at(-1)!, "is still degraded: forbids the request (403); ");
  },
);

monitor("if the kind is configured, no other kind is detected", async () => {
  const { held, pass, info } = scene();
  await info();
  held.fetch = play(RECORDINGS.get("nats")!);
  pass(1000);
  const { status, status_code, status_reason } = await info();
  assert.equal([status, status_code], ["degraded", "wrong_kind"]);
  assert.match(String(status_reason), /^responds, but not as ethereum does/);
});

monitor(
  "if a source of the kind fails, this is reported, and the last values are shown for a while",
  async () => {
    const both = { ...KIND, sources: { ...KIND.sources, peers: { get: "/peers" } } };
    both.fields = { ...KIND.fields, peers: "peers#/count" };
    const paths = { "/state": { height: 7 }, "/genesis": { id: "x" }, "/peers": { count: 3 } };
    const { held, pass, info } = oneNode(paths, { kinds: { mine: both } });
    assert.is((await info()).peers, 3);
    held.fetch = answers({ ...paths, "/peers": 500 });
    pass(1000);
    const { status, status_code, status_reason, peers, updated_at } = await info();
    assert.equal([status, status_code, peers], ["degraded", "bad_answer", 3]);
    assert.is(status_reason, "responded with 500 (peers)");
    assert.is(updated_at, "2026-01-02T00:00:00.000Z");
    pass(60_000);
    const later = await info();
    assert.equal([later.peers, later.height, later.updated_at], [undefined, 7, undefined]);
  },
);

monitor("if a source that the operator added fails, the node is still ok", async () => {
  const { said, info } = scene({
    info: {
      sources: { more: { get: "/none" } },
      fields: { more: "more#/x" },
      hide: ["software"],
      static: { name: "mine" },
    },
  });
  const { status, version, name, software, more } = await info();
  assert.equal([status, version, name, software, more], [
    "ok",
    "1.7.1",
    "mine",
    undefined,
    undefined,
  ]);
  assert.is(said.at(-1), "warn: node http://node.example, source more: responded with 404");
});

monitor("a host's info function may return any values", async () => {
  let height = 1n << 60n;
  const { monitor, held, pass, info: readInfo } = scene({
    info: () => ({ software: "mine", height, synced: false }),
    node: {},
  });
  const { info, representation } = await monitor.snapshotNow();
  assert.equal([info.software, info.status], ["mine", "syncing"]);
  assert.match(await contentOf(representation), '"height": 1152921504606846976,');
  height++;
  pass(1000);
  assert.is((await readInfo()).height, height);
  assert.is(held.asked, 0);
});

monitor("missing and unusable values from a host are omitted", async () => {
  const told: Record<string, unknown> = {
    height: null,
    name: "",
    peers: -0,
    load: NaN,
    when: Infinity,
    what: undefined,
    how: () => {},
    more: 10n ** 45n,
  };
  const { info } = scene({ info: () => told, node: {} });
  assert.equal(await info(), { peers: 0, status: "ok" });
});

monitor("if a host's info function throws, the error is logged, but not served", async () => {
  const broken: [info: () => unknown, why: string][] = [
    [() => {
      throw new Error("secret");
    }, "info() threw Error: secret"],
    [() => Promise.reject(new Error("secret")), "info() threw Error: secret"],
    [() => Promise.reject("secret"), 'info() threw "secret"'],
    [() => Promise.reject(), "info() threw undefined"],
    [() => ["secret"], "info() returned a list, not an object"],
    [() => "secret", 'info() returned "secret", not an object'],
    [() => undefined, "info() returned undefined, not an object"],
    [() => new Map([["secret", 1]]), "info() returned an object of the class Map, not an object"],
  ];
  for (const [info, why] of broken) {
    const { monitor, said } = scene({ info: info as () => object, node: {} });
    const { status, status_code, status_reason } = (await monitor.snapshotNow()).info;
    assert.equal([status, status_code], ["degraded", "bad_answer"]);
    assert.is(status_reason, "cannot report its state");
    assert.ok(said.join().includes(why), said.join());
  }
});

monitor("the log names each value of a host's info function that cannot be shown", async () => {
  const own: Record<string, unknown> = { height: 7, status: "ok", rate: NaN, at: new Date(0) };
  own.self = { inner: own };
  own.deep = { list: [1, () => 1], map: new Map() };
  own.text = "x".repeat(5000);
  const { info, said } = scene({ info: () => own, node: {} });
  const { height, status, at, self, deep, ...rest } = await info();
  assert.equal([height, status, at], [7, "ok", "1970-01-01T00:00:00.000Z"]);
  assert.equal([self, deep], [{}, { list: [1, null] }]);
  assert.not.ok("rate" in rest || "text" in rest);
  for (
    const what of [
      "/rate must be a JSON value, not NaN",
      "/self/inner contains itself",
      "/deep/list/1 must be a JSON value, not a function",
      "/deep/map must be a JSON value, not an object of the class Map",
      "/status is set by this service (return synced: false)",
      "/text: more than 4096 characters",
    ]
  ) assert.ok(said.join().includes(what), said.join());
});

monitor("a host's info function may return a typed object or a class instance", async () => {
  interface Peer {
    height: number;
  }
  class Node implements Peer {
    height = 7;
    methods() {}
  }
  for (const said of [{ height: 7 } as Peer, new Node()]) {
    const { info } = scene({ info: () => said, node: {} });
    assert.is((await info()).height, 7);
  }
});

monitor(
  "if a node hangs at the first query after a pause, its status is not ok",
  async () => {
    for (const stale of ["60s", "2h"] as const) {
      const { held, pass, info, infoMeanwhile } = scene({
        info: { stale },
        node: { kind: "ethereum", timeout: "10ms" },
      });
      await info();
      held.gate = new Promise(() => {});
      pass(3_600_000);
      const { status, height } = await infoMeanwhile();
      assert.is(status, stale === "2h" ? "stale" : "unreachable");
      assert.is(height, stale === "2h" ? 0 : undefined);
    }
  },
);

monitor("a slow source that the operator added does not delay other values", async () => {
  const { monitor, held, pass, info } = scene({
    info: { sources: { slow: { get: "/slow", timeout: "10s" } }, fields: { more: "slow#/x" } },
  });
  const { closed, open } = gate();
  held.fetch = async (input, init) => {
    if (!String(input).endsWith("/slow")) return await anvil(input, init);
    await closed;
    return new Response('{"x":5}');
  };
  const first = await info();
  assert.equal([first.status, first.height, first.more], ["ok", 0, undefined]);
  held.failure = "ECONNREFUSED";
  pass(3_600_000);
  assert.is((await info()).status, "unreachable");
  held.failure = undefined;
  pass(30_000);
  assert.is((await info()).status, "ok");
  open();
  while ((await info()).more !== 5) await new Promise((resolve) => setTimeout(resolve));
  await monitor[Symbol.asyncDispose]();
});

monitor("a node is not late while a source with a longer timeout may still respond", async () => {
  const { held, pass, info, infoMeanwhile } = setScene({
    fetch: () => Promise.resolve(new Response('{"height":7,"peers":3}')),
    kinds: {
      mine: {
        title: "A node",
        url: "http://127.0.0.1:1",
        detect: {},
        sources: { state: { get: "/state" }, rare: { get: "/rare", ttl: "1s", timeout: "1s" } },
        fields: { height: "state#/height", peers: "rare#/peers" },
        health: { ok: "it has peers" },
      },
    },
    node: { kind: "mine", timeout: "10ms" },
  });
  assert.is((await info()).status, "ok");
  const { fetch } = held;
  held.fetch = (input, init) =>
    String(input).endsWith("/rare") ? new Promise(() => {}) : fetch(input, init);
  pass(2000);
  const { status, status_reason } = await infoMeanwhile();
  assert.equal([status, status_reason], [
    "degraded",
    "did not finish its response within 1 s (rare)",
  ]);
});

monitor("a late response from a replaced node is not shown for the new node", async () => {
  const { held, pass, info, infoMeanwhile } = scene({
    info: { sources: { slow: { get: "/slow", timeout: "10s" } }, fields: { more: "slow#/x" } },
    node: {},
  });
  const { closed, open } = gate();
  held.fetch = async (input, init) => {
    if (!String(input).endsWith("/slow")) return await anvil(input, init);
    await closed;
    return new Response('{"x":"of anvil"}');
  };
  assert.is((await info()).chain_id, "31337");
  const nats = play(RECORDINGS.get("nats")!);
  held.fetch = async (input, init) =>
    String(input).endsWith("/slow") ? new Response('{"x":"of nats"}') : await nats(input, init);
  pass(1000);
  assert.is((await info()).software, "nats-server");
  open();
  await new Promise((resolve) => setTimeout(resolve));
  assert.is((await infoMeanwhile()).more, undefined);
  pass(1000);
  while ((await info()).more === undefined) pass(1000);
  assert.is((await info()).more, "of nats");
});

monitor(
  "the kind is detected again if the node responds to only some queries of its former kind",
  async () => {
    for (const [before, after] of [["bee", "etcd"], ["etcd", "bee"]] as const) {
      const { held, pass, info } = scene({ node: {}, fetch: play(RECORDINGS.get(before)!) });
      await info();
      held.fetch = play(RECORDINGS.get(after)!);
      for (let second = 0; second < 35; second++) {
        pass(1000);
        await info();
      }
      const { software, status_code } = await info();
      assert.is(software, KINDS[after]!.static?.software, `${before}, then ${after}`);
      assert.is.not(status_code, "wrong_kind");
    }
  },
);

monitor("after a node was replaced between two requests, the new values are shown", async () => {
  const { held, pass, info } = oneNode({ "/state": { height: 7 }, "/genesis": { id: "x" } });
  await info();
  held.fetch = answers({ "/state": { height: 1 }, "/genesis": { id: "y" } });
  pass(10_000);
  assert.equal(await info(), { chain_id: "y", height: 1, status: "ok" });
});

monitor("unusable values from a host are omitted, and none of them causes an error", async () => {
  const odd = { toString: 1, valueOf: 1 };
  for (const key of ["chain_id", "network", "height", "peers", "head_at", "synced", "name"]) {
    const { info } = scene({ info: () => ({ [key]: odd, version: "1" }), node: {} });
    assert.equal(await info(), { version: "1", status: "ok" }, key);
  }
  const told = { updated_at: "never", status: "odd", status_code: 5, height: -1, peers: -3 };
  const { info } = scene({ info: () => told, node: {} });
  assert.equal(await info(), { status: "ok" });
});

monitor(
  "a failing source is logged once, even if its message changes",
  async () => {
    let count = 0;
    const { said, pass, info } = scene({
      info: { sources: { more: { get: "/more" } }, fields: { more: "more#/x" } },
      fetch: async (input, init) =>
        String(input).endsWith("/more")
          ? new Response(`no JSON, for the ${count++}th time`)
          : await anvil(input, init),
    });
    for (let second = 0; second < 20; second++) {
      await info();
      pass(1000);
    }
    assert.is(said.filter((line) => line !== RUNS).length, 1, said.join("\n"));
  },
);

monitor("close aborts running queries and starts no new ones", async () => {
  let wasAborted = false;
  const { monitor, held, pass } = setScene({
    fetch: (_, init) =>
      new Promise((_, reject) => {
        init!.signal!.addEventListener("abort", () => {
          wasAborted = true;
          reject(new DOMException("aborted", "AbortError"));
        });
      }),
    node: { kind: "ethereum" },
  });
  const asking = monitor.snapshotNow();
  while (held.asked === 0) await new Promise((resolve) => setTimeout(resolve));
  await monitor[Symbol.asyncDispose]();
  assert.ok(wasAborted);
  await asking;
  const { asked } = held;
  pass(100_000);
  assert.is((await monitor.snapshotNow()).info.status, "starting");
  assert.is(held.asked, asked);
});

monitor.run();
