/**
 * A node is asked once which methods of its kind it lacks. Missing methods are omitted from the
 * description.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loadInterface } from "../src/description/known-interface.ts";
import {
  type CallMethod,
  findMissing,
  isAskable,
  mayAskMethods,
  MissingMethods,
} from "../src/description/missing-methods.ts";
import { createNodeface } from "../src/index.ts";
import type { Kind } from "../src/kinds/kind.ts";
import type { Method } from "../src/kinds/interface.ts";
import { failureOfStatus } from "../src/node/failures.ts";
import { isNoMethod, outcomeOf, type RpcResponse } from "../src/node/json-rpc.ts";
import type { NodefaceOptions } from "../src/options.ts";
import { nextTurn } from "../src/slices.ts";
import { passTime } from "./_clock.ts";
import { play } from "./_sources.ts";

const missing = suite("methods that the node does not have");

const ERRORS: readonly (readonly [code: string | undefined, message: string, isNone: boolean])[] = [
  ["-32601", "anything", true],
  ["-32601.0", "anything", true],
  ["-32004", "Method txpool_status is not supported", true],
  ["-32700", "The method eth_blobBaseFee does not exist/is not available", true],
  ["-32000", "method eth_x not found", true],
  ["-32604", "Method not enabled", true],
  ["-32600", "Unknown method: x", true],
  ["-32600", "Unsupported method: eth_x", true],
  ["-32000", "RPC method eth_x is not available", true],
  ["-32603", "Error: Method 'x' is not implemented", true],
  // -32004 is Solana's code for a missing block.
  ["-32004", "Block not available for slot 5", false],
  ["3", "execution reverted: method not found", false],
  ["3", "execution reverted: unknown method", false],
  ["-32000", "header not found", false],
  ["-32000", "method eth_getProof: block not found", false],
  ["-32602", "invalid params of the method", false],
  [undefined, "Method", false],
];

for (const [code, message, isNone] of ERRORS) {
  const says = isNone ? "says" : "does not say";
  missing(`the error ${code} ${message} ${says} that the node lacks the method`, () => {
    assert.is(isNoMethod({ code, message }), isNone);
  });
}

const URLS: Readonly<Record<string, boolean>> = {
  "http://127.0.0.1:8545": true,
  "http://localhost:8545": true,
  "http://geth.localhost": true,
  "http://[::1]": true,
  "http://0.0.0.0:8545": true,
  "http://10.1.2.3": true,
  "http://172.16.0.1": true,
  "http://172.31.255.255": true,
  "http://192.168.1.1": true,
  "http://100.64.0.1": true,
  "http://100.127.255.1": true,
  "http://169.254.1.1": true,
  "http://[fd12:3456::1]": true,
  "http://[fc00::1]": true,
  "http://[fe80::1]": true,
  "http://[febf::1]": true,
  "http://geth:8545": true,
  "http://nas.local": true,
  "http://nas.local.": true,
  "http://geth.internal": true,
  "http://geth.home.arpa": true,
  "http://geth.test": true,
  "http://8.8.8.8": false,
  "http://172.15.0.1": false,
  "http://172.32.0.1": false,
  "http://100.63.0.1": false,
  "http://100.128.0.1": false,
  "http://192.169.0.1": false,
  "http://[2001:db8::1]": false,
  "http://[fec0::1]": false,
  "http://[fd::1]": false,
  "http://node.example": false,
  "http://10.1.2.3.example": false,
  "http://local": true,
  "http://mylocal.example": false,
};

missing("only a node in this machine or network is asked, unless the operator forbids it", () => {
  for (const [url, isNear] of Object.entries(URLS)) {
    assert.is(mayAskMethods({ url }), isNear, url);
    assert.is(mayAskMethods({ url, ask_methods: true }), isNear, url);
    assert.is(mayAskMethods({ url, ask_methods: false }), false, url);
  }
  assert.is(mayAskMethods({}), false);
});

const methodOf = (name: string, more: Partial<Method> = {}): Method => ({
  ...{ name, summary: name, params: [], result: { name: "result", schema: {} } },
  ...{ "x-access": "read", paramStructure: "by-position" },
  ...more,
});

const NO_METHOD: RpcResponse = { error: '{"code":-32601,"message":"Method not found"}' };
const NO_PARAMS: RpcResponse = { error: '{"code":-32602,"message":"Invalid params"}' };

/** `responses` are by method name; a method without a response does not exist. */
const callOf =
  (responses: Record<string, RpcResponse>, called: unknown[] = []): CallMethod =>
  async (method, params) => {
    called.push([method, params]);
    await nextTurn();
    return await outcomeOf(responses[method] ?? NO_METHOD);
  };

