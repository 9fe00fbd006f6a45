import type { ServerResponse } from "node:http";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createPlaces, NoPlace } from "../src/gateway/call-slots.ts";
import { createSharing } from "../src/gateway/share-reads.ts";
import {
  forwarding,
  type PlayedNode,
  playNode,
  REST,
  result,
  RPC,
  textOf,
  TOKEN,
  until,
} from "./_gateway.ts";

const load = suite("calls side by side");

let node: PlayedNode;
/** What the node has not answered yet. */
let held: ServerResponse[];
load.before(async () => void (node = await playNode()));
load.after(() => node?.close());
load.before.each(() => {
  node.forget();
  held = [];
});

const hold = () => node.answer = (_, response) => held.push(response);
const release = () => {
  for (const response of held.splice(0)) result("1")(node.come[0]!, response);
};

load(
  "the order of what waits is kept, and a place that is given back goes to the next",
  async () => {
    const places = createPlaces(1);
    const { signal } = new AbortController();
    const order: string[] = [];
    const take = async (name: string, lane: "open" | "token" = "open") => {
      const giveBack = await places.take(lane, false, signal);
      order.push(name);
      return giveBack;
    };
    const first = await take("first");
    const others = [take("second"), take("third")];
    assert.is(places.waiting, 2);
    first();
    first();
    (await others[0]!)();
    (await others[1]!)();
    assert.equal(order, ["first", "second", "third"]);
    assert.is(places.waiting, 0);
  },
);

load("those with the token have a place more, and do not wait behind the others", async () => {
  const places = createPlaces(1);
  const { signal } = new AbortController();
  const open = await places.take("open", false, signal);
  const waiting = places.take("open", false, signal);
  const token = await places.take("token", false, signal);
  const order: string[] = [];
  const later = places.take("token", false, signal).then((giveBack) => {
    order.push("token");
    return giveBack;
  });
  void waiting.then(() => order.push("open"));
  token();
  (await later)();
  assert.equal(order, ["token"]);
  open();
  (await waiting)();
  assert.equal(order, ["token", "open"]);
});

load("heavy ones are one at a time, and hold up no light ones", async () => {
  const places = createPlaces(3);
  const { signal } = new AbortController();
  const heavy = await places.take("open", true, signal);
  let isSecond = false;
  const second = places.take("open", true, signal).then((giveBack) => {
    isSecond = true;
    return giveBack;
  });
  const tokens = places.take("token", true, signal);
  const light = await places.take("open", false, signal);
  const lighter = await places.take("open", false, signal);
  assert.not(isSecond);
  light();
  lighter();
  assert.not(isSecond);
  heavy();
  (await tokens)();
  (await second)();
  assert.ok(isSecond);
});

load("64 wait, and who comes then is sent away at once", async () => {
  const places = createPlaces(1);
  const { signal } = new AbortController();
  const giveBack = await places.take("open", false, signal);
  const waiting = Array.from(
    { length: 64 },
    () => places.take("open", false, new AbortController().signal),
  );
  let error: unknown;
  await places.take("open", false, signal).catch((thrown) => error = thrown);
  assert.instance(error, NoPlace);
  for (const one of waiting) void one.then((giveBack) => giveBack());
  giveBack();
  await Promise.all(waiting);
  assert.is(places.waiting, 0);
});

load("who leaves makes room, and gets no place", async () => {
  const places = createPlaces(1);
  const { signal } = new AbortController();
  const giveBack = await places.take("open", false, signal);
  const leaving = new AbortController();
  const left = places.take("open", false, leaving.signal).catch((error) => error);
  const waiting = places.take("open", false, signal);
  assert.is(places.waiting, 2);
  leaving.abort();
  assert.instance(await left, NoPlace);
  assert.is(places.waiting, 1);
  giveBack();
  (await waiting)();
  const error = await places.take("open", false, leaving.signal).catch((error) => error);
  assert.instance(error, NoPlace);
});

