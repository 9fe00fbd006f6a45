/** Connections of clients, whose ends, node and gateway are simulated. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LightSignal } from "../src/abort-signal.ts";
import type { Call } from "../src/gateway/call.ts";
import { Budget, ReservedBytes } from "../src/gateway/budget.ts";
import type { Gateway } from "../src/gateway/gateway.ts";
import { Refusal } from "../src/gateway/refusal.ts";
import type { ReadyCall } from "../src/gateway/sender.ts";
import type { ServedRequest } from "../src/http/request.ts";
import {
  type Accepted,
  type Connect,
  type ConnectOptions,
  type Peer,
  type PeerEvents,
  Upgrade,
} from "../src/http/socket.ts";
import type { WebSocketPlace } from "../src/kinds/kind.ts";
import type { RpcFailure, RpcOutcome } from "../src/node/json-rpc.ts";
import { Node, type NodeInit } from "../src/node/node.ts";
import { SsePeer } from "../src/sockets/sse-peer.ts";
import { type EndReason, Session, type SessionPeer } from "../src/sockets/session.ts";
import { Sockets } from "../src/sockets/sockets.ts";
import { Inbox } from "../src/sockets/inbox.ts";
import { NodeSocket } from "../src/sockets/node-socket.ts";
import { Outbox } from "../src/sockets/outbox.ts";
import { nextTurn } from "../src/slices.ts";
import { connect } from "../src/adapters/websocket.ts";
import { IS_DENO } from "../src/platform.ts";
import { passTime } from "./_clock.ts";
import { forwarding, RPC, until } from "./_gateway.ts";
import { serveFetch } from "./nodes/_played-server.ts";
import { testOnNode } from "./_runtime.ts";

const sockets = suite("connections of clients");

class PlayedPeer implements Peer {
  readonly sent: string[] = [];
  unsentBytes = 0;
  closed: number | undefined;
  isTerminated = false;
  send(text: string): void {
    this.sent.push(text);
  }
  ping(): void {}
  pause(): void {}
  resume(): void {}
  close(code: number): void {
    this.closed ??= code;
  }
  terminate(): void {
    this.isTerminated = true;
  }
}

/** A node whose WebSocket confirms each call at once. */
class PlayedNode {
  losses = 0;
  noteLoss = (): void => void this.losses++;
  /** The methods that were called, by connection. */
  readonly calls: string[][] = [];
  readonly connections: PeerEvents[] = [];
  result: unknown;
  websocket: WebSocketPlace | undefined;
  definition = () => Promise.resolve({ websocket: this.websocket });
  readonly connect = (
    _: unknown,
    isAnonymous: boolean,
    events: PeerEvents,
  ): Promise<Peer> => {
    const calls: string[] = [isAnonymous ? "anonymous" : "secret"];
    this.calls.push(calls);
    this.connections.push(events);
    const peer = new PlayedPeer();
    peer.send = (text) => {
      const { id, method } = JSON.parse(text);
      calls.push(method);
      const result = this.result ?? `0x${id}`;
      setTimeout(() => events.onText(JSON.stringify({ jsonrpc: "2.0", id, result })));
    };
    peer.terminate = () => events.onClose();
    return Promise.resolve(peer);
  };
}

/** `Response` takes no status of 101 outside of the adapters. */
class PlayedUpgrade extends Upgrade {
  override accept(accepted: Accepted): Response {
    this.accepted = accepted;
    return new Response();
  }
}

const IGNORED: PeerEvents = { onText() {}, onBinary() {}, onControl() {}, onClose() {} };
const noKinds = () => Promise.resolve({});

const HANDSHAKE = {
  "sec-websocket-version": "13",
  "sec-websocket-key": `${"A".repeat(22)}==`,
};

const whyNot = (outcome: RpcOutcome): string => ((outcome as RpcFailure).reason as Error).message;

const REFUSED = new Refusal(503, -32011, "The node is not the expected one");

function playGateway() {
  const node = new PlayedNode();
  const gateway = {
    node,
    hasClients: false,
    refusal: undefined as Refusal | undefined,
    /** Resolves when calls may go on. */
    described: Promise.resolve(),
    client: undefined as unknown,
    budget: new Budget(),
    reserveFor: () => new ReservedBytes(gateway.budget, "response"),
    isAnonymous: ({ isAnonymous }: { isAnonymous: boolean }) => isAnonymous,
    refusalOfNode: () => Promise.resolve(gateway.refusal),
    identify: () => Promise.resolve({ client: gateway.client, checkOrigin() {} }),
    quotaOf: () => undefined,
    /** The number of messages that have begun. */
    begun: 0,
    async table() {
      gateway.begun++;
      await gateway.described;
      return {
        isKnown: true,
        unsubscribing: new Map([["eth_unsubscribe", {
          operation: { subscription: { notification: "eth_subscription" } },
        }]]),
      };
    },
  };
  return gateway;
}