missing("only methods are asked about whose calls have no effect and little cost", () => {
  assert.ok(isAskable(methodOf("a")));
  for (
    const marks of [
      { "x-access": "write" },
      { "x-access": "secret" },
      { "x-cost": "heavy" },
      { "x-streaming": true },
      { "x-checked": true },
    ] as const
  ) {
    assert.not(isAskable(methodOf("a", marks)), JSON.stringify(marks));
  }
});

missing("a method counts as missing only if the node says so twice", async () => {
  const called: unknown[] = [];
  const params = [{ name: "block", schema: {} }];
  const methods = [
    methodOf("there", { params }),
    methodOf("gone", { params }),
    methodOf("named", { params, paramStructure: "by-name" }),
  ];
  const call = callOf({ there: NO_PARAMS }, called);
  assert.equal(await findMissing({ methods, call }), ["gone", "named"]);
  const sent = (name: string) =>
    (called as [string, unknown][]).filter(([method]) => method === name).map(([, sent]) => sent);
  assert.equal(sent("there"), [["nodeface", "nodeface"]], "one parameter too many");
  assert.equal(sent("gone"), [["nodeface", "nodeface"], []]);
  assert.equal(sent("named"), [{ nodeface: "nodeface" }, {}]);

  // hardhat responds like this to two of its methods.
  const fussy: CallMethod = (_, params) =>
    outcomeOf(Object.keys(params).length > 0 ? NO_METHOD : { result: "0x1" });
  assert.equal(await findMissing({ methods, call: fussy }), []);
});

missing("a method counts as present if the node does not respond properly", async () => {
  const methods = ["a", "b", "c", "d"].map((name) => methodOf(name));
  const call: CallMethod = (name) => {
    if (name === "a") return Promise.resolve({ error: failureOfStatus(404) });
    if (name === "b") return Promise.resolve({ error: failureOfStatus(503) });
    return outcomeOf(name === "c" ? {} : { error: '{"code":-32005,"message":"busy"}' });
  };
  assert.equal(await findMissing({ methods, call }), []);
});

missing("at most two calls are sent at a time", async () => {
  const methods = Array.from({ length: 9 }, (_, at) => methodOf(`m${at}`));
  let [running, most, count] = [0, 0, 0];
  const call: CallMethod = async () => {
    most = Math.max(most, ++running);
    count++;
    await nextTurn();
    running--;
    return await outcomeOf(NO_PARAMS);
  };
  await findMissing({ methods, call });
  assert.equal([most, count], [2, 9]);
});

missing(
  "if more than half of more than ten methods seem missing, the node is not believed",
  async () => {
    const names = Array.from({ length: 11 }, (_, at) => `m${at}`);
    const methods = names.map((name) => methodOf(name));
    const having = (count: number) =>
      callOf(Object.fromEntries(names.slice(0, count).map((name) => [name, NO_PARAMS])));
    assert.is(await findMissing({ methods, call: having(5) }), undefined);
    assert.is((await findMissing({ methods, call: having(6) }))?.length, 5);
    const few = methods.slice(0, 10);
    assert.is((await findMissing({ methods: few, call: having(0) }))?.length, 10);
  },
);

const GETH = { software: "Geth", version: "1.16.0", status: "ok" } as const;

/** The kind has the methods `a`, `b` and `c`, and the node has those in `responses`. */
function watch(responses: Record<string, RpcResponse>) {
  const called: [string, unknown][] = [];
  const methods = ["a", "b", "c"].map((name) => methodOf(name));
  const counts = { changes: 0, incredible: 0 };
  const watched = new MissingMethods({
    prepare: () => Promise.resolve({ methods, call: callOf(responses, called) }),
    onChange: () => counts.changes++,
    onIncredible: () => counts.incredible++,
    onError: (error) => {
      throw error;
    },
  });
  const idle = async () => {
    let before = -1;
    while (called.length > before) {
      before = called.length;
      for (let turn = 0; turn < 20; turn++) await nextTurn();
    }
  };
  const firsts = () => called.filter(([, params]) => String(params) !== "").map(([name]) => name);
  return { watched, called, counts, idle, firsts };
}

