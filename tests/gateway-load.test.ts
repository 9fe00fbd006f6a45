import type { ServerResponse } from "node:http";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LightSignal } from "../src/abort-signal.ts";
import type { App } from "../src/app.ts";
import { Lease } from "../src/gateway/lease.ts";
import { Sender } from "../src/gateway/sender.ts";
import { Budget, ReservedBytes } from "../src/gateway/budget.ts";
import { Capacity } from "../src/gateway/capacity.ts";
import { FULL, Refusal } from "../src/gateway/refusal.ts";
import { Quota } from "../src/gateway/quota.ts";
import { type HeldBytes, ResponseInParts } from "../src/http/response.ts";
import { type CallingClient, Slots } from "../src/gateway/slots.ts";
import { formatJson } from "../src/json/lossless.ts";
import { nextTurn } from "../src/slices.ts";
import type { HttpClient } from "../src/node/http1.ts";
import type { NodeOperation } from "../src/openapi/node-operation.ts";
import {
  forwarding,
  type Gateway,
  IDS,
  nodeOf,
  type ReceivedRequest,
  REST,
  result,
  RPC,
  textOf,
  TOKEN,
  until,
} from "./_gateway.ts";
import { passTime } from "./_clock.ts";
import { contextFor } from "./_sources.ts";

const load = suite("concurrent calls");

const node = nodeOf(load);
let held: ServerResponse[];
load.before.each(() => {
  held = [];
});

const requests = new WeakMap<ServerResponse, ReceivedRequest>();
const keep = (request: ReceivedRequest, response: ServerResponse) => {
  requests.set(response, request);
  return held.push(response);
};
const hold = () => node.answer = keep;
const release = () => {
  for (const response of held.splice(0)) result("1")(requests.get(response)!, response);
};

const OTHERS = { name: "others" }, APP = { name: "app" };

load(
  "waiting calls stay in order, and a released slot goes to the next call",
  async () => {
    const places = new Slots(1);
    const { signal } = new AbortController();
    const order: string[] = [];
    const take = async (name: string) => {
      const slot = await places.acquire(OTHERS, false, signal, 1);
      order.push(name);
      return slot;
    };
    const first = await take("first");
    const others = [take("second"), take("third")];
    assert.is(places.queuedCalls, 2);
    first.dispose();
    first.dispose();
    (await others[0]!).dispose();
    (await others[1]!).dispose();
    assert.equal(order, ["first", "second", "third"]);
    assert.is(places.queuedCalls, 0);
  },
);

load(
  "a share without a slot may use one more, and does not wait behind other shares",
  async () => {
    const places = new Slots(1);
    const { signal } = new AbortController();
    const open = await places.acquire(OTHERS, false, signal, 1);
    const waiting = places.acquire(OTHERS, false, signal, 1);
    const token = await places.acquire(APP, false, signal, 1);
    const order: string[] = [];
    const later = places.acquire(APP, false, signal, 1).then((slot) => {
      order.push("token");
      return slot;
    });
    void waiting.then(() => order.push("open"));
    token.dispose();
    (await later).dispose();
    assert.equal(order, ["token"]);
    open.dispose();
    (await waiting).dispose();
    assert.equal(order, ["token", "open"]);
  },
);

load("shares take turns, and one that floods waits for itself", async () => {
  const places = new Slots(4);
  const signal = new LightSignal();
  const order: string[] = [];
  const take = async (name: string, share: CallingClient) => {
    const slot = await places.acquire(share, false, signal, 1);
    order.push(name);
    return slot;
  };
  const [flood, quiet, third] = [{ name: "flood" }, { name: "quiet" }, { name: "third" }];
  const first = await Promise.all([1, 2, 3, 4].map(() => take("flood", flood)));
  const pass = async (name: string, share: CallingClient) => (await take(name, share)).dispose();
  const calls = [
    ...Array.from({ length: 100 }, () => pass("flood", flood)),
    pass("quiet", quiet),
    pass("quiet", quiet),
    pass("third", third),
  ];
  await nextTurn();
  assert.equal(order.slice(4).filter((name) => name === "flood"), [], "one slot is beyond these");
  for (const slot of first) slot.dispose();
  await Promise.all(calls);
  const others = order.slice(4, 12).filter((name) => name !== "flood");
  assert.equal(others.sort(), ["quiet", "quiet", "third"]);
  assert.is(places.queuedCalls, 0);
});

load(
  "shares that make calls have equal parts of the slots, and a batch counts as its calls",
  async () => {
    const places = new Slots(8);
    const { signal } = new AbortController();
    const take = (share: CallingClient, calls = 1) => places.acquire(share, false, signal, calls);
    (await take(APP)).dispose();
    const small = await take(OTHERS, 3);
    const large = await take(OTHERS, 100);
    const third = take(OTHERS);
    await nextTurn();
    assert.is(places.queuedCalls, 1);
    large.dispose();
    (await third).dispose();
    small.dispose();
    // A share is alone again after five seconds.
    passTime(5001);
    for (let count = 0; count < 8; count++) await take(OTHERS, 100);
    assert.is(places.queuedCalls, 0);
  },
);