load("who waits is sent away when it closes, and who comes then", async () => {
  const places = createPlaces(1);
  const { signal } = new AbortController();
  const giveBack = await places.take("open", false, signal);
  const waiting = [places.take("open", false, signal), places.take("token", true, signal)];
  (await waiting[1]!)();
  const left = waiting[0]!.catch((error) => error);
  places.close();
  assert.instance(await left, NoPlace);
  giveBack();
  assert.instance(await places.take("open", false, signal).catch((error) => error), NoPlace);
});

load("a full queue is 503 with Retry-After, and /v1/info answers beside it", async () => {
  hold();
  const { ask, rpc, app } = forwarding(node.url, RPC, { open: ["reads"], concurrency: 2 });
  // Each is another call, so that none are shared.
  const waiting = Array.from({ length: 66 }, (_, at) => ask(`/v1/rpc/block?hash=${at}`));
  await until(() => held.length === 2);
  for (
    const answer of [
      await ask("/v1/rpc/block?hash=more"),
      await rpc({ id: 1, method: "block", params: ["more"] }),
      await rpc([{ id: 1, method: "block", params: ["more"] }]),
    ]
  ) {
    assert.is(answer.status, 503);
    assert.match(answer.headers.get("retry-after")!, /^\d+$/);
    const { id = null } = await answer.json();
    assert.is(id, null);
  }
  assert.is(node.come.length, 2);
  assert.is((await ask("/v1/info")).status, 200);
  await app.close();
  release();
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  assert.is(statuses.filter((status) => status === 503).length, 64);
  assert.is(statuses.filter((status) => status === 200).length, 2);
});

load("those with the token are served beside a full queue", async () => {
  process.env.GATEWAY_TOKEN = TOKEN;
  hold();
  const settings = { open: ["reads"], with_token: ["send"], token_env: "GATEWAY_TOKEN" };
  const { ask, app } = forwarding(node.url, RPC, { ...settings, concurrency: 1 });
  const waiting = Array.from({ length: 10 }, (_, at) => ask(`/v1/rpc/block?hash=${at}`));
  await until(() => held.length === 1);
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const write = ask("/v1/rpc/send", { method: "POST", headers, body: '{"tx":"a"}' });
  await until(() => held.length === 2);
  result("2")(node.come[1]!, held.pop()!);
  assert.is(await (await write).text(), "2");
  await app.close();
  await Promise.all(waiting);
});

load("heavy reads are at the node one at a time", async () => {
  hold();
  const { ask } = forwarding(node.url, REST);
  const waiting = [1, 2, 3].map((n) => ask(`/v1/node/heavy/${n}`));
  for (const count of [1, 2, 3]) {
    await until(() => held.length === 1);
    assert.is((await ask("/v1/info")).status, 200);
    assert.is(node.come.length, count);
    release();
  }
  assert.equal((await Promise.all(waiting)).map(({ status }) => status), [200, 200, 200]);
});

load(
  "a call that a parameter makes heavy waits for the others, and no light one for it",
  async () => {
    const heldBy: Record<"heavy" | "light", ServerResponse[]> = { heavy: [], light: [] };
    node.answer = (come, response) => {
      heldBy[textOf(come).includes("3]") ? "heavy" : "light"].push(response);
    };
    const done = (response: ServerResponse) => result("1")(node.come[0]!, response);
    const { ask, rpc } = forwarding(node.url, RPC);
    const heavy = [
      ask("/v1/rpc/block?hash=a&verbosity=3"),
      rpc({ jsonrpc: "2.0", id: 1, method: "block", params: ["b", 3] }),
      rpc([{ jsonrpc: "2.0", id: 1, method: "block", params: { hash: "c", verbosity: 3 } }]),
    ];
    await until(() => heldBy.heavy.length > 0);
    // Asked later, it arrives later than what would go beside the first.
    const light = ask("/v1/rpc/block?hash=d&verbosity=2");
    await until(() => heldBy.light.length === 1);
    for (const _ of heavy) {
      await until(() => heldBy.heavy.length > 0);
      const [first, ...others] = heldBy.heavy.splice(0);
      assert.equal(others, []);
      done(first!);
    }
    heldBy.light.forEach(done);
    for (const answer of await Promise.all([...heavy, light])) assert.is(answer.status, 200);
  },
);