function openSession<P extends SessionPeer = PlayedPeer>(
  token?: LightSignal,
  peer: P = new PlayedPeer() as SessionPeer as P,
) {
  const played = playGateway();
  const gateway = played as unknown as Gateway;
  const ends: EndReason[] = [];
  const connect = (() => {}) as unknown as Connect;
  const session = new Session(
    {
      gateway,
      openNodeSocket: (isAnonymous) =>
        NodeSocket.open(played.node as unknown as Node, connect, isAnonymous, 30_000),
      onNodeSocketEnd() {},
      makeRoom() {},
      counts: undefined,
      onEnd: (_, reason) => ends.push(reason),
    },
    peer,
    {
      request: {
        method: "GET",
        url: "http://localhost/",
        headers: new Headers(),
      },
      query: "",
      caller: { client: token && {} } as never,
      token,
      drop() {},
    },
  );
  session.start();
  const callOf = (parts: Partial<ReadyCall> = {}, isAnonymous = true) =>
    ({
      entry: {
        operation: {
          name: "eth_subscribe",
          isAnonymous,
          subscription: {
            unsubscribe: "eth_unsubscribe",
            notification: "eth_subscription",
          },
        },
      },
      params: '["newHeads"]',
      ...parts,
    }) as ReadyCall;
  const send = async (called: ReadyCall, isOnly = true) =>
    await (await session.subscriptions.send(called, isOnly, [])).outcome;
  const call = (...parts: Parameters<typeof callOf>) => send(callOf(...parts));
  return { played, node: played.node, peer, ends, session, callOf, send, call };
}

sockets(
  "a node that is not the expected one gets no subscription",
  async () => {
    const { played, node, call } = openSession();
    assert.is((await call()).error, undefined);
    // Another node has taken over the address since the message was judged.
    played.refusal = REFUSED;
    assert.match(whyNot(await call()), "not the expected one");
    assert.equal(node.calls, [["anonymous", "eth_subscribe"]]);
  },
);

sockets("a node that is not the expected one gets no call of a connection either", async () => {
  const { played, node, session, call, ends } = openSession();
  await call();
  played.refusal = REFUSED;
  assert.match(whyNot(await call(ownCall('["0x1"]'))), "not the expected one");
  assert.equal(node.calls, [["anonymous", "eth_subscribe"]]);
  assert.equal(ends, []);
  session.onClose();
  const other = openSession();
  other.played.refusal = REFUSED;
  assert.match(whyNot(await other.call(ownCall('["0x1"]'))), "not the expected one");
  assert.equal(other.node.calls, [["anonymous"]]);
  // The next connection may reach the expected node.
  await until(() => other.ends.length > 0);
  assert.equal(other.ends, ["node"]);
});

sockets(
  "notifications wait for the response to a call about them, but not to a batch",
  async () => {
    const { session, peer, callOf, send, call } = openSession();
    await session.subscribe(callOf());
    const next = () => session.onNotification({ ...eventOf("0x1", 1), method: "eth_subscription" });
    const inBatch = await send(callOf(ownCall('["0x1"]')), false);
    assert.is(inBatch.error, undefined);
    await next();
    assert.is(peer.sent.length, 1);
    assert.is((await call(ownCall('["0x2"]'))).error, undefined);
    await next();
    assert.is(peer.sent.length, 2);
    assert.is((await call(ownCall('["0x1"]'))).error, undefined);
    await next();
    assert.is(peer.sent.length, 2);
  },
);

sockets(
  "what another method ends, or what the node does not end, still counts",
  async () => {
    const { node, session, call } = openSession();
    for (let at = 0; at < 100; at++) assert.is((await call()).error, undefined);
    const ended = await call({
      unsubscribe: "parity_unsubscribe",
      params: '["0x1"]',
    });
    assert.match(whyNot(ended), "no such subscription");
    // A search in quadratic time would take hours.
    const spaces = `["a"${" ".repeat(1_000_000)},1]`;
    const unknown = await call({ unsubscribe: "eth_unsubscribe", params: spaces });
    assert.match(whyNot(unknown), "no such subscription");
    assert.is(session.subscriptions.size, 100);
    node.result = false;
    await call({ unsubscribe: "eth_unsubscribe", params: '["0x1"]' });
    assert.is(session.subscriptions.size, 100);
    assert.match(whyNot(await call()), "at most 100");
    node.result = true;
    await call({ unsubscribe: "eth_unsubscribe", params: '["0x1"]' });
    assert.is(session.subscriptions.size, 99);
  },
);

/** A subscription whose notifications are further responses to its call. */
const repeating = (id: string, params: string): Partial<ReadyCall> => {
  const subscription = { unsubscribe: "unsubscribe" };
  const operation = { name: "subscribe", isAnonymous: true, subscription };
  return { entry: { operation } as unknown as ReadyCall["entry"], id, params };
};