load("shares that make calls each begin two of them in a turn of the event loop", async () => {
  const places = new Slots(100);
  const { signal } = new AbortController();
  const order: string[] = [];
  const pass = async (share: CallingClient) => {
    (await places.acquire(share, false, signal, 1)).dispose();
    order.push(share.name);
  };
  const all = [APP, ...Array<CallingClient>(5).fill(OTHERS), APP].map(pass);
  await Promise.resolve();
  assert.is(places.queuedCalls, 3);
  await nextTurn();
  assert.is(places.queuedCalls, 1);
  await Promise.all(all);
  assert.equal(order.slice(-3), Array(3).fill(OTHERS.name));
});

load("one share alone may have all slots, but no more than its concurrency", async () => {
  const places = new Slots(4);
  const { signal } = new AbortController();
  for (let count = 0; count < 4; count++) await places.acquire(OTHERS, false, signal, 1);
  const limited = { name: "limited", concurrency: 1 };
  const slot = await places.acquire(limited, false, signal, 1);
  const waiting = places.acquire(limited, false, signal, 1);
  assert.is(places.queuedCalls, 1);
  slot.dispose();
  (await waiting).dispose();
});

load("a batch takes no more slots than its client's concurrency", async () => {
  const places = new Slots(8);
  const { signal } = new AbortController();
  (await places.acquire(OTHERS, false, signal, 1)).dispose();
  await places.acquire({ name: "limited", concurrency: 2 }, false, signal, 100);
  // The others are alone again after five seconds, and may have all other slots.
  passTime(5001);
  const others = Array.from({ length: 6 }, () => places.acquire(OTHERS, false, signal, 1));
  assert.is(places.queuedCalls, 0);
  const next = places.acquire(OTHERS, false, signal, 1);
  assert.is(places.queuedCalls, 1);
  (await others[0]!).dispose();
  (await next).dispose();
});

load("one share has at most half of the slots of calls that wait for an event", async () => {
  const places = new Slots(4, true);
  const { signal } = new AbortController();
  const slots = [
    await places.acquire(APP, false, signal, 1),
    await places.acquire(APP, false, signal, 1),
  ];
  const third = places.acquire(APP, false, signal, 1);
  assert.is(places.queuedCalls, 1);
  (await places.acquire(OTHERS, false, signal, 1)).dispose();
  slots[0]!.dispose();
  (await third).dispose();
});

load("heavy calls run one at a time, and do not delay light ones", async () => {
  const places = new Slots(6);
  const { signal } = new AbortController();
  const heavy = await places.acquire(OTHERS, true, signal, 1);
  let isSecond = false;
  const second = places.acquire(OTHERS, true, signal, 1).then((slot) => {
    isSecond = true;
    return slot;
  });
  const token = places.acquire(APP, true, signal, 1).then((slot) => slot.dispose());
  const light = await places.acquire(OTHERS, false, signal, 1);
  const lighter = await places.acquire(OTHERS, false, signal, 1);
  assert.not(isSecond);
  light.dispose();
  lighter.dispose();
  assert.not(isSecond);
  heavy.dispose();
  (await second).dispose();
  await token;
  assert.ok(isSecond);
});

load("up to 1000 calls wait, and the next call is refused at once", async () => {
  const places = new Slots(1);
  const { signal } = new AbortController();
  const slot = await places.acquire(OTHERS, false, signal, 1);
  const waiting = Array.from(
    { length: 1000 },
    () => places.acquire(OTHERS, false, new AbortController().signal, 1),
  );
  let error: unknown;
  await places.acquire(OTHERS, false, signal, 1).catch((thrown) => error = thrown);
  assert.instance(error, Refusal);
  for (const one of waiting) void one.then((slot) => slot.dispose());
  slot.dispose();
  await Promise.all(waiting);
  assert.is(places.queuedCalls, 0);
});

load("a call that is cancelled while it waits leaves the queue and gets no slot", async () => {
  const places = new Slots(1);
  const { signal } = new AbortController();
  const slot = await places.acquire(OTHERS, false, signal, 1);
  const leaving = new AbortController();
  const left = places.acquire(OTHERS, false, leaving.signal, 1).catch((error) => error);
  const waiting = places.acquire(OTHERS, false, signal, 1);
  assert.is(places.queuedCalls, 2);
  leaving.abort();
  assert.instance(await left, Refusal);
  assert.is(places.queuedCalls, 1);
  slot.dispose();
  (await waiting).dispose();
  const error = await places.acquire(OTHERS, false, leaving.signal, 1).catch((error) => error);
  assert.instance(error, Refusal);
});

load("after close, waiting calls and later calls are refused", async () => {
  const places = new Slots(1);
  const { signal } = new AbortController();
  const slot = await places.acquire(OTHERS, false, signal, 1);
  const waiting = [
    places.acquire(OTHERS, false, signal, 1),
    places.acquire(APP, true, signal, 1),
  ];
  (await waiting[1]!).dispose();
  const left = waiting[0]!.catch((error) => error);
  places.close();
  assert.instance(await left, Refusal);
  slot.dispose();
  assert.instance(
    await places.acquire(OTHERS, false, signal, 1).catch((error) => error),
    Refusal,
  );
});

