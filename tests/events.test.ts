import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { NodeEvents } from "../src/info/events.ts";
import type { Info } from "../src/info/info.ts";
import { createNodeface } from "../src/index.ts";
import { formatJson, parseJson } from "../src/json/lossless.ts";
import { isEqual, isObject, type JsonObject } from "../src/json/values.ts";
import { draws } from "./_runtime.ts";

const events = suite("events of the node");

interface Told {
  readonly event: string;
  readonly id: string;
  readonly data: unknown;
  readonly text: string;
}

/** Returns the events that have already arrived. */
async function readEvents(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Told[]> {
  const told: Told[] = [];
  for (;;) {
    const none = new Promise<undefined>((resolve) => setTimeout(resolve, 0));
    const part = await Promise.race([pending(reader), none]);
    if (part === undefined || part.done) return told;
    waiting.delete(reader);
    for (const text of new TextDecoder().decode(part.value).split("\n\n").slice(0, -1)) {
      const lines = text.split("\n");
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
      if (field("event") === "") continue;
      assert.is(lines.length, 3, text);
      told.push({ event: field("event"), id: field("id"), data: parseJson(field("data")), text });
    }
  }
}

/**
 * A pending `read()` cannot be undone, so its promise is kept here for the next call of
 * `readEvents`.
 */
const waiting = new WeakMap<object, ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]>>();

function pending(reader: ReadableStreamDefaultReader<Uint8Array>) {
  const read = waiting.get(reader) ?? reader.read();
  waiting.set(reader, read);
  return read;
}

const info = (values: Record<string, unknown> = {}): Info => ({
  ...{ software: "anvil", status: "ok", links: {} },
  ...values,
});

function open(
  options: { listeners?: number; perAddress?: number; first?: Info; now?: () => number } = {},
) {
  const { listeners = 1000, perAddress = 250, first = info({ height: 1 }), now } = options;
  const heard: number[] = [];
  const node = new NodeEvents(
    { listeners, perAddress, onListeners: (count) => heard.push(count) },
    now,
  );
  node.begin(first);
  const listen = (
    { query = "", id, address, method = "GET", disconnectSignal }: {
      query?: string;
      id?: string;
      address?: string;
      method?: string;
      disconnectSignal?: AbortSignal;
    } = {},
  ) => {
    const headers = { ...id !== undefined && { "last-event-id": id } };
    const request = new Request("http://localhost/v1/events", { headers, method });
    if (disconnectSignal) Object.assign(request, { disconnectSignal });
    return node.stream.open(request, new URLSearchParams(query), address);
  };
  const read = (how: Parameters<typeof listen>[0] = {}) => {
    const reader = listen(how).body!.getReader();
    return { events: () => readEvents(reader), leave: () => reader.cancel() };
  };
  return { node, heard, listen, read };
}

events(
  "a client that resumes is not told that the values were old while nobody listened",
  async () => {
    const { node, read } = open();
    const listener = read();
    node.note(info({ height: 2 }));
    const told = await listener.events();
    await listener.leave();
    node.begin(info({ height: 2, status: "stale", status_code: "outdated" }));
    const resumed = read({ id: told.at(-1)!.id! });
    const fresh = read();
    assert.equal((await resumed.events()).map(({ event }) => event), []);
    const [first] = await fresh.events();
    assert.is((first!.data as JsonObject).status, "stale");
    node.note(info({ height: 2 }));
    for (const one of [resumed, fresh]) {
      assert.equal(
        (await one.events()).map(({ event, data }) => [event, (data as JsonObject).status]),
        [
          ["info", "ok"],
          ["status", "ok"],
        ],
      );
    }
  },
);

events("a status that has not changed is no news, and is since when it was", async () => {
  const { node, read } = open();
  const before = read();
  node.note(info({ status: "degraded", status_code: "alarm" }));
  const told = await before.events();
  const { since } = told.at(-1)!.data as JsonObject;
  await before.leave();
  await new Promise((resolve) => setTimeout(resolve, 10));
  const polled = info({ status: "degraded", status_code: "alarm" });
  const beginAgain = () => node.begin(info({ status: "stale", status_code: "outdated" }));
  const resume = () => read({ id: told.at(-1)!.id });
  beginAgain();
  const alone = resume();
  node.note(polled);
  assert.equal(await alone.events(), []);
  await alone.leave();
  beginAgain();
  const [resumed, fresh] = [resume(), read({ query: "events=status" })];
  assert.is(((await fresh.events())[0]!.data as JsonObject).status, "stale");
  node.note(polled);
  const [event] = await fresh.events();
  assert.equal(event!.data, { status: "degraded", status_code: "alarm", since });
  assert.equal((await resumed.events()).at(-1)!.data, event!.data);
});