sockets("a query is unsubscribed however its parameters are written", async () => {
  const { session, call } = openSession();
  const query = `"tm.event='Tx'"`;
  for (const params of [`{"query":${query}}`, `{ "query" : ${query} }`, `[${query}]`]) {
    assert.is((await call(repeating("1", `{"query":${query}}`))).error, undefined);
    assert.match(whyNot(await call({ unsubscribe: "unsubscribe", params: "[1]" })), "no such");
    assert.is((await call({ unsubscribe: "unsubscribe", params })).error, undefined);
    assert.is(session.subscriptions.size, 0, params);
  }
});

sockets("an id that a subscription would have to keep must be short", async () => {
  const { node, call } = openSession();
  assert.match(whyNot(await call(repeating(`"${"a".repeat(5000)}"`, "[]"))), "too long");
  assert.match(whyNot(await call(repeating("1", `["${"a".repeat(5000)}"]`))), "too long");
  assert.equal(node.calls, []);
});

testOnNode(sockets, "a subscription keeps nothing of its call that it does not need", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const { session, send, call, callOf } = openSession();
  const kept = new WeakRef(callOf({ id: `"${"a".repeat(1_000_000)}"` }));
  assert.is((await send(kept.deref()!)).error, undefined);
  await call();
  await nextTurn();
  collect();
  assert.is(kept.deref(), undefined);
  assert.is(session.subscriptions.size, 2);
});

/** The parts of a call of a method that belongs to its connection. */
const ownCall = (params: string): Partial<ReadyCall> => {
  const operation = { name: "chainHead_v1_body", isAnonymous: true, isOfConnection: true };
  return { entry: { operation } as unknown as ReadyCall["entry"], params };
};

/** A subscription that the node ends with one of two events. */
const ending = (ends: readonly string[]): Partial<ReadyCall> => {
  const subscription = { unsubscribe: "unfollow", notification: "event", ends };
  const operation = { name: "follow", isAnonymous: true, subscription };
  return { entry: { operation } as unknown as ReadyCall["entry"] };
};

const eventOf = (id: string, result: unknown) => {
  const params = { subscription: id, result };
  const text = JSON.stringify({ method: "event", params });
  return { method: "event", subscription: `"${id}"`, text, result: JSON.stringify(result) };
};

sockets(
  "a subscription counts until the node ends it, and then its client may still end it",
  async () => {
    const ends: readonly [string, unknown][] = [
      ["stop", { event: "stop" }],
      ["ready", "ready"],
      ["finalized", { finalized: "0x1" }],
    ];
    for (const [name, last] of ends) {
      const { session, call } = openSession();
      const follow = ending([name]);
      for (let at = 1; at <= 100; at++) {
        assert.is((await call(follow)).error, undefined);
        await session.onNotification(eventOf(`0x${at}`, { event: "newBlock", note: name }));
        await session.onNotification(eventOf(`0x${at}`, "x".repeat(5000)));
      }
      assert.is(session.subscriptions.size, 100);
      assert.match(whyNot(await call(follow)), "at most 100");
      await session.onNotification(eventOf("0x1", last));
      assert.is(session.subscriptions.size, 99, name);
    }
  },
);

sockets("a client from which nothing is read does not count as idle", () => {
  const { played, session, peer } = openSession();
  played.described = new Promise(() => {});
  const long = JSON.stringify({ id: "x".repeat(100_000) });
  for (let at = 0; at < 20; at++) session.onText(long);
  session.check(performance.now() + 60_000);
  assert.is(peer.closed, undefined);
});

sockets("a silent client is ended with a code after which web3.js connects again", () => {
  const { session, peer, ends } = openSession();
  session.check(performance.now() + 60_000);
  assert.equal(ends, ["silent"]);
  assert.is(peer.closed, 1013);
});

sockets("a message may be marked as binary, but one that is no text ends the connection", () => {
  const { session, peer, ends } = openSession();
  session.onBinary(new TextEncoder().encode('{"id":"€"}'));
  assert.ok(session.waiting > 0);
  assert.is(peer.closed, undefined);
  session.onBinary(new Uint8Array([0xe2, 0x82]));
  assert.is(peer.closed, 1003);
  assert.equal(ends, ["binary"]);
});

sockets("a client that does not read is cut off, since it would not read a code either", () => {
  const { session, peer, ends } = openSession();
  peer.unsentBytes = 9_000_000;
  session.check(performance.now());
  assert.equal(ends, ["slow"]);
  assert.ok(peer.isTerminated);
  assert.is(peer.closed, undefined);
});