load(
  "if the queue is full, calls get 503 with Retry-After, but /v1/info responds",
  async () => {
    hold();
    const { ask, rpc, app } = forwarding(node.url, RPC, {
      open: ["reads"],
      concurrency: 2,
    });
    const waiting = Array.from(
      { length: 1002 },
      (_, at) => ask(`/v1/rpc/block?hash=${at}`),
    );
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
      const [{ id, error, status }] = [await answer.json()].flat();
      assert.equal(status === 503 ? [1, -32054] : [id, error.code], [1, -32054]);
    }
    for (const id of IDS) {
      const call = `{${id ? `"id":${id},` : ""}"jsonrpc":"2.0","method":"number"}`;
      for (const content of [call, `[${call},${call}]`]) {
        const answer = await rpc(content);
        const ids = [...(await answer.text()).matchAll(/"id":(.*?)\}/g)].map(([, id]) => id);
        const isNotice = id === undefined;
        assert.is(answer.status, isNotice ? 204 : 503);
        assert.equal(ids, isNotice ? [] : Array(content === call ? 1 : 2).fill(id));
      }
    }
    assert.is(node.received.length, 2);
    assert.is((await ask("/v1/info")).status, 200);
    const closed = app.close();
    release();
    await closed;
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    assert.is(statuses.filter((status) => status === 503).length, 1000);
    assert.is(statuses.filter((status) => status === 200).length, 2);
  },
);

load("calls with the token are served despite a full queue", async () => {
  process.env.GATEWAY_TOKEN = TOKEN;
  hold();
  const settings = {
    open: ["reads"],
    clients: [{ name: "app", allow: ["send"], token_env: "GATEWAY_TOKEN" }],
  };
  const { ask, app } = forwarding(node.url, RPC, {
    ...settings,
    concurrency: 1,
  });
  const waiting = Array.from(
    { length: 10 },
    (_, at) => ask(`/v1/rpc/block?hash=${at}`),
  );
  await until(() => held.length === 1);
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    "content-type": "application/json",
  };
  const write = ask("/v1/rpc/send", {
    method: "POST",
    headers,
    body: '{"tx":"a"}',
  });
  await until(() => held.length === 2);
  result("2")(node.received[1]!, held.pop()!);
  assert.is(await (await write).text(), "2");
  await app.close();
  await Promise.all(waiting);
});

const WITH_TOKEN = { headers: { authorization: `Bearer ${TOKEN}` } };

load(
  "calls that wait have slots of their own, half of which are for clients with a token",
  async () => {
    process.env.GATEWAY_TOKEN = TOKEN;
    hold();
    const { ask, app } = forwarding(node.url, REST, {
      open: ["reads"],
      clients: [{ name: "wallet", token_env: "GATEWAY_TOKEN", allow: ["send"] }],
      concurrency: 1,
    });
    const leaving = new AbortController();
    const waiting = Array.from(
      { length: 17 },
      (_, at) => ask(`/v1/node/until/${at}`, at === 0 ? leaving : {}).catch(() => undefined),
    );
    await until(() => held.length === 16);
    // These calls need no slot of those that wait.
    const light = ask("/v1/node/status");
    await until(() => held.length === 17);
    result("1")(node.received[16]!, held.pop()!);
    assert.is((await light).status, 200);
    assert.is(held.length, 16, "the 17th call waits for a slot");
    const named = Array.from({ length: 16 }, (_, at) => ask(`/v1/node/until/t${at}`, WITH_TOKEN));
    await until(() => held.length === 32);
    // Nodes such as algod wait on when nobody waits any more, so the slot is not free yet.
    const at = held.findIndex((response) => requests.get(response)!.url === "/until/0");
    const [ofLeaving] = held.splice(at, 1);
    leaving.abort();
    await nextTurn();
    assert.not.ok(node.received.some(({ url }) => url === "/until/16"));
    result("1")(requests.get(ofLeaving!)!, ofLeaving!);
    await until(() => node.received.at(-1)!.url === "/until/16");
    release();
    for (const response of (await Promise.all([...waiting, ...named])).slice(1)) {
      assert.is(response!.status, 200);
    }
    await app.close();
  },
);

/** Timers of `ms` milliseconds end only when the functions that `use` gets are called. */
async function holdTimers(ms: number, use: (waits: (() => void)[]) => Promise<void>) {
  const waits: (() => void)[] = [];
  const { setTimeout: set } = globalThis;
  globalThis.setTimeout = ((act: () => void, time: number) => {
    if (time !== ms) return set(act, time);
    waits.push(act);
    return set(() => {}, 0);
  }) as typeof set;
  try {
    await use(waits);
  } finally {
    globalThis.setTimeout = set;
  }
}

load(
  "a call may wait for a minute, whatever the timeout of other calls is",
  () =>
    holdTimers(65_000, async (waits) => {
      holdAndCount();
      const settings = { open: ["reads"], timeout: "150ms" as const };
      const { ask } = forwarding(node.url, REST, settings);
      const [first, second] = [ask("/v1/node/until/1"), ask("/v1/node/until/2")];
      await until(() => held.length === 2);
      await new Promise((resolve) => setTimeout(resolve, 250));
      result("1")(node.received[0]!, held[0]!);
      assert.is((await first).status, 200);
      for (const pass of waits) pass();
      assert.is((await second).status, 504);
    }),
);

/** What a node says when it is busy, and a call that gets it. */
const BUSY: readonly (readonly [what: string, status: number, text: string])[] = [
  ["429", 429, ""],
  ["503", 503, ""],
  ["the text of bitcoind", 500, "Work queue depth exceeded"],
];