events("a client that resumes while the node is down is told so", async () => {
  const { node, read } = open();
  const listener = read();
  node.note(info({ height: 2 }));
  const told = await listener.events();
  await listener.leave();
  const before = "2026-01-01T00:00:01.000Z";
  const old = { height: 2, status: "stale", updated_at: before } as const;
  node.begin(info({ ...old, status_code: "outdated" }));
  const resumed = read({ id: told.at(-1)!.id! });
  const fresh = read();
  await fresh.events();
  const now = info({ ...old, status_code: "connection_refused" });
  node.note(now);
  for (const one of [resumed, fresh]) {
    const [first] = await one.events();
    const { status = "ok", status_code } = first!.data as JsonObject;
    assert.equal([first!.event, status, status_code], ["info", "stale", "connection_refused"]);
    assert.is((first!.data as JsonObject).updated_at ?? before, before);
  }
});

events("the complete info comes first, followed by info, head and status events", async () => {
  const { node, read } = open();
  const listener = read();
  const [first, ...rest] = await listener.events();
  assert.is(first!.event, "snapshot");
  assert.equal(first!.data, { software: "anvil", status: "ok", links: {}, height: 1 });
  assert.equal(rest, []);
  node.note(info({ height: 2, head_at: "2026-01-01T00:00:00.000Z" }));
  const updated_at = "2026-01-01T00:00:01.000Z";
  node.note(info({ height: 2, head_at: "2026-01-01T00:00:00.000Z", updated_at }));
  node.note(info({ height: 2n ** 64n, status: "degraded", status_code: "alarm" }));
  node.note(info({ height: 1, status: "degraded", status_code: "alarm" }));
  const told = (await listener.events()).map(({ event, data }) => {
    const { since: _, ...known } = data as JsonObject;
    return [event, known];
  });
  assert.equal(told, [
    ["info", { height: 2, head_at: "2026-01-01T00:00:00.000Z" }],
    ["head", { height: 2, head_at: "2026-01-01T00:00:00.000Z" }],
    ["info", { updated_at }],
    ["info", {
      height: 2n ** 64n,
      head_at: null,
      updated_at: null,
      status: "degraded",
      status_code: "alarm",
    }],
    ["head", { height: 2n ** 64n }],
    ["status", { status: "degraded", status_code: "alarm" }],
    ["info", { height: 1 }],
    ["head", { height: 1 }],
  ]);
});

events("a head event is not repeated after the node was unreachable", async () => {
  const { node, read } = open({ first: info({ height: 6 }) });
  const listener = read({ query: "events=head" });
  await listener.events();
  node.note(info({ status: "unreachable" }));
  node.note(info({ height: 6 }));
  node.note(info({ height: 7 }));
  assert.equal((await listener.events()).map(({ data }) => data), [{ height: 7 }]);
});

events("only the requested types of event are sent", async () => {
  const { node, read, listen } = open();
  const heads = read({ query: "events=head" });
  const both = read({ query: "events=status,head" });
  node.note(info({ height: 2, status: "syncing", status_code: "syncing" }));
  assert.equal((await heads.events()).map(({ event }) => event), ["snapshot", "head"]);
  assert.equal((await both.events()).map(({ event }) => event), ["snapshot", "head", "status"]);
  const wrong = listen({ query: "events=heads" });
  assert.is(wrong.status, 400);
  assert.match(await wrong.text(), /info, head, status, description/);
});

events("a listener that reconnects gets each event that it missed exactly once", async () => {
  const { node, read } = open();
  const listener = read({ query: "events=head" });
  for (let height = 2; height < 10; height++) node.note(info({ height }));
  const told = await listener.events();
  await listener.leave();
  for (let height = 10; height < 20; height++) node.note(info({ height }));
  const again = await read({ id: told.at(-1)!.id, query: "events=head" }).events();
  const heights = [...told.slice(1), ...again].map(({ data }) => (data as JsonObject).height);
  assert.equal(heights, Array.from({ length: 18 }, (_, i) => i + 2));
  const none = await read({ id: again.at(-1)!.id, query: "events=head" }).events();
  assert.equal(none, []);
});