sockets("the node waits for a client that reads, and a client that does not is ended", async () => {
  const { session, peer, ends, callOf } = openSession();
  assert.is((await session.subscribe(callOf())).error, undefined);
  const message = {
    method: "eth_subscription",
    subscription: '"0x1"',
    text: "{}",
    result: "1",
  };
  peer.unsentBytes = 300_000;
  let isTaken = false;
  const taking = session.onNotification(message).then(() => isTaken = true);
  peer.unsentBytes = 299_000;
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.not(isTaken);
  peer.unsentBytes = 1000;
  await taking;
  assert.equal(ends, []);
  peer.unsentBytes = 300_000;
  const stuck = session.onNotification(message);
  const { now } = performance;
  performance.now = () => now.call(performance) + 26_000;
  try {
    await stuck;
  } finally {
    performance.now = now;
  }
  assert.equal(ends, ["slow"]);
  assert.equal(peer.sent, ["{}", "{}"]);
});

sockets(
  "a reader of events that is slower than the node is alive, and one that stops is not",
  async () => {
    const { now } = performance;
    let passed = 0;
    performance.now = () => now.call(performance) + passed;
    try {
      const peer = new SsePeer();
      const { session, ends } = openSession(undefined, peer);
      const reader = peer.body.getReader();
      const event = "x".repeat(10_000);
      for (let second = 0; second < 120; second++) {
        peer.send(event);
        peer.send(event);
        await reader.read();
        passed += 1000;
        session.check(performance.now());
      }
      assert.equal(ends, []);
      for (let second = 0; second < 56; second++) {
        passed += 1000;
        session.check(performance.now());
      }
      assert.equal(ends, ["silent"]);
    } finally {
      performance.now = now;
    }
  },
);

sockets("empty messages take room, too", () => {
  const { played, session, peer, ends } = openSession();
  played.described = new Promise(() => {});
  for (let at = 0; at < 20_000; at++) session.onText("");
  assert.is(peer.closed, 1008);
  assert.equal(ends, ["flood"]);
});

sockets("a connection to the node has the secret, or has it not", async () => {
  const { node, call } = openSession();
  assert.is((await call({}, true)).error, undefined);
  assert.match(whyNot(await call({}, false)), "a connection of its own");
  assert.is((await call({}, true)).error, undefined);
  assert.equal(node.calls, [["anonymous", "eth_subscribe", "eth_subscribe"]]);
  const other = openSession();
  await Promise.all([other.call({}, false), other.call({}, true)]);
  assert.equal(other.node.calls, [["secret", "eth_subscribe"]]);
});

sockets("a connection ends with its token", () => {
  const token = new LightSignal();
  const { peer, ends } = openSession(token);
  assert.ok(token.hasListeners);
  token.abort(new Error("replaced"));
  assert.is(peer.closed, 1008);
  assert.equal(ends, ["right"]);
  assert.not.ok(token.hasListeners);
  const late = new LightSignal();
  late.abort(new Error("replaced"));
  assert.equal(openSession(late).ends, ["right"]);
});

sockets(
  "a stream of events ends with the token of its call, not with the one after it",
  async () => {
    const played = Object.assign(playGateway(), { timeout: 30_000 });
    const all = new Sockets({ gateway: played as unknown as Gateway, counts: undefined });
    const token = new LightSignal();
    token.abort(new Error("replaced before the subscription"));
    const request = Object.assign(new Request("http://localhost/"), { connect: () => {} });
    const caller = { client: { token: new LightSignal() } };
    const call = { request, query: "", caller, lease: { token } } as unknown as Call;
    const { entry, params } = openSession().callOf();
    await all.subscribe(call, entry, params);
    assert.is(all.size, 0);
    assert.not.ok(caller.client.token.hasListeners);
  },
);

sockets(
  "the loss of a connection to the node counts, and its end does not",
  async () => {
    const { node, call, session } = openSession();
    await call();
    node.connections[0]!.onClose();
    assert.is(node.losses, 1);
    await until(() => session.subscriptions.size === 0);
    const other = openSession();
    await other.call();
    other.session.onClose();
    assert.is(other.node.losses, 0);
  },
);

sockets("a connection to an expected node leads to the address that HTTP leads to", async () => {
  const own = Object.values(networkInterfaces()).flat()
    .find((one) => one?.family === "IPv4" && !one.internal)?.address;
  const server = createServer((_, response) => response.end("{}")).listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const addressFor = async (init: Partial<NodeInit>, host = own ?? "") => {
    const to = new Node({ url: `http://${host}:${port}`, kind: "none", ...init }, noKinds);
    await to.request("/", { method: "GET", limit: 100 });
    const told: ConnectOptions[] = [];
    await to.connect(
      (_, options) => {
        told.push(options);
        return Promise.resolve(new PlayedPeer());
      },
      true,
      IGNORED,
    );
    to.close();
    return told[0]!.address;
  };
  const expect = { chain_id: "1" };
  assert.is(await addressFor({ expect }, "localhost"), undefined, "this machine has several");
  if (own !== undefined) {
    assert.is(await addressFor({ expect }), IS_DENO ? undefined : own);
    assert.is(await addressFor({}), undefined);
    assert.is(await addressFor({ expect, ws: "ws://other.example" }), undefined);
  }
  server.close();
});