missing("a described method is asked about once, after the node is ok", async () => {
  const { watched, called, counts, idle, firsts } = watch({ a: NO_PARAMS });
  watched.setMethods(["a", "b", "x"]);
  for (const status of ["starting", "syncing", "degraded", "unreachable"] as const) {
    watched.note({ ...GETH, status });
  }
  await idle();
  assert.equal([called, watched.names], [[], undefined]);
  watched.note(GETH);
  await idle();
  assert.equal([firsts().sort(), watched.names, counts.changes], [["a", "b"], ["b"], 1]);
  watched.note({ ...GETH, status: "syncing" });
  watched.note(GETH);
  watched.setMethods(["a", "b", "x"]);
  await idle();
  assert.equal([firsts().length, counts.changes], [2, 1]);
  watched.setMethods(["a", "b", "c"]);
  await idle();
  assert.equal([firsts().slice(2), watched.names, counts.changes], [["c"], ["b", "c"], 2]);
});

missing("a node that lacks nothing is known to lack nothing", async () => {
  const { watched, counts, idle } = watch({ a: NO_PARAMS, b: { result: "1" } });
  watched.note(GETH);
  watched.setMethods(["a", "b"]);
  await idle();
  assert.equal([watched.names, counts.changes], [[], 1]);
});

missing("another version or software of the node is asked again", async () => {
  const responses: Record<string, RpcResponse> = { a: NO_PARAMS };
  const { watched, idle, firsts } = watch(responses);
  watched.setMethods(["a", "b"]);
  watched.note(GETH);
  await idle();
  assert.equal(watched.names, ["b"]);
  responses.b = NO_PARAMS;
  for (const node of [{ version: "1.17.0" }, { software: "Reth" }]) {
    // Behind one address, nodes of two versions may respond in turn.
    watched.note({ ...GETH, ...node });
    assert.not.equal(watched.names, undefined);
    passTime(60_001);
    watched.note({ ...GETH, ...node });
    assert.is(watched.names, undefined, "all methods are shown until the new version responds");
    await idle();
    assert.equal(watched.names, []);
  }
  assert.is(firsts().length, 6);
});

missing("a node that was down is asked again, since its options may have changed", async () => {
  const responses: Record<string, RpcResponse> = { a: NO_PARAMS };
  const { watched, idle, firsts } = watch(responses);
  watched.setMethods(["a", "b"]);
  watched.note(GETH);
  await idle();
  responses.b = NO_PARAMS;
  watched.note({ status: "unreachable", status_code: "timeout" });
  watched.note(GETH);
  await idle();
  assert.equal([watched.names, firsts().length], [["b"], 2], "a slow node is not asked again");
  watched.note({ status: "unreachable", status_code: "connection_refused" });
  assert.equal(watched.names, ["b"]);
  watched.note(GETH);
  await idle();
  assert.equal([watched.names, firsts().length], [[], 4]);
  const restart = async () => {
    watched.note({ status: "stale", status_code: "connection_refused" });
    watched.note(GETH);
    await idle();
  };
  await restart();
  assert.is(firsts().length, 4, "a node that keeps restarting is not asked each time");
  passTime(60_001);
  await restart();
  assert.is(firsts().length, 6, "a restart may take less time than a node needs to be unreachable");
});

missing("a node whose methods all seem missing is reported once", async () => {
  const methods = Array.from({ length: 11 }, (_, at) => methodOf(`m${at}`));
  let reports = 0;
  const watched = new MissingMethods({
    prepare: () => Promise.resolve({ methods, call: callOf({}) }),
    onChange: () => assert.unreachable(),
    onIncredible: () => reports++,
    onError: () => {},
  });
  watched.setMethods(methods.map(({ name }) => name));
  for (const version of ["1", "2"]) {
    watched.note({ ...GETH, version });
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    assert.equal([watched.names, reports], [undefined, 1]);
  }
});