/** Makes 20 calls, of which the node must get `count` at once. */
async function assertAtOnce(count: number, { ask }: Gateway): Promise<void> {
  hold();
  const waiting = Array.from({ length: 20 }, (_, at) => ask(`/v1/node/peers/${at}`));
  await until(() => held.length >= count);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.is(held.length, count);
  node.answer = result("1");
  for (const response of held.splice(0)) response.end("{}");
  for (const response of await Promise.all(waiting)) assert.is(response.status, 200);
}

for (const [what, status, text] of BUSY) {
  load(`a node that says it is busy with ${what} gets a quarter of the calls`, async () => {
    const gateway = forwarding(node.url, REST, { open: ["reads"], concurrency: 8 });
    const say = async (path: string, init?: RequestInit) => {
      node.answer = (_, response) => response.writeHead(status).end(text);
      return (await gateway.ask(path, init)).status;
    };
    await assertAtOnce(8, gateway);
    assert.is(await say("/v1/node/status"), status);
    await assertAtOnce(2, gateway);
    // A response that is none of these ends it.
    await assertAtOnce(8, gateway);
    // The client of this call chooses the status.
    assert.is(await say("/v1/node/health?syncing_status=429"), status);
    await assertAtOnce(8, gateway);
    await say("/v1/node/status");
    const { now } = performance;
    performance.now = () => now.call(performance) + 5001;
    try {
      await assertAtOnce(8, gateway);
    } finally {
      performance.now = now;
    }
  });
}

load("no other error of the node makes it look busy", async () => {
  const gateway = forwarding(node.url, REST, { open: ["reads"], concurrency: 8 });
  for (const [status, text] of [[500, "Work queue"], [502, ""], [400, "429"], [404, ""]] as const) {
    node.answer = (_, response) => response.writeHead(status).end(text);
    assert.is((await gateway.ask("/v1/node/status")).status, status);
    await assertAtOnce(8, gateway);
  }
});

load("heavy read-only calls are sent to the node one at a time", async () => {
  hold();
  const { ask } = forwarding(node.url, REST);
  const waiting = [1, 2, 3].map((n) => ask(`/v1/node/heavy/${n}`));
  for (const count of [1, 2, 3]) {
    await until(() => held.length === 1);
    assert.is((await ask("/v1/info")).status, 200);
    assert.is(node.received.length, count);
    release();
  }
  assert.equal((await Promise.all(waiting)).map(({ status }) => status), [
    200,
    200,
    200,
  ]);
});

load(
  "a call with a heavy parameter waits for other heavy calls, but delays no light call",
  async () => {
    const heldBy: Record<"heavy" | "light", ServerResponse[]> = {
      heavy: [],
      light: [],
    };
    node.answer = (request, response) => {
      heldBy[/3[\]}]/.test(textOf(request)) ? "heavy" : "light"].push(response);
    };
    const done = (response: ServerResponse) => result("1")(node.received[0]!, response);
    const { ask, rpc } = forwarding(node.url, RPC);
    const heavy = [
      ask("/v1/rpc/block?hash=a&verbosity=3"),
      rpc({ jsonrpc: "2.0", id: 1, method: "block", params: ["b", 3] }),
      rpc([{
        jsonrpc: "2.0",
        id: 1,
        method: "block",
        params: { hash: "c", verbosity: 3 },
      }]),
    ];
    await until(() => heldBy.heavy.length > 0);
    // The light call is sent last. If the service forwarded a second heavy call too early, the node
    // would receive that call before the light call.
    const light = ask("/v1/rpc/block?hash=d&verbosity=2");
    await until(() => heldBy.light.length === 1);
    for (const _ of heavy) {
      await until(() => heldBy.heavy.length > 0);
      const [first, ...others] = heldBy.heavy.splice(0);
      assert.equal(others, []);
      done(first!);
    }
    heldBy.light.forEach(done);
    for (const answer of await Promise.all([...heavy, light])) {
      assert.is(answer.status, 200);
    }
  },
);

load("a value that the node may read as a heavy number makes a call heavy", async () => {
  const sent: string[] = [];
  const waiting: ServerResponse[] = [];
  node.answer = (request, response) => {
    sent.push(JSON.parse(textOf(request)).params[0]);
    waiting.push(response);
  };
  const [hash] = RPC.methods[1]!.params;
  const params = [hash!, { name: "verbosity", schema: { "x-heavy-from": 3 }, required: false }];
  const block = { ...RPC.methods[1]!, params };
  const { rpc } = forwarding(node.url, { ...RPC, methods: [block] });
  const call = (name: string, value: unknown) =>
    rpc({ jsonrpc: "2.0", id: 1, method: "block", params: [name, value] });
  const values = ["3", "2 ", [3], {}, "a"];
  const heavy = values.map((value, at) => call(`heavy ${at}`, value));
  await until(() => sent.length === 1);
  const light = [2, null, true].map((value) => call("light", value));
  await until(() => sent.length === 4);
  assert.equal(sent.slice(1), ["light", "light", "light"]);
  for (let done = 0; done < heavy.length + light.length; done++) {
    await until(() => waiting.length > 0);
    result("1")(node.received[0]!, waiting.shift()!);
  }
  for (const response of await Promise.all([...heavy, ...light])) assert.is(response.status, 200);
});

const holdAndCount = () => {
  const count = { closed: 0 };
  node.answer = (request, response) => {
    keep(request, response);
    response.on(
      "close",
      () => count.closed += response.writableFinished ? 0 : 1,
    );
  };
  return count;
};