events("for an unknown Last-Event-ID, the complete info is sent with another ID", async () => {
  const { node, read } = open();
  node.note(info({ height: 2 }));
  const [{ id } = { id: "" }] = await read().events();
  const [log, number] = id.split("-");
  assert.match(log!, /^[0-9a-z]{10,16}$/);
  const strange = [
    "0-0",
    `${log}-999`,
    `${log}-`,
    `${log}-0x1`,
    `${log}-${number}, ${log}-${number}`,
    `${"z".repeat(17)}-1`,
    "\u00e4",
    "",
  ];
  for (const id of strange) {
    const told = await read({ id }).events();
    assert.equal(told.map(({ event }) => event), ["snapshot"], id);
    if (id !== "") assert.not.ok(told[0]!.text.includes(`id: ${id}\n`), id);
  }
});

events("two event logs never use the same event ID", async () => {
  const positions = await Promise.all(Array.from({ length: 20 }, async () => {
    const [{ id } = { id: "" }] = await open().read().events();
    return id;
  }));
  assert.is(new Set(positions.map((id) => id.split("-")[0])).size, 20);
  for (const id of positions) {
    const told = await open().read({ id }).events();
    assert.equal(told.map(({ event }) => event), ["snapshot"], id);
  }
});

events("events are kept for an hour", async () => {
  const { now } = performance;
  let passed = 0;
  performance.now = () => now.call(performance) + passed;
  try {
    const { node, read } = open();
    const [{ id } = { id: "" }] = await read().events();
    node.note(info({ height: 2 }));
    passed = 3_590_000;
    assert.equal((await read({ id }).events()).map(({ event }) => event), ["info", "head"]);
    passed = 3_610_000;
    assert.equal((await read({ id }).events()).map(({ event }) => event), ["snapshot"]);
  } finally {
    performance.now = now;
  }
});

events("a stream ends after an hour if the host may not tell that its client left", async () => {
  const [{ now }, { setInterval }] = [performance, globalThis];
  let passed = 0;
  let check = () => {};
  performance.now = () => now.call(performance) + passed;
  globalThis.setInterval = ((run: () => void) => {
    check = run;
    return setInterval(() => {}, 1_000_000);
  }) as typeof setInterval;
  try {
    const { node, read } = open();
    const unwatched = read();
    const watched = read({ disconnectSignal: new AbortController().signal });
    const [{ id } = { id: "" }] = await unwatched.events();
    passed = 3_590_000;
    check();
    assert.is(node.stream.listeners, 2);
    passed = 3_610_000;
    check();
    assert.is(node.stream.listeners, 1);
    node.note(info({ height: 2 }));
    assert.equal((await unwatched.events()).map(({ event }) => event), []);
    for (const one of [read({ id }), watched]) {
      const told = (await one.events()).filter(({ event }) => event !== "snapshot");
      assert.equal(told.map(({ event }) => event), ["info", "head"]);
      await one.leave();
    }
  } finally {
    performance.now = now;
    globalThis.setInterval = setInterval;
  }
});

events("a listener that missed many events gets only the complete info", async () => {
  const { node, read } = open();
  const [{ id } = { id: "" }] = await read().events();
  for (let height = 2; height < 300; height++) node.note(info({ height }));
  const told = await read({ id }).events();
  assert.equal(told.map(({ event }) => event), ["snapshot"]);
  assert.is((told[0]!.data as JsonObject).height, 299);
  // The missed events have more than 64 KiB in total, so the client gets a snapshot instead.
  for (let height = 300; height < 303; height++) {
    node.note(info({ height, text: `${height}${"x".repeat(30_000)}` }));
  }
  const long = await read({ id: told[0]!.id }).events();
  assert.equal(long.map(({ event }) => event), ["snapshot"]);
});

events("a listener that does not read is disconnected; the others get all events", async () => {
  const { node, listen, read, heard } = open();
  const stuck = listen().body!.getReader();
  const other = read();
  const heads: unknown[] = [];
  for (let height = 2; height < 12; height++) {
    node.note(info({ height, text: `${height}${"x".repeat(20_000)}` }));
    for (const { event, data } of await other.events()) {
      if (event === "head") heads.push((data as JsonObject).height);
    }
  }
  assert.is(node.stream.listeners, 1);
  assert.equal(heard, [1, 2, 1]);
  assert.equal(heads, Array.from({ length: 10 }, (_, i) => i + 2));
  // Bytes that the service sent before the disconnection still arrive.
  let parts = 0;
  while (!(await stuck.read()).done) parts++;
  assert.ok(parts <= 3, `${parts} parts`);
});