sockets("a message with a key of the node's URL does not arrive", async () => {
  const key = "0123456789abcdef0123456789abcdef";
  const node = new Node({ url: `https://node.example/v2/${key}`, kind: "none" }, noKinds);
  const peer = new PlayedPeer();
  const texts: string[] = [];
  let events: PeerEvents | undefined;
  const connect: Connect = (_url, _options, told) => {
    events = told;
    return Promise.resolve(peer);
  };
  await node.connect(connect, true, { ...IGNORED, onText: (text) => void texts.push(text) });
  events!.onText('{"a":"b"}');
  assert.is(peer.isTerminated, false);
  events!.onText(`{"error":"/v2/${key} has no credits"}`);
  assert.is(peer.isTerminated, true);
  assert.equal(texts, ['{"a":"b"}']);
});

sockets("a name may be connected to at a given address", async () => {
  await using node = await serveFetch(() => Promise.resolve(new Response(null, { status: 403 })));
  const url = new URL(node.url.replace("http", "ws"));
  url.hostname = "node.invalid";
  const error = await connect(url, { headers: {}, address: "127.0.0.1" }, IGNORED)
    .then(() => "connected", (error: Error) => error.message);
  assert.match(error, /403|101|handshake|failed/i);
  assert.not.match(error, /ENOTFOUND|EAI_AGAIN|resolve|dns/i);
});

sockets("no place is lost", async () => {
  const played = playGateway();
  const all = new Sockets({
    gateway: played as unknown as Gateway,
    counts: undefined,
  });
  const shake = async () => {
    const request = new Request("http://localhost/v1/rpc", { headers: HANDSHAKE });
    const upgrade = new PlayedUpgrade();
    await all.respond(request as ServedRequest, "", upgrade);
    return upgrade.accepted;
  };
  const statuses = async (count: number) => {
    const shaken = await Promise.all(Array.from({ length: count }, shake));
    const accepted = shaken.filter((one) => one !== undefined);
    return { accepted, taken: accepted.length };
  };
  played.refusal = REFUSED;
  assert.is((await statuses(300)).taken, 0, "refused for the node");
  played.refusal = undefined;
  const { connect } = played.node;
  let tries = 0;
  Object.assign(played.node, {
    connect: () => Promise.reject(new Error(`refused ${++tries}`)),
  });
  const { now } = performance;
  const moment = performance.now();
  // However long 600 handshakes take, they come at once.
  performance.now = () => moment;
  try {
    assert.is((await statuses(300)).taken, 0, "the node takes no connection");
    assert.is((await statuses(300)).taken, 0, "the node is not tried again at once");
    assert.is(tries, 1);
  } finally {
    performance.now = now;
  }
  Object.assign(played.node, { connect });
  passTime(1000);
  const dropped = await statuses(300);
  assert.is(dropped.taken, 256);
  for (const { drop } of dropped.accepted) drop();
  const opened = await statuses(300);
  assert.is(opened.taken, 256, "after clients that have left");
  for (const { open } of opened.accepted) open(new PlayedPeer()).onClose();
  assert.is(
    (await statuses(300)).taken,
    256,
    "after connections that have ended",
  );
  assert.is(all.size, 0);
});

sockets("a node that takes few connections has few clients, a half of them named", async () => {
  const played = playGateway();
  played.hasClients = true;
  played.node.websocket = { connections: 5 };
  const all = new Sockets({ gateway: played as unknown as Gateway, counts: undefined });
  const shake = async () => {
    const request = new Request("http://localhost/v1/rpc", { headers: HANDSHAKE });
    return (await all.respond(request as ServedRequest, "", new PlayedUpgrade())).status;
  };
  const shakes = async () => await Promise.all(Array.from({ length: 6 }, shake));
  assert.equal(await shakes(), [200, 200, 200, 503, 503, 503]);
  played.client = { token: undefined };
  assert.equal(await shakes(), [200, 200, 503, 503, 503, 503]);
});

sockets(
  "what a closing server ends may begin again at another, until the service ends",
  async () => {
    const all = new Sockets({ gateway: playGateway() as unknown as Gateway, counts: undefined });
    const shake = async () => {
      const request = new Request("http://localhost/v1/rpc", {
        headers: HANDSHAKE,
      });
      const upgrade = new PlayedUpgrade();
      const { status } = await all.respond(request as ServedRequest, "", upgrade);
      const peer = new PlayedPeer();
      upgrade.accepted?.open(peer);
      return { status, peer };
    };
    const { peer } = await shake();
    await all.endSessions();
    assert.is(peer.closed, 1012);
    assert.is((await shake()).peer.closed, undefined);
    await all.end();
    assert.is((await shake()).status, 503);
  },
);