const abandon = async (asking: (init: RequestInit) => Promise<Response>) => {
  const leaving = new AbortController();
  const before = node.received.length;
  const left = asking({ signal: leaving.signal }).catch(() => {});
  await until(() => node.received.length > before);
  leaving.abort();
  await left;
};

load(
  "a slot is freed only when the node responds, even if the client disconnects earlier",
  async () => {
    const count = holdAndCount();
    const { ask, calls } = forwarding(node.url, RPC, {
      open: ["reads"],
      concurrency: 1,
    });
    await abandon((init) => ask("/v1/rpc/block?hash=a", init));
    await until(() => calls.length === 1);
    assert.is(calls[0]!.status, 499);
    const next = ask("/v1/rpc/block?hash=b");
    assert.is((await ask("/v1/info")).status, 200);
    assert.is(node.received.length, 1);
    const { socket } = held[0]!;
    release();
    await until(() => held.length === 1);
    assert.ok(held[0]!.socket === socket, "the connection is reused");
    release();
    assert.is((await next).status, 200);
    assert.is(count.closed, 0);
  },
);

load(
  "if the node does not respond, the slot of an abandoned call is freed after the timeout",
  () =>
    holdTimers(200, async (waits) => {
      const count = holdAndCount();
      const settings = { open: ["reads"], concurrency: 1, timeout: "200ms" as const };
      const { ask } = forwarding(node.url, RPC, settings);
      await abandon((init) => ask("/v1/rpc/block?hash=a", init));
      assert.is(count.closed, 0);
      for (const pass of waits) pass();
      await until(() => count.closed === 1);
      node.answer = result("1");
      assert.is((await ask("/v1/rpc/block?hash=b")).status, 200);
    }),
);

load(
  "a heavy call that times out keeps its slot until the node has responded",
  async () => {
    const count = holdAndCount();
    const { ask } = forwarding(node.url, RPC, {
      open: ["reads"],
      timeout: "1s",
    });
    assert.is((await ask("/v1/rpc/heavy?n=1")).status, 504);
    const next = ask("/v1/rpc/heavy?n=2");
    assert.is((await ask("/v1/info")).status, 200);
    assert.equal([node.received.length, count.closed], [1, 0]);
    release();
    await until(() => node.received.length === 2);
    release();
    assert.is((await next).status, 200);
    // If the node stays silent, the service closes the connection after twice the timeout.
    assert.is((await ask("/v1/rpc/heavy?n=3")).status, 504);
    assert.is(count.closed, 0);
    await until(() => count.closed === 1);
  },
);

/**
 * Leaves a response of which the node has sent `begun` bytes, and then sends `rest` bytes. Resolves
 * to true if the next call has the same connection.
 */
const leaveResponse = async (begun: number, rest: number) => {
  holdAndCount();
  const { ask } = forwarding(node.url, REST, {
    open: ["reads"],
    concurrency: 1,
  });
  const asked = ask("/v1/node/status");
  await until(() => held.length === 1);
  const [response] = held.splice(0);
  const { socket } = response!;
  response!.write(new Uint8Array(begun));
  await (await asked).body!.cancel();
  const next = ask("/v1/node/status");
  await nextTurn();
  assert.is(node.received.length, 1);
  response!.end(new Uint8Array(rest));
  await until(() => held.length === 1);
  const isReused = held[0]!.socket === socket;
  release();
  assert.is((await next).status, 200);
  return isReused;
};

load("if a client leaves a response, the rest is read, and the connection is reused", async () => {
  assert.ok(await leaveResponse(1_100_000, 50_000));
});

load("if a client leaves a long response, the connection to the node is closed", async () => {
  // The response must be larger than the socket buffers of the operating system.
  assert.not(await leaveResponse(1_100_000, 15 * 1024 * 1024));
});

load(
  "abandoned calls are aborted at once when the service stops",
  async () => {
    const count = holdAndCount();
    const { ask, app } = forwarding(node.url, RPC);
    await abandon((init) => ask("/v1/rpc/heavy?n=1", init));
    const waiting = ask("/v1/rpc/block?hash=a");
    await until(() => held.length === 2);
    const closing = app.close();
    await until(() => count.closed === 1);
    result("1")(node.received[1]!, held[1]!);
    assert.is((await waiting).status, 200);
    await closing;
  },
);

load(
  "each caller gets the response to its own request, even if the requests are similar",
  async () => {
    node.answer = (request, response) => void held.push(Object.assign(response, { request }));
    const { ask } = forwarding(node.url, REST);
    const bodies = [[0x80], [0x81], [0xef, 0xbb, 0xbf, 0x7a], [0x7a], [0x7a]];
    const asked = bodies.map((bytes) =>
      ask("/v1/node/raw", {
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        body: Uint8Array.from(bytes),
      })
    );
    await until(() => held.length === bodies.length);
    for (const response of held as (ServerResponse & { request: ReceivedRequest })[]) {
      response.end(response.request.body);
    }
    const got = await Promise.all(
      asked.map(async (answer) => (await answer).arrayBuffer()),
    );
    assert.equal(got.map((bytes) => [...new Uint8Array(bytes)]), bodies);
  },
);