events("an event has three lines, whatever characters the node sends", async () => {
  const odd = "\r\n\n: x\ndata: y\n\nevent: z\u2028\u2029\u0000\ud800\u0085";
  const { node, read } = open({ first: info({ name: odd }) });
  const listener = read();
  node.note(info({ name: odd + odd, [odd]: odd, list: [odd], deep: { [odd]: odd } }));
  const told = await listener.events();
  assert.equal(told.map(({ event }) => event), ["snapshot", "info"]);
  for (const { text } of told) assert.not.match(text, /[\r\0\u2028\u2029]/);
  assert.is((told[1]!.data as JsonObject).name, odd + odd);
});

events("an event never contains a member such as __proto__", async () => {
  const evil = JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}},"a":1}');
  const { node, read } = open({ first: info({ evil }) });
  const listener = read();
  node.note(info({ evil: { ...evil, b: evil } }));
  for (const { text } of await listener.events()) {
    assert.not.match(text, /__proto__|constructor|prototype/);
  }
});

events("if a nested value is null, the complete info is sent, but at a limited rate", async () => {
  const { node, read } = open();
  const listener = read();
  node.note(info({ height: 1, peer: { name: null } }));
  for (let i = 2; i < 9; i++) node.note(info({ height: i, peer: i % 2 ? { name: null } : {} }));
  const told = (await listener.events()).map(({ event }) => event);
  assert.is(told.filter((event) => event === "snapshot").length, 2);
  assert.is(told.filter((event) => event === "head").length, 7);
});

events("a delayed snapshot is sent in time; new listeners get the current state", async () => {
  let now = 0;
  const node = new NodeEvents({ listeners: 9, perAddress: 9, onListeners: () => {} }, () => now);
  node.begin(info());
  const listen = () => {
    const request = new Request("http://localhost/v1/events?events=info");
    return node.stream.open(request, new URLSearchParams("events=info"), undefined).body!
      .getReader();
  };
  const first = listen();
  node.note(info({ peer: { name: null } }));
  const held = info({ peer: { name: null, id: null } });
  node.note(held);
  const second = listen();
  node.note(info());
  const last = info();
  node.note(last);
  const known = async (reader: typeof first) => (await readEvents(reader)).at(-1)?.data;
  assert.equal(await known(first), { ...info({ peer: { name: null } }) });
  assert.equal(await known(second), { ...held });
  now = 11_000;
  node.note(last);
  assert.equal(await known(first), { ...last });
  assert.equal(await known(second), { ...last });
  node.note(last);
  assert.is(await known(first), undefined);
});

events("the number of listeners is limited, per address and in total", async () => {
  const { node, listen } = open({ listeners: 3, perAddress: 2 });
  const first = listen({ address: "127.0.0.1" });
  listen({ address: "127.0.0.1" });
  const refused = listen({ address: "127.0.0.1" });
  assert.is(refused.status, 503);
  assert.ok(refused.headers.has("retry-after"));
  assert.is(listen({ address: "127.0.0.2" }).status, 200);
  assert.is(listen({ address: "127.0.0.3" }).status, 503);
  await first.body!.cancel();
  assert.is(listen({ address: "127.0.0.3" }).status, 200);
  assert.is(node.stream.listeners, 3);
  assert.is(listen({ address: "127.0.0.3", method: "HEAD" }).status, 200);
  assert.is(node.stream.listeners, 3);
  node.stream.end();
  assert.is(node.stream.listeners, 0);
  const late = listen();
  assert.is(late.status, 503);
  assert.is((await late.json()).detail, "These events have ended; ask for them again");
});

events("events forbid compression, which would hold them back", () => {
  const { listen } = open();
  for (const method of ["GET", "HEAD"]) {
    const { headers } = listen({ method });
    assert.is(headers.get("cache-control"), "no-store, no-transform", method);
  }
});

events("a client that has left before its stream opens is no listener", () => {
  const { node } = open();
  const request = new Request("http://localhost/v1/events", { signal: AbortSignal.abort() });
  node.stream.open(request, new URLSearchParams(), undefined);
  assert.is(node.stream.listeners, 0);
});