sockets("a service that has ended takes no connection, not even its first", async () => {
  const origin = "https://app.example";
  const { app } = forwarding("http://127.0.0.1:1", RPC, { open: ["reads"], origins: [origin] });
  await app.close();
  const request = new Request("http://localhost/v1/rpc", { headers: { ...HANDSHAKE, origin } });
  const upgrade = new PlayedUpgrade();
  const { status, headers } = await app.fetch(Object.assign(request, { upgrade }));
  assert.equal([status, headers.get("retry-after")], [503, "5"]);
});

sockets("when the service stops, a client that is being answered has a time limit", async () => {
  const token = new LightSignal();
  const [late, slow, removed] = [openSession(), openSession(), openSession(token)];
  for (const { session, played } of [late, removed]) {
    played.described = new Promise(() => {});
    session.onText("{}");
    await until(() => played.begun > 0);
  }
  slow.peer.unsentBytes = 1;
  const ending = [late, slow, removed].map(({ session }) => session.endAfterCalls("stopping"));
  await nextTurn();
  for (const { ends } of [late, slow, removed]) assert.equal(ends, []);
  token.abort(new Error("replaced"));
  assert.is(removed.peer.closed, 1008);
  late.session.onText("{}");
  const begun = performance.now();
  slow.peer.unsentBytes = 0;
  await ending[1];
  assert.ok(performance.now() - begun < 500);
  assert.is(slow.peer.closed, 1012);
  assert.equal(late.ends, []);
  await Promise.all(ending);
  assert.is(late.peer.closed, 1012);
  assert.equal([late.ends, removed.ends], [["stopping"], ["right"]]);
});

const callWith = (id?: number) => JSON.stringify({ jsonrpc: "2.0", id, method: "eth_chainId" });

/** Opens a session with a call that runs on. */
async function openBusySession() {
  const opened = openSession();
  opened.played.described = new Promise(() => {});
  opened.session.onText(callWith(1));
  await until(() => opened.played.begun > 0);
  return opened;
}

sockets("a connection for which the node fails ends after the calls that run", async () => {
  const ways: readonly ((opened: ReturnType<typeof openSession>) => unknown)[] = [
    ({ node }) => Object.assign(node, { connect: () => Promise.reject(new Error("refused")) }),
    ({ node }) => node.result = {},
    ({ played }) => played.refusal = REFUSED,
  ];
  for (const fail of ways) {
    const opened = await openBusySession();
    const { session, ends } = opened;
    fail(opened);
    assert.ok((await opened.call()).error);
    await nextTurn();
    assert.equal(ends, []);
    session.onClose();
  }
});

sockets("calls that come while a connection is ending are refused", async () => {
  for (const [reason, message] of [["stopping", "is stopping"], ["node", "has ended"]] as const) {
    const { session, peer } = await openBusySession();
    void session.endAfterCalls(reason);
    session.onText(callWith());
    session.onText(callWith(2));
    await until(() => peer.sent.length > 0);
    const { id, error } = JSON.parse(peer.sent[0]!);
    assert.is(id, 2);
    assert.match(error.message, message);
    session.onClose();
  }
});

sockets(
  "where other calls take the room, only a client that does not read is cut off",
  async () => {
    const played = Object.assign(playGateway(), {
      reserveFor: () => ({ set: () => false, offer() {}, withdraw() {}, dispose() {} }),
    });
    const all = new Sockets({ gateway: played as unknown as Gateway, counts: undefined });
    const peers = await Promise.all([300, 0, 65_536, 16_384].map(async (unsentBytes) => {
      const upgrade = new PlayedUpgrade();
      const request = new Request("http://localhost/v1/rpc", { headers: HANDSHAKE });
      await all.respond(request as ServedRequest, "", upgrade);
      const peer = Object.assign(new PlayedPeer(), { unsentBytes });
      return { peer, session: upgrade.accepted!.open(peer) as Session };
    }));
    for (const { session } of peers) session.check(performance.now());
    assert.equal(peers.map(({ peer }) => peer.closed), [undefined, undefined, 1013, undefined]);
    for (const { session } of peers) session.onClose();
  },
);

sockets("a client without a token takes no room from one with a token", async () => {
  const played = Object.assign(playGateway(), {
    reserveFor: () => ({ set: () => false, offer() {}, withdraw() {}, dispose() {} }),
  });
  const all = new Sockets({ gateway: played as unknown as Gateway, counts: undefined });
  const open = async (client: unknown, unsentBytes: number) => {
    played.client = client;
    const upgrade = new PlayedUpgrade();
    const request = new Request("http://localhost/v1/rpc", { headers: HANDSHAKE });
    await all.respond(request as ServedRequest, "", upgrade);
    const peer = Object.assign(new PlayedPeer(), { unsentBytes });
    return { peer, session: upgrade.accepted!.open(peer) as Session };
  };
  const named = await open({ token: undefined }, 65_536);
  const anonymous = await open(undefined, 20_000);
  const another = await open(undefined, 300);
  another.session.check(performance.now());
  assert.equal([named, anonymous, another].map(({ peer }) => peer.closed), [
    undefined,
    1013,
    undefined,
  ]);
  for (const { session } of [named, another]) session.onClose();
});