load(
  "with HTTP Digest, each slot has its own connection and its own nonce",
  async () => {
    process.env.GATEWAY_LOGIN = "op:secret";
    process.env.GATEWAY_TOKEN = TOKEN;
    const nonces = new WeakMap<object, string>();
    let refused = 0;
    node.answer = (request, response) => {
      const { headers } = request;
      const socket = response.socket!;
      const nonce = nonces.get(socket) ?? crypto.randomUUID();
      nonces.set(socket, nonce);
      if (headers.authorization?.includes(nonce)) return keep(request, response);
      refused++;
      const challenge = `Digest realm="r", nonce="${nonce}", qop="auth"`;
      response.writeHead(401, { "www-authenticate": challenge }).end();
    };
    const settings = {
      open: ["reads"],
      clients: [{ name: "app", allow: ["send"], token_env: "GATEWAY_TOKEN" }],
    };
    const auth = { digest_env: "GATEWAY_LOGIN" };
    const { ask } = forwarding(node.url, RPC, settings, {
      node: { url: node.url, kind: "none", auth },
      log() {},
    });
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
    };
    const asked = [
      ask("/v1/rpc/block?hash=a"),
      ask("/v1/rpc/block?hash=b"),
      ask("/v1/rpc/send", { method: "POST", headers, body: '{"tx":"a"}' }),
    ];
    await until(() => held.length === 3);
    release();
    for (const answer of await Promise.all(asked)) {
      assert.is(
        answer.status,
        200,
      );
    }
    assert.is(refused, 3);
    const again = ask("/v1/rpc/block?hash=c");
    await until(() => held.length === 1);
    release();
    assert.is((await again).status, 200);
    assert.is(refused, 3, "a nonce is reused on its connection");
  },
);

const MIB = 1024 * 1024;

/** Nothing reads the responses, which are in `unread`. */
const leasing = (timeout = 10_000) => {
  const unread: Response[] = [];
  const sent: string[] = [];
  const block = new Uint8Array(MIB);
  let held = Promise.resolve();
  /** Lets the node wait until the returned function is called. */
  const hold = () => {
    let release = () => {};
    held = new Promise<void>((resolve) => release = resolve);
    return release;
  };
  const client: HttpClient = async ({ url }) => {
    await held;
    sent.push(url.pathname);
    const length = Number(url.pathname.slice(1));
    let given = 0;
    return {
      status: 200,
      headers: new Headers(),
      next: () => {
        const part = block.subarray(0, Math.min(MIB, length - given));
        given += part.byteLength;
        return Promise.resolve(part.byteLength > 0 ? part : undefined);
      },
      received: () => given,
      cancel() {},
    };
  };
  const capacity = new Capacity(contextFor(node.url, { client }), { timeout, limit: 32 * MIB });
  capacity.slots.count = 10_000;
  /** The leases of short responses, which are still being sent. */
  const short: Lease[] = [];
  const send = async (
    length: number,
    hasToken = false,
    isRead = true,
  ) => {
    const lease = new Lease(capacity, {
      disconnectSignal: new AbortController().signal,
      client: hasToken ? APP : undefined,
    });
    const url = new URL(`${node.url}/${length}`);
    const request = { method: "GET", url, headers: {}, body: undefined };
    const operation = { access: isRead ? "read" : "write" } as NodeOperation;
    try {
      await lease.begin({ isHeavy: false });
      const sender = new Sender(capacity, lease);
      const { size, parts } = await sender.send(request, operation, { collect: 32 * MIB });
      const body = lease.holdUntilSent(parts);
      if ("parts" in body) unread.push(new ResponseInParts(body, {}));
      else short.push(lease);
      return size;
    } catch (error) {
      return error as Refusal;
    } finally {
      if (!short.includes(lease)) lease.dispose();
    }
  };
  return { capacity, sent, send, unread, hold };
};

load(
  "unread long responses leave room for short responses and for callers with the token",
  async () => {
    const { send, sent } = leasing();
    for (const isThere of [true, true, false, false]) {
      const got = await send(32 * MIB);
      assert.is(
        typeof got === "number" ? got : got.status,
        isThere ? 32 * MIB : 503,
      );
    }
    assert.is(await send(40), 40);
    assert.is(await send(1 * MIB, true), MIB);
    // The total size of short responses is limited too. Once the limit is reached, the service
    // forwards only calls with the token.
    let filled: number | Refusal = 0;
    while (typeof filled === "number") filled = await send(16_000);
    assert.is(filled.message, FULL.message);
    assert.not(filled.details.isUncertain);
    const before = sent.length;
    assert.is((await send(40, false, false) as Refusal).status, 503);
    assert.is(sent.length, before);
    assert.is(await send(32, true), 32);
    // A client with the token gets the response to a write operation even if no memory is left for
    // responses.
    assert.is(await send(31 * MIB, true, false), 31 * MIB);
    assert.is(await send(31 * MIB, true, false), 31 * MIB);
  },
);

const failureOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(() => "none", ({ message }: Error) => message);

load("a call leaves nothing at its connection, which may last for thousands of calls", async () => {
  const { capacity } = leasing();
  const connection = new LightSignal();
  const lease = new Lease(capacity, { disconnectSignal: connection });
  await lease.begin({ isHeavy: false });
  assert.ok(connection.hasListeners);
  lease.dispose();
  await Promise.resolve();
  assert.not(connection.hasListeners);
});