load("what a visitor waits for is cancelled when he leaves", async () => {
  let closed = 0;
  node.answer = (_, response) => {
    held.push(response);
    response.on("close", () => closed++);
  };
  const { ask } = forwarding(node.url, RPC, { open: ["reads"], concurrency: 1 });
  const leaving = new AbortController();
  const left = ask("/v1/rpc/block?hash=a", { signal: leaving.signal });
  await until(() => held.length === 1);
  leaving.abort();
  await left.catch(() => {});
  await until(() => closed === 1);
  node.answer = result("1");
  assert.is((await ask("/v1/rpc/block?hash=b")).status, 200);
});

load("reads that are alike share one call while it is under way", async () => {
  hold();
  const { ask, rpc, calls } = forwarding(node.url, RPC);
  const asked = [
    ...Array.from({ length: 5 }, () => ask("/v1/rpc/block?hash=a&verbosity=1")),
    ask("/v1/rpc/block", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"verbosity":1,"hash":"a"}',
    }),
  ];
  const wrapped = [1, 2].map((id) =>
    rpc({ jsonrpc: "2.0", id, method: "block", params: ["a", 1] })
  );
  await until(() => held.length === 1);
  assert.is((await ask("/v1/info")).status, 200);
  release();
  for (const answer of await Promise.all(asked)) assert.is(await answer.text(), "1");
  for (const [at, answer] of (await Promise.all(wrapped)).entries()) {
    assert.equal(await answer.json(), { jsonrpc: "2.0", result: 1, id: at + 1 });
  }
  assert.is(node.come.length, 1);
  assert.is(calls.length, 8);
  // The next one is a new call.
  node.answer = result("2");
  assert.is(await (await ask("/v1/rpc/block?hash=a&verbosity=1")).text(), "2");
  assert.is(node.come.length, 2);
});

load("what differs is not shared: parameters, headers, right, or what is no read", async () => {
  process.env.GATEWAY_TOKEN = TOKEN;
  hold();
  const settings = {
    open: ["reads"],
    with_token: ["send", "POST /send", "unmarked"],
    token_env: "GATEWAY_TOKEN",
  };
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const [paths, methods] = [
    forwarding(node.url, REST, settings),
    forwarding(node.url, RPC, settings),
  ];
  const send = () => methods.ask("/v1/rpc/send", { method: "POST", headers, body: '{"tx":"a"}' });
  const unmarked = () => methods.ask("/v1/rpc/unmarked", { method: "POST", headers });
  const asked = [
    paths.ask("/v1/node/status"),
    paths.ask("/v1/node/status", { headers: { accept: "application/cbor" } }),
    paths.ask("/v1/node/peers/a"),
    paths.ask("/v1/node/peers/b"),
    ...[send(), send(), unmarked(), unmarked()],
  ];
  await until(() => held.length === 8);
  release();
  for (const answer of await Promise.all(asked)) assert.is(answer.status, 200);
});

load("one that leaves does not end what others wait for, and the last one does", async () => {
  let closed = 0;
  node.answer = (_, response) => {
    held.push(response);
    response.on("close", () => closed++);
  };
  const { ask } = forwarding(node.url, REST);
  const visitors = [new AbortController(), new AbortController(), new AbortController()];
  const asked = visitors.map(({ signal }) => ask("/v1/node/status", { signal }));
  await until(() => held.length === 1);
  visitors[0]!.abort();
  await asked[0]!.catch(() => {});
  release();
  for (const answer of await Promise.all(asked.slice(1))) {
    assert.is(answer.status, 200);
    await answer.text();
  }
  assert.is(node.come.length, 1);
  closed = 0;
  const last = [new AbortController(), new AbortController()];
  const left = last.map(({ signal }) => ask("/v1/node/status", { signal }).catch(() => {}));
  await until(() => held.length === 1);
  for (const visitor of last) visitor.abort();
  await Promise.all(left);
  await until(() => closed === 1);
  // Who comes then does not join what has ended.
  node.answer = result("3");
  assert.is((await ask("/v1/node/status")).status, 200);
});