events("IPv6 clients are counted by /64 network, and IPv4 clients by address", () => {
  for (
    const [one, same, other] of [
      ["2001:db8::1", "2001:DB8:0:0:ffff::2", "2001:db8:0:1::1"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::", "2001:db8:1:3:3:4:5:6"],
      ["::1", "::2", "2001::1"],
      ["::ffff:192.0.2.1", "192.0.2.1", "::ffff:192.0.2.2"],
      ["fe80::1%eth0", "fe80::2", "fe81::1"],
    ] as const
  ) {
    const { node, listen } = open({ perAddress: 1 });
    assert.is(listen({ address: one }).status, 200, one);
    assert.is(listen({ address: same }).status, 503, same);
    assert.is(listen({ address: other }).status, 200, other);
    node.stream.end();
  }
});

events("clients are told to reconnect after different delays", async () => {
  const { listen } = open();
  const times = await Promise.all(Array.from({ length: 20 }, async () => {
    const { value } = await listen().body!.getReader().read();
    return Number(/^retry: (\d+)\n/.exec(new TextDecoder().decode(value))![1]);
  }));
  assert.ok(times.every((time) => time >= 2000 && time <= 5000));
  assert.ok(new Set(times).size > 10);
});

/** Applies a JSON Merge Patch (RFC 7396, section 2). */
function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, merge(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

events("applying the patches to the last complete info gives the current info", async () => {
  const word = fc.constantFrom("a", "b", "c", "d");
  const dictionary = <T>(value: fc.Arbitrary<T>) =>
    fc.dictionary(word, value, { noNullPrototype: true });
  const values = dictionary(
    fc.oneof(
      word,
      fc.integer(),
      fc.constant(null),
      fc.bigInt(2n ** 60n, 2n ** 80n),
      fc.array(fc.oneof(word, fc.constant(null), dictionary(fc.constant(null)))),
      dictionary(fc.oneof(word, fc.constant(null), dictionary(word))),
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(values, { minLength: 2, maxLength: 20 }), async (all) => {
      let now = 0;
      const { node, read } = open({ first: info(all[0]), now: () => now += 20_000 });
      const listener = read();
      let known: unknown;
      for (const [i, values] of all.entries()) {
        // `/v1/info` omits top-level members that are `null`.
        const shown = Object.fromEntries(Object.entries(values).filter(([, v]) => v !== null));
        const next = info(i === 0 ? values : shown);
        if (i > 0) node.note(next);
        for (const { event, data } of await listener.events()) {
          if (event === "snapshot") known = data;
          if (event === "info") known = merge(known, data);
        }
        assert.ok(isEqual(known, next), formatJson([known, next]));
      }
    }),
    draws(200),
  );
});

const BROWSER = { "sec-fetch-site": "cross-site", "user-agent": "Mozilla/5.0" };

events(
  "events and history are served only to programs, our own pages and pages of listed origins",
  async () => {
    const any = createNodeface();
    const listed = createNodeface({ cors: ["https://a.example"] });
    const status = async (of: typeof any, path: string, headers: Record<string, string>) => {
      const response = await of.fetch(new Request(`http://localhost${path}`, { headers }));
      await response.body?.cancel();
      return response.status;
    };
    for (const path of ["/v1/events", "/v1/history"]) {
      assert.is(await status(any, path, {}), 200, path);
      assert.is(await status(any, path, { "sec-fetch-site": "same-origin" }), 200, path);
      const ofB = { ...BROWSER, origin: "https://b.example" };
      assert.is(await status(any, path, ofB), 403, path);
      assert.is(await status(any, path, BROWSER), 403, path);
      assert.is(await status(listed, path, ofB), 403, path);
      assert.is(await status(listed, path, { ...BROWSER, origin: "https://a.example" }), 200, path);
      assert.is(await status(any, `${path}?token=x`, {}), 400, path);
    }
    await Promise.all([any.close(), listed.close()]);
  },
);

events("a page that may not listen is refused before it counts as a listener", async () => {
  const app = createNodeface({ events: { listeners: 1 }, metrics: true });
  const read = (path: string, headers: Record<string, string> = {}) =>
    app.fetch(new Request(`http://localhost${path}`, { headers }));
  for (let i = 0; i < 3; i++) assert.is((await read("/v1/events", BROWSER)).status, 403);
  assert.match(await (await read("/v1/metrics")).text(), /^nodeface_event_listeners 0$/m);
  const heard = await read("/v1/events");
  assert.is(heard.status, 200);
  assert.is((await read("/v1/events")).status, 503);
  await heard.body!.cancel();
  await app.close();
});

events.run();