load("a long text of our own counts until it is sent, or until others need the memory", () => {
  const { capacity } = leasing();
  const { budget } = capacity;
  const respond = (length: number) => {
    const lease = new Lease(capacity, { disconnectSignal: new AbortController().signal });
    const held = lease.holdUntilSent([new Uint8Array(length)]) as HeldBytes;
    lease.dispose();
    return held;
  };
  const first = respond(MIB);
  assert.is(budget.taken, MIB);
  first.release();
  assert.is(budget.taken, 0);
  for (let i = 0; i < 40; i++) respond(MIB);
  assert.is(budget.taken, 32 * MIB, "the oldest are dropped");
  assert.throws(() => respond(33 * MIB), /Too much data is in transit/);
});

load("bytes whose owner is dropped to make room for them are not counted", () => {
  const budget = new Budget();
  const own = new ReservedBytes(budget, "response"), other = new ReservedBytes(budget, "response");
  assert.ok(other.set(70 * MIB) && own.set(8 * MIB));
  own.offer(() => own.dispose());
  assert.ok(own.set(16 * MIB));
  assert.is(budget.taken, 70 * MIB);
});

load("a call whose client is dropped to make room for its response is not sent", async () => {
  const { capacity, sent } = leasing();
  const client = new LightSignal();
  const others = new ReservedBytes(capacity.budget, "write");
  const waiting = new ReservedBytes(capacity.budget, "response");
  others.set(96 * MIB);
  waiting.offer(() => client.abort(new Error("too slow")));
  const lease = new Lease(capacity, { disconnectSignal: client });
  await lease.begin({ isHeavy: false });
  const request = { method: "GET", url: new URL(`${node.url}/1`), headers: {}, body: undefined };
  const operation = { access: "read" } as NodeOperation;
  const sending = new Sender(capacity, lease).send(request, operation, { collect: MIB });
  assert.is(await failureOf(sending), "too slow");
  assert.equal(sent, []);
  lease.dispose();
});

load("the id that a response repeats counts, too", async () => {
  const { capacity } = leasing();
  const lease = new Lease(capacity, { disconnectSignal: new AbortController().signal });
  await lease.begin({ isHeavy: false });
  const held = lease.holdUntilSent([new Uint8Array(MIB)]) as HeldBytes;
  lease.dispose();
  assert.is(capacity.budget.taken, MIB);
  held.release();
  assert.is(capacity.budget.taken, 0);
});

load("the memory for reading a response counts while the response is read", async () => {
  const { capacity, send } = leasing();
  assert.is(await send(32 * MIB), 32 * MIB);
  const lease = new Lease(capacity, { disconnectSignal: new AbortController().signal });
  await lease.begin({ isHeavy: false });
  const reader = new Sender(capacity, lease);
  reader.reserve(32 * MIB);
  assert.is((await send(32 * MIB) as Refusal).status, 503);
  assert.throws(() => reader.reserve(64 * MIB), /Too much data is in transit/);
  reader.reserve(0);
  assert.is(await send(32 * MIB), 32 * MIB);
});

load(
  "after the time limit of a call, its client may read on until others need memory",
  async () => {
    const { capacity: { budget }, send, unread } = leasing(20);
    for (const _ of [1, 2]) assert.is(await send(32 * MIB), 32 * MIB);
    await until(() => budget.overdue.size === 2);
    assert.is(budget.taken, 64 * MIB);
    assert.is(await send(MIB), MIB);
    assert.is(await send(32 * MIB), 32 * MIB);
    assert.is(budget.taken, 65 * MIB, "only the oldest is dropped");
    const [first, second] = unread as [Response, Response];
    assert.match(await failureOf(first.arrayBuffer()), "within 0.02 s");
    assert.is((await second.arrayBuffer()).byteLength, 32 * MIB);
    assert.is(budget.taken, 33 * MIB);
  },
);

load("after a reload, what has been read too slowly is dropped", async () => {
  const { capacity, send } = leasing(20);
  const { budget } = capacity;
  assert.is(await send(MIB), MIB);
  await until(() => budget.overdue.size === 1);
  assert.is(await send(MIB), MIB);
  capacity.close();
  await until(() => budget.taken === 0);
});

load("the body of an abandoned call counts until the node has finished", async () => {
  const { capacity, hold } = leasing();
  const left = new LightSignal();
  const lease = new Lease(capacity, { disconnectSignal: left });
  assert.ok(lease.requestBytes.set(20 * MIB));
  await lease.begin({ isHeavy: false });
  const sender = new Sender(capacity, lease);
  const release = hold();
  const request = { method: "POST", url: new URL(`${node.url}/1`), headers: {}, body: undefined };
  const operation = { access: "read" } as NodeOperation;
  const sending = sender.send(request, operation, { collect: MIB });
  left.abort(new Error("gone"));
  assert.is(await failureOf(sending), "gone");
  const unread = lease.holdUntilSent([new Uint8Array(MIB)]) as HeldBytes;
  unread.release();
  lease.dispose();
  assert.ok(capacity.budget.taken >= 20 * MIB);
  release();
  await until(() => capacity.budget.taken === 0);
});

load("a response whose client disconnects, or loses its right, is dropped", async () => {
  const { capacity } = leasing();
  for (const which of ["disconnectSignal", "token"]) {
    const ends = { disconnectSignal: new LightSignal(), token: new LightSignal() };
    const lease = new Lease(capacity, { ...ends, client: APP });
    assert.ok(lease.requestBytes.set(MIB));
    await lease.begin({ isHeavy: false });
    new Sender(capacity, lease).reserve(MIB);
    const held = lease.holdUntilSent([new Uint8Array(MIB)]) as HeldBytes;
    const response = new ResponseInParts(held, {});
    lease.dispose();
    assert.is(capacity.budget.taken, MIB);
    ends[which as "disconnectSignal" | "token"].abort(new Error("over"));
    assert.is(capacity.budget.taken, 0);
    assert.is(await failureOf(response.arrayBuffer()), "over");
  }
});