missing("closing the service cancels the running call, and sends no other", async () => {
  const methods = ["a", "b", "c"].map((name) => methodOf(name));
  let count = 0;
  const watched = new MissingMethods({
    prepare: (signal) =>
      Promise.resolve({
        methods,
        call: () =>
          new Promise((_, reject) => {
            count++;
            signal.addEventListener("abort", () => reject(signal.reason));
          }),
      }),
    onChange: () => assert.unreachable(),
    onIncredible: () => assert.unreachable(),
    onError: () => assert.unreachable(),
  });
  watched.setMethods(["a", "b", "c"]);
  watched.note(GETH);
  while (count < 2) await nextTurn();
  watched.close();
  watched.note({ ...GETH, version: "2" });
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.is(count, 2);
});

/** The node has all methods of the kind `ethereum` that are not in `gone`. */
async function playEthereum(gone: string[] = ["txpool_status", "eth_config"]) {
  const results: Record<string, unknown> = {
    eth_chainId: "0x7a69",
    eth_blockNumber: "0x1",
    eth_syncing: false,
    eth_getBlockByNumber: { number: "0x1", timestamp: "0x0" },
    net_peerCount: "0x1",
    web3_clientVersion: "HardhatNetwork/3.18.0",
  };
  const called: string[] = [];
  const node = await play((request, response) => {
    let body = "";
    request.on("data", (part) => body += part).on("end", () => {
      const answer = ({ id, method }: { id: unknown; method: string }) => {
        called.push(method);
        if (method in results) return { jsonrpc: "2.0", id, result: results[method] };
        const isGone = gone.includes(method) || /^rpc[._]/.test(method);
        const error = isGone
          ? { code: -32004, message: `Method ${method} is not supported` }
          : { code: -32602, message: "Invalid params" };
        return { jsonrpc: "2.0", id, error };
      };
      const calls = JSON.parse(body || "{}");
      const text = JSON.stringify(Array.isArray(calls) ? calls.map(answer) : answer(calls));
      response.setHeader("content-type", "application/json").end(text);
    });
  });
  return { node, called, results, gone };
}

interface Described {
  readonly names: readonly string[];
  readonly isUnsure: boolean;
}

const isSure = ({ names, isUnsure }: Described) => names.length > 0 && !isUnsure;

function serve(options: NodefaceOptions) {
  const app = createNodeface({ info: { ttl: "0ms" }, forward: "reads", log: () => {}, ...options });
  const fetch = async (path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : {};
    return await app.fetch(new Request(`http://localhost${path}`, init));
  };
  const read = async (path: string, body?: object) => await (await fetch(path, body)).json();
  const described = async () => {
    await read("/v1/info");
    const { info, paths, tags = [] } = await read("/spec.json");
    const names = Object.keys(paths).filter((path) => path.startsWith("/v1/rpc/"))
      .map((path) => path.slice("/v1/rpc/".length));
    return { names, tags, isUnsure: /may lack some of the methods/.test(info.description) };
  };
  /** Waits for a description that `holds`. */
  const until = async (holds: (found: Awaited<ReturnType<typeof described>>) => boolean) => {
    let found = await described();
    while (!holds(found)) {
      await nextTurn();
      found = await described();
    }
    return found;
  };
  return { app, fetch, read, described, until };
}

missing(
  "methods that the node lacks are omitted from the description and cannot be called",
  async () => {
    const { node, called, results, gone } = await playEthereum();
    const { app, fetch, read, until } = serve({ node: node.url });
    const { openrpc } = await loadInterface("ethereum");
    const all = openrpc!.methods.map(({ name }) => name);
    const first = await until(({ names }) => names.length > 0);
    if (first.isUnsure) assert.equal(first.names.sort(), [...all].sort());
    const { names } = await until(isSure);
    assert.equal(all.filter((name) => !names.includes(name)).sort(), [
      "eth_config",
      "txpool_status",
    ]);

    const asked = new Set(openrpc!.methods.filter(isAskable).map(({ name }) => name));
    const unasked = openrpc!.methods.filter(({ name }) => !asked.has(name)).map(({ name }) => name);
    assert.equal(unasked.filter((name) => called.includes(name) && !(name in results)), []);
    const callsOf = (name: string) => called.filter((method) => method === name).length;
    assert.equal([callsOf("eth_config"), callsOf("eth_getCode")], [2, 1]);

    const call = { jsonrpc: "2.0", id: 1, method: "txpool_status", params: [] };
    const { error } = await read("/v1/rpc", call);
    assert.is(error.code, -32601);
    assert.match(
      error.message,
      /does not exist\/is not available: the description has no such method$/,
    );
    assert.is((await fetch("/v1/rpc/txpool_status", {})).status, 404);
    assert.is(callsOf("txpool_status"), 2, "these calls are not forwarded");
    assert.not.match(await (await fetch("/v1/spec/simple")).text(), "txpool_status");

    gone.length = 0;
    results.web3_clientVersion = "HardhatNetwork/3.19.0";
    passTime(60_001);
    const after = await until(({ names }) => names.includes("txpool_status"));
    assert.ok(after.names.includes("eth_config"), "another version may have the method");
    await until(isSure);
    assert.is((await read("/v1/rpc", call)).error.code, -32602);
    await app.close();
    await node.close();
  },
);