sockets("a long message may take its time, as the content of a call, while it arrives", () => {
  const peer = Object.assign(new PlayedPeer(), { unfinishedBytes: 0 });
  const { session, ends } = openSession(undefined, peer);
  const now = performance.now();
  // A message of 900 kB at 100 kbit/s
  for (let second = 0; second <= 72; second++) {
    peer.unfinishedBytes = second * 12_500;
    session.check(now + second * 1000);
  }
  // The next message
  session.onText("{}");
  peer.unfinishedBytes = 100_000;
  for (const second of [73, 83]) session.check(now + second * 1000);
  assert.equal(ends, []);
  session.check(now + 84_000);
  assert.equal(ends, ["flood"]);
});

sockets("a message that is not whole counts, and must go on arriving if it is long", () => {
  const peer = Object.assign(new PlayedPeer(), { unfinishedBytes: 60_000 });
  const { session, played } = openSession(undefined, peer);
  const now = performance.now();
  session.check(now);
  assert.is(played.budget.taken, 60_000);
  session.check(now + 40_000);
  assert.is(peer.closed, undefined);
  peer.unfinishedBytes = 70_000;
  for (const seconds of [45, 54]) session.check(now + seconds * 1000);
  assert.is(peer.closed, undefined);
  session.check(now + 56_000);
  assert.is(peer.closed, 1008);
});

sockets("while reading is paused, a message need not become whole", () => {
  const peer = Object.assign(new PlayedPeer(), { unfinishedBytes: 70_000 });
  const { session, played } = openSession(undefined, peer);
  played.described = new Promise<void>(() => {});
  for (let message = 0; message < 20; message++) session.onText("x".repeat(100_000));
  const now = performance.now();
  for (const seconds of [0, 20, 40]) session.check(now + seconds * 1000);
  assert.is(peer.closed, undefined);
  session.onClose();
});

sockets("a message counts against the budget until its response is sent", () => {
  const { session, played } = openSession();
  let describe = () => {};
  played.described = new Promise<void>((resolve) => describe = resolve);
  const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x".repeat(100_000) });
  for (let message = 0; message < 5; message++) session.onText(text);
  assert.ok(played.budget.taken >= 5 * text.length, `${played.budget.taken}`);
  describe();
  session.onClose();
  assert.is(played.budget.taken, 0);
});

sockets("the time limit of calls is that of subscriptions, too", async () => {
  const played = Object.assign(playGateway(), { timeout: 5000 });
  const all = new Sockets({ gateway: played as unknown as Gateway, counts: undefined });
  const nodeSocket = await all.openNodeSocket(true);
  const called = nodeSocket.call("eth_subscribe", '["newHeads"]');
  const now = performance.now();
  nodeSocket.check(now + 4000);
  assert.not(nodeSocket.hasEnded);
  nodeSocket.check(now + 6000);
  assert.ok(nodeSocket.hasEnded);
  assert.ok((await called.responding).error);
});

sockets(
  "a call to the node is not late while nothing is read, since the client reads slowly",
  async () => {
    const node = new PlayedNode();
    const nodeSocket = await NodeSocket.open(node as unknown as Node, {} as Connect, true, 30_000);
    let resume = () => {};
    const isRead = new Promise<void>((told) => {
      nodeSocket.owner = {
        onNotification() {
          told();
          return new Promise((resolve) => resume = resolve);
        },
        onNodeSocketEnd() {},
        onUnread() {},
      };
    });
    node.connections[0]!.onText('{"method":"m","params":{"subscription":"0x1","result":1}}');
    await isRead;
    const called = nodeSocket.call("eth_unsubscribe", undefined);
    for (const seconds of [10, 31, 62]) nodeSocket.check(performance.now() + seconds * 1000);
    assert.not(nodeSocket.hasEnded);
    assert.is(node.losses, 0);
    resume();
    assert.is((await called.responding).error, undefined);
    nodeSocket.end();
  },
);

sockets(
  "what the node sends counts before it is read, and is dropped with its client",
  async () => {
    const { node, session, call } = openSession();
    assert.is((await call()).error, undefined);
    const long = JSON.stringify({ params: { subscription: "0x9", result: "a".repeat(5_000_000) } });
    node.connections[0]!.onText(long);
    assert.is(session.waiting, long.length);
    while (session.waiting > 0) await nextTurn();
    node.connections[0]!.onText(long);
    session.onClose();
    assert.is(session.waiting, 0);
  },
);