load("a refused call counts, even if its client has left before it is refused", () => {
  const { capacity } = leasing();
  const [disconnectSignal, quota] = [new LightSignal(), new Quota(100)];
  const lease = new Lease(capacity, { disconnectSignal, quota });
  disconnectSignal.abort(new Error("gone"));
  lease.charge(new Refusal(401, 0, "The token is not valid"));
  assert.match(quota.headers.ratelimit!, "r=90;");
});

load(
  "all calls of a batch use the same slot, and what is no read goes alone and in order",
  async () => {
    process.env.GATEWAY_TOKEN = TOKEN;
    hold();
    const { ask, rpc } = forwarding(node.url, RPC, {
      open: ["reads"],
      clients: [{ name: "app", allow: ["send"], token_env: "GATEWAY_TOKEN" }],
      concurrency: 1,
    });
    const methods = ["block", "number", "send", "send", "block"];
    const headers = { authorization: `Bearer ${TOKEN}` };
    const batch = rpc(
      methods.map((method, id) => ({ id, method, params: ["a"] })),
      { headers },
    );
    await until(() => held.length === 1);
    const other = ask("/v1/rpc/block?hash=other", { headers });
    for (const sent of [["block", "number"], ["send"], ["send"], ["block"]]) {
      await until(() => held.length === 1);
      const calls = [JSON.parse(textOf(node.received.at(-1)!))].flat();
      assert.equal(calls.map(({ method }) => method), sent);
      release();
    }
    assert.equal((await (await batch).json()).length, 5);
    await until(() => held.length === 1);
    release();
    assert.is((await other).status, 200);
  },
);

load(
  "if the client of a batch disconnects, the running call ends and no other call is sent",
  async () => {
    const count = holdAndCount();
    const { rpc, ask } = forwarding(node.url, RPC, {
      open: ["reads"],
      concurrency: 1,
    });
    const calls = [1, 2, 3].map((id) => ({
      id,
      method: "block",
      params: [`${id}`],
    }));
    await abandon((init) => rpc(calls, init));
    const next = ask("/v1/rpc/block?hash=b");
    assert.is((await ask("/v1/info")).status, 200);
    assert.is(node.received.length, 1);
    node.answer = result("1");
    release();
    assert.is((await next).status, 200);
    assert.equal([node.received.length, count.closed], [2, 0]);
  },
);

load(
  "after close, running calls get a grace period, and new calls get 503",
  async () => {
    hold();
    const { ask, app } = forwarding(node.url, REST);
    const running = [ask("/v1/node/status"), ask("/v1/node/peers/a")];
    await until(() => held.length === 2);
    const closings = [app.close(), app.close()];
    let isClosed = false;
    void closings[0]!.then(() => isClosed = true);
    assert.is((await ask("/v1/node/peers/b")).status, 503);
    held.pop()!.end("{}");
    await until(() => held.length === 1);
    assert.not(isClosed, "it waits for the calls that run");
    const [first, second] = (await Promise.all(running)).sort((a, b) => a.status - b.status);
    assert.is(first!.status, 200);
    assert.is(second!.status, 503);
    assert.match((await second!.json()).detail, "The service is stopping");
    await Promise.all(closings);
  },
);

load("a service that is replaced closes when its last response has been sent", async () => {
  hold();
  const { ask, app } = forwarding(node.url, REST);
  const asked = ask("/v1/node/status");
  await until(() => held.length === 1);
  const [response] = held.splice(0);
  response!.writeHead(200, { "content-type": "application/json" });
  response!.write(" ".repeat(2 * 1024 * 1024));
  const reader = (await asked).body!.getReader();
  await reader.read();
  const closing = (app as App).closeWhenIdle();
  node.answer = result("1");
  for (let call = 0; call < 20; call++) {
    assert.is((await ask("/v1/node/peers/a")).status, 200, "calls are not ended yet");
  }
  response!.end("7");
  while (!(await reader.read()).done);
  await closing;
  assert.is((await ask("/v1/node/peers/a")).status, 503);
});

load("a service that is replaced finishes what it began, even a call without a slot", async () => {
  hold();
  const { ask, app } = forwarding(node.url, REST, { open: ["GET /status"] }, {
    description: new URL(`${node.url}/spec.json`),
    info: { sources: { a: { get: "/a" } }, fields: { height: "a#" } },
  });
  const begun = ["/v1/health", "/v1/info", "/v1/node/status"].map((path) => ask(path));
  await until(() => held.length === 2);
  const closing = (app as App).closeWhenIdle();
  node.answer = result("1");
  for (const response of held) {
    const { url } = requests.get(response)!;
    response.end(url === "/a" ? "7" : formatJson(REST));
  }
  const [health, info, call] = await Promise.all(begun);
  assert.equal([health!.status, call!.status], [200, 200]);
  assert.is((await info!.json()).status, "ok");
  await closing;
  const { detail } = await (await ask("/v1/node/status")).json();
  assert.is(detail, "The service is stopping");
});

load.run();