missing("with ask_methods: false, no method is asked about", async () => {
  const { node, called } = await playEthereum();
  const { app, until, described } = serve({ node: { url: node.url, ask_methods: false } });
  await until(({ names }) => names.includes("txpool_status"));
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  assert.ok((await described()).isUnsure);
  assert.not(called.includes("eth_getCode"));
  await app.close();
  await node.close();
});

missing("the methods of an operator's own kind are not asked about", async () => {
  const { node, called } = await playEthereum();
  const methods = [methodOf("eth_getCode"), methodOf("txpool_status")];
  const kind: Kind = {
    ...{ title: "Mine", url: node.url, detect: { "chain#": "^0x" }, health: { ok: "it responds" } },
    sources: { chain: { jsonrpc: "eth_chainId" } },
    fields: { chain_id: "chain#" },
    openrpc: { methods },
  };
  const { app, until, described } = serve({
    node: { url: node.url, kind: "mine" },
    kinds: { mine: kind },
  });
  await until(({ names }) => names.includes("txpool_status"));
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  assert.ok((await described()).isUnsure);
  assert.ok(called.includes("eth_chainId"));
  // A service of another test may still query a node that had the same port before.
  assert.equal(called.filter((name) => methods.some((method) => method.name === name)), []);
  await app.close();
  await node.close();
});

missing(
  "listeners are notified that the description has changed, and get its new ETag",
  async () => {
    const { node } = await playEthereum();
    const { app, fetch, until } = serve({ node: node.url });
    const { now } = performance;
    let passed = 0;
    performance.now = () => now.call(performance) + passed;
    try {
      const reader = (await fetch("/v1/events?events=description")).body!.getReader();
      await until(isSure);
      const etag = (await fetch("/spec.json")).headers.get("etag");
      passed = 10_000;
      let told = "";
      while (!told.includes(`"etag":${JSON.stringify(etag)}`)) {
        const { value } = await reader.read();
        told += new TextDecoder().decode(value);
      }
      await reader.cancel();
    } finally {
      performance.now = now;
      await app.close();
      await node.close();
    }
  },
);

missing(
  "an operator's own description omits the methods of the kind that the node lacks",
  async () => {
    const { node, called } = await playEthereum(["txpool_status", "mine_own", "eth_config"]);
    const methods = ["eth_getCode", "txpool_status", "mine_own"].map((name) => ({
      ...{ name, params: [], tags: [{ name: name.split("_")[0]! }], "x-access": "read" },
      result: { name: "result", schema: {} },
    }));
    const text = JSON.stringify({
      openrpc: "1.3.2",
      info: { title: "Mine", version: "1" },
      methods,
    });
    const { app, until } = serve({
      node: { url: node.url, kind: "ethereum" },
      description: { text, name: "mine.json" },
    });
    const { names, tags } = await until(({ names }) => !names.includes("txpool_status"));
    assert.equal(names, ["eth_getCode", "mine_own"]);
    const named = (tags as { name: string }[]).map(({ name }) => name);
    assert.equal(named.filter((name) => ["eth", "txpool", "mine"].includes(name)), ["eth", "mine"]);
    assert.not(called.includes("mine_own"), "only methods of the kind are asked about");
    assert.not(called.includes("eth_config"), "only described methods are asked about");
    await app.close();
    await node.close();
  },
);

missing.run();