load("a failure is shared as well, and is not kept", async () => {
  hold();
  const { ask } = forwarding(node.url, REST);
  const asked = [1, 2, 3].map(() => ask("/v1/node/status"));
  await until(() => held.length === 1);
  held.pop()!.writeHead(500).end();
  for (const answer of await Promise.all(asked)) assert.is(answer.status, 502);
  assert.is(node.come.length, 1);
  node.answer = result("1");
  assert.is((await ask("/v1/node/status")).status, 200);
});

load("a long answer is not shared: each gets all of it", async () => {
  const size = 3 * 1024 * 1024;
  hold();
  const { ask } = forwarding(node.url, REST);
  const asked = [1, 2, 3].map(() => ask("/v1/node/status"));
  await until(() => held.length === 1);
  node.answer = (_, response) => response.end(new Uint8Array(size));
  held.pop()!.end(new Uint8Array(size));
  const lengths = await Promise.all(
    asked.map(async (answer) => (await (await answer).arrayBuffer()).byteLength),
  );
  assert.equal(lengths, [size, size, size]);
  assert.is(node.come.length, 3);
});

load("a batch has one place for all of its calls", async () => {
  hold();
  const { ask, rpc } = forwarding(node.url, RPC, { open: ["reads"], concurrency: 1 });
  const batch = rpc([1, 2, 3].map((id) => ({ id, method: "block", params: [`${id}`] })));
  await until(() => held.length === 1);
  const other = ask("/v1/rpc/block?hash=other");
  for (const count of [1, 2, 3]) {
    await until(() => held.length === 1);
    assert.is(node.come.length, count);
    release();
  }
  assert.equal((await (await batch).json()).length, 3);
  await until(() => held.length === 1);
  release();
  assert.is((await other).status, 200);
});

load("a batch ends when its visitor leaves", async () => {
  hold();
  const { rpc, ask } = forwarding(node.url, RPC, { open: ["reads"], concurrency: 1 });
  const leaving = new AbortController();
  const calls = [1, 2, 3].map((id) => ({ id, method: "block", params: [`${id}`] }));
  const left = rpc(calls, { signal: leaving.signal }).catch(() => {});
  await until(() => held.length === 1);
  leaving.abort();
  await left;
  node.answer = result("1");
  assert.is((await ask("/v1/rpc/block?hash=b")).status, 200);
  assert.is(node.come.length, 2);
});

load("close lets what runs end, but not for long, and later calls are 503", async () => {
  hold();
  const { ask, app } = forwarding(node.url, REST);
  const running = [ask("/v1/node/status"), ask("/v1/node/peers/a")];
  await until(() => held.length === 2);
  await app.close();
  assert.is((await ask("/v1/node/peers/b")).status, 503);
  held.pop()!.end("{}");
  const [first, second] = (await Promise.all(running)).sort((a, b) => a.status - b.status);
  assert.is(first!.status, 200);
  assert.is(second!.status, 503);
  assert.match((await second!.json()).detail, "The service ends");
});

load("sharing gives each its own end, and ends the call with the last", async () => {
  const sharing = createSharing<number>();
  let ends = 0;
  let starts = 0;
  const start = () => {
    starts++;
    return Promise.resolve({ answer: starts, isWhole: true, end: () => void ends++ });
  };
  const { signal } = new AbortController();
  const [a, b] = await Promise.all([
    sharing.join("k", start, signal),
    sharing.join("k", start, signal),
  ]);
  assert.equal([a.answer, b.answer, starts], [1, 1, 1]);
  a.end();
  a.end();
  await Promise.resolve();
  assert.is(ends, 0);
  b.end();
  await Promise.resolve();
  await Promise.resolve();
  assert.is(ends, 1);
});

load.run();