sockets("a client that reads slowly gets all that the node sent before its end", async () => {
  const { node, peer, ends, session, callOf } = openSession();
  assert.is((await session.subscribe(callOf())).error, undefined);
  const [events] = node.connections as [PeerEvents];
  const params = { subscription: "0x1", result: 1 };
  peer.unsentBytes = 300_000;
  const text = JSON.stringify({ method: "eth_subscription", params });
  for (let at = 0; at < 3; at++) events.onText(text);
  await until(() => peer.sent.length > 0);
  events.onClose();
  await nextTurn();
  peer.unsentBytes = 0;
  await until(() => ends.length > 0);
  assert.equal([peer.sent.length, ends], [3, ["node"]]);
});

sockets("calls do not wait in the lane of what the node sends", async () => {
  let hasEnded = false;
  const others = Array.from({ length: 50 }, () => nextTurn("notifications"));
  void Promise.all(others).then(() => hasEnded = true);
  await nextTurn();
  assert.not(hasEnded);
  await Promise.all(others);
});

sockets(
  "sixteen messages of a client run at once, and reading pauses if too much waits behind them",
  async () => {
    const pauses: string[] = [], responses: (() => void)[] = [], begun: string[] = [];
    const peer = Object.assign(new PlayedPeer(), {
      pause: () => pauses.push("pause"),
      resume: () => pauses.push("resume"),
    });
    const inbox = new Inbox(peer, (message) => {
      begun.push(message);
      return new Promise((resolve) => responses.push(resolve));
    });
    const long = "x".repeat(100_000);
    for (let at = 0; at < 18; at++) assert.ok(inbox.add(long));
    assert.is(begun.length, 16);
    assert.ok(inbox.unreadLength > 200_000);
    // A client whose messages wait still gets an answer to its pings.
    assert.equal(pauses, []);
    assert.ok(inbox.add(long));
    assert.equal([pauses, inbox.isPaused], [["pause"], true]);
    responses[0]!();
    await until(() => begun.length === 17);
    assert.equal([pauses, inbox.isPaused], [["pause", "resume"], false]);
    responses[1]!();
    responses[2]!();
    await until(() => begun.length === 19);
    assert.is(inbox.unreadLength, 0);
    assert.equal(pauses, ["pause", "resume"]);
  },
);

sockets("a client shows that it is alive by what it reads", () => {
  let unsent = 0;
  const peer = Object.assign(new PlayedPeer(), { send: ({ length }: string) => unsent += length });
  Object.defineProperty(peer, "unsentBytes", { get: () => unsent });
  const outbox = new Outbox(peer, { onSend() {}, onGrowth() {}, onStuck() {} });
  assert.is(outbox.noteProgress(), false);
  outbox.respond("x".repeat(10_000));
  assert.is(outbox.noteProgress(), false);
  unsent -= 1000;
  assert.is(outbox.noteProgress(), true);
  assert.is(outbox.noteProgress(), false);
});

sockets("a client that does not read the last response is ended", async () => {
  let unsent = 0, isStuck = false;
  const peer = Object.assign(new PlayedPeer(), { send: ({ length }: string) => unsent += length });
  Object.defineProperty(peer, "unsentBytes", { get: () => unsent });
  const onStuck = () => void (isStuck = true);
  const outbox = new Outbox(peer, { onSend() {}, onGrowth() {}, onStuck });
  outbox.respond("x".repeat(100_000));
  passTime(26_000);
  await until(() => isStuck);
});

sockets("what a client has not read for long is dropped if others need the memory", () => {
  const { peer, session, played: gateway } = openSession();
  peer.unsentBytes = 100_000;
  session.check(performance.now());
  session.check(performance.now() + 20_000);
  assert.is(gateway.budget.overdue.size, 0);
  session.check(performance.now() + 26_000);
  assert.is(gateway.budget.overdue.size, 1);
  for (const drop of gateway.budget.overdue) drop();
  assert.ok(peer.isTerminated);
  assert.is(gateway.budget.overdue.size, 0);
});

sockets("a client that reads is not too slow because more waits for it than before", async () => {
  let looks = 0, unsent = 0, isStuck = false;
  const peer = Object.assign(new PlayedPeer(), { send: ({ length }: string) => unsent += length });
  Object.defineProperty(peer, "unsentBytes", { get: () => (looks++, unsent) });
  const outbox = new Outbox(peer, {
    onSend() {},
    onGrowth() {},
    onStuck() {
      isStuck = true;
      outbox.close();
    },
  });
  const look = async () => {
    const seen = looks;
    await until(() => looks > seen + 4 || isStuck);
  };
  const drained = outbox.notify("x".repeat(100_000));
  await look();
  void outbox.notify("x".repeat(5_000_000));
  for (const _ of [1, 2, 3]) {
    unsent -= 1_000_000;
    await look();
    passTime(20_000);
  }
  assert.not(isStuck);
  passTime(20_000);
  await drained;
  assert.ok(isStuck);
});

sockets.run();
