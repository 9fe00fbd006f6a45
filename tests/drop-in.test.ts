/** The drop-in address: the node's operations at the node's own paths. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { createApp } from "../src/app.ts";
import { CALL_METHODS } from "../src/gateway/policy.ts";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";
import type { CallRecord } from "../src/log.ts";
import {
  forwarding,
  json,
  nodeOf,
  type ReceivedRequest,
  REST,
  result,
  RPC,
  textOf,
  TOKEN,
  until,
} from "./_gateway.ts";
import { ROOT } from "./_paths.ts";
import { draws } from "./_runtime.ts";

const root = suite("the drop-in address");
const node = nodeOf(root);

const OPEN = { open: ["reads"], at_root: true };
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const ok = { "x-access": "read", responses: { 200: { description: "" } } };

/** @param paths the operations of a node, by their paths */
function serving(paths: object, more: NodefaceOptions = {}, servers: object[] = []) {
  const calls: CallRecord[] = [];
  const info = { title: "A node", version: "1" };
  const text = JSON.stringify({ openapi: "3.1.1", info, servers, paths });
  const app = createNodeface({
    node: { url: node.url, kind: "none" },
    description: { name: "a.json", text } as never,
    forward: OPEN,
    logCalls: "all",
    log: (_, event) => void ("call" in event && calls.push(event.call)),
    ...more,
  });
  const ask = async (path: string, init?: RequestInit) =>
    await app.fetch(new Request(`http://localhost${path}`, init));
  return { app, calls, ask };
}

/** @param kind a built-in kind of node, which the simulated node claims to be */
function servingKind(kind: string, forward: NodefaceOptions["forward"] = OPEN) {
  const app = createNodeface({ node: { url: node.url, kind }, forward, log() {} });
  const send = (path: string, init?: RequestInit) =>
    app.fetch(new Request(`http://localhost${path}`, init));
  // A busy machine may take longer for the kind's operations than a call waits for them.
  const described = until(async () =>
    (await (await send("/spec.json")).text()).includes('"x-access"')
  );
  const ask = async (path: string, init?: RequestInit) => {
    await described;
    return await send(path, init);
  };
  const rpc = (path: string, method: string, params: unknown = []) =>
    ask(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }),
    });
  return { app, ask, rpc };
}

/** True for the service's own question whether the node responds. */
const isQuestion = ({ method, url }: ReceivedRequest) => method === "HEAD" && url === "/";

/** The paths that were called, without the service's own requests for the description. */
const calledPaths = () =>
  node.received.filter((request) => !isQuestion(request)).map(({ url }) => url)
    .filter((url) => !url.endsWith("spec.json"));

const receivedBy = ({ method, url, headers, body }: ReceivedRequest) => ({
  method,
  url,
  headers: { ...headers, host: "" },
  body: new TextDecoder().decode(body),
});

const shown = async (response: Response) => ({
  status: response.status,
  // Two responses may have two times.
  headers: Object.fromEntries([...response.headers].filter(([name]) => name !== "date")),
  text: await response.text(),
});

root("operations of two path items at one address keep their own parameters", async () => {
  const id = { name: "id", in: "path", required: true, schema: { type: "string" } };
  const version = { name: "X-Version", in: "header", schema: { type: "string" } };
  const paths = {
    "/v1/items/{id}": { parameters: [id], get: ok },
    "/items/{id}": { servers: [{ url: "/v1" }], parameters: [id, version], put: ok },
  };
  const { ask } = serving(paths, {}, [{ url: "/" }]);
  const { paths: described } = await (await ask("/spec.json")).json();
  const { get, put, parameters = [] } = described["/v1/items/{id}"];
  const namesOf = (operation: { parameters?: { name: string }[] }) =>
    [...parameters, ...operation.parameters ?? []].map(({ name }: { name: string }) => name);
  assert.equal(namesOf(get), ["id"]);
  assert.equal(namesOf(put), ["id", "X-Version"]);
});

root("a call of a path is the same at the root and below /v1/node", async () => {
  const { ask, calls } = forwarding(node.url, REST, {
    ...OPEN,
    clients: [{ name: "app", allow: ["POST /send"], token_env: "DROP_IN_TOKEN" }],
  });
  process.env.DROP_IN_TOKEN = TOKEN;
  const asJson = { "content-type": "application/json" };
  const requests: [path: string, init?: RequestInit][] = [
    ["/status"],
    ["/status", { method: "HEAD" }],
    ["/status", { method: "POST" }],
    ["/status", { method: "OPTIONS" }],
    ["/blocks/7?full=true&tag=a&tag=b"],
    ["/blocks/x"],
    ["/files/a/b%20c"],
    ["/find", { method: "POST", body: '{"key":"a"}', headers: asJson }],
    ["/send", { method: "POST", body: "{}", headers: asJson }],
    [
      "/send",
      {
        method: "POST",
        body: "{}",
        headers: { ...asJson, authorization: `Bearer ${TOKEN}` },
      },
    ],
    ["/balance"],
    ["/wait"],
    ["/unknown/a/b/c"],
    ["/blocks/7", { headers: { origin: "https://evil.example" } }],
    ["/blocks/7", { method: "DELETE" }],
  ];
  for (const [path, init] of requests) {
    const outcomes = [];
    for (const start of ["/v1/node", ""]) {
      node.forget();
      node.answer = json({ a: 1 }, 200, { "x-cursor": "7", etag: '"x"', link: "</b>" });
      calls.length = 0;
      const response = await shown(await ask(start + path, init));
      const logged = calls.map(({ operation, status }) => [operation, status]);
      outcomes.push({ response, logged, received: node.received.map(receivedBy) });
    }
    assert.equal(outcomes[0], outcomes[1], `${init?.method ?? "GET"} ${path}`);
  }
});

root("the root is closed in a host's server and if the setting says so", async () => {
  for (
    const forward of ["reads", "off", { open: ["reads"] }, { ...OPEN, at_root: false }] as const
  ) {
    const { app, ask } = forwarding(node.url, REST, forward);
    for (const [path, method, status] of [["/status", "GET", 404], ["/", "POST", 405]] as const) {
      assert.is((await ask(path, { method })).status, status, path);
    }
    assert.is((await ask("/")).status, 307);
    assert.not(app.matches({ url: "/status" }));
    assert.equal(node.received, []);
  }
  const { app } = forwarding(node.url, REST, OPEN);
  assert.ok(app.matches({ url: "/status" }));
  assert.not(app.matches({ url: "/v1/info/" }));
});

root("POST / is JSON-RPC where the node speaks it there", async () => {
  const { ask, calls } = forwarding(node.url, RPC, OPEN);
  node.answer = result("41");
  const call = { jsonrpc: "2.0", id: 7, method: "number" };
  for (
    const [path, status] of [["/", 200], ["/v1/rpc", 200], ["/other", 404], ["//", 404]] as const
  ) {
    const response = await ask(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify([call, { ...call, id: 8, method: "balance" }]),
    });
    assert.is(response.status, status, path);
    if (status !== 200) continue;
    const [first, second] = await response.json();
    assert.equal(first, { jsonrpc: "2.0", id: 7, result: 41 });
    assert.is(second.error.code, -32601);
  }
  assert.equal(node.received.map(({ url }) => url), ["/", "/"]);
  assert.equal(calls.map(({ operation }) => operation), ["number", "number"]);
  assert.is((await ask("/number", { method: "POST" })).status, 404);
  const options = await ask("/", { method: "OPTIONS" });
  assert.is(options.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
  for (const method of ["PUT", "DELETE"]) assert.is((await ask("/", { method })).status, 405);
});

root("JSON-RPC is at the path of the node's kind", async () => {
  const { rpc, ask } = servingKind("monero");
  node.answer = result("{}");
  assert.is((await rpc("/json_rpc", "get_block_count")).status, 200);
  assert.is((await rpc("/", "get_block_count")).status, 405);
  assert.is((await ask("/json_rpc")).headers.get("allow"), "POST, OPTIONS");
  assert.is((await ask("/get_height", { method: "POST" })).status, 200);
  assert.ok(node.received.some(({ url }) => url === "/get_height"));
});

root("a kind can have paths and JSON-RPC at the same address", async () => {
  process.env.DROP_IN_TOKEN = TOKEN;
  const { ask, rpc } = servingKind("handshake", {
    ...OPEN,
    clients: [{ name: "app", allow: ["GET /"], token_env: "DROP_IN_TOKEN" }],
  });
  const headers = { authorization: `Bearer ${TOKEN}` };
  node.answer = result("3");
  assert.is((await (await rpc("/", "getblockcount")).json()).result, 3);
  node.answer = json({ version: "8.0.0" });
  assert.is((await ask("/")).status, 401);
  assert.equal(await (await ask("/", { headers })).json(), { version: "8.0.0" });
  assert.is((await ask("/block/7")).status, 200);
  assert.ok(node.received.some(({ url, body }) => url === "/" && body.length > 0));
  assert.ok(node.received.some(({ url }) => url === "/block/7"));
  const page = await ask("/", { headers: { accept: BROWSER } });
  assert.is(page.headers.get("location"), "v1/spec");
});

root("CometBFT's operations are called by path and by JSON-RPC, as CosmJS does", async () => {
  const { ask, rpc } = servingKind("cosmos");
  const calls: [method: string, params: object][] = [
    ["status", {}],
    ["block", { height: "7" }],
    ["tx", { hash: "q83v", prove: true }],
    ["tx_search", { query: "tx.height=7", page: "1", per_page: "100", order_by: "asc" }],
  ];
  for (const [method, params] of calls) {
    node.forget();
    node.answer = result("{}");
    assert.equal((await (await rpc("/", method, params)).json()).result, {}, method);
    const received = node.received.filter(({ method }) => method === "POST").map(textOf);
    assert.equal(received.map((text) => JSON.parse(text).params ?? {}), [params], method);
  }
  assert.is((await ask("/block?height=7")).status, 200);
  assert.is((await (await rpc("/", "net_info")).json()).error.code, -32601);
});

root("/ and /v1 redirect browsers, and give other clients what the node has there", async () => {
  node.answer = json({ chain_id: 1 });
  const aptos = servingKind("aptos");
  for (const [path, url] of [["/v1", "/v1"], ["/v1/", "/v1/"]]) {
    for (const accept of [undefined, "application/json", "*/*"]) {
      node.forget();
      const response = await aptos.ask(path!, accept ? { headers: { accept } } : {});
      assert.is(response.status, 200, `${path} ${accept}`);
      assert.is(response.headers.get("vary"), "Accept");
      assert.equal(calledPaths(), [url]);
    }
    node.forget();
    const { status, headers } = await aptos.ask(path!, { headers: { accept: BROWSER } });
    assert.equal([status, headers.get("vary")], [307, "Accept"]);
    assert.equal(calledPaths(), []);
  }
  for (const accept of [BROWSER, "*/*", "application/json"]) {
    const { status, headers } = await aptos.ask("/", { headers: { accept } });
    assert.equal([status, headers.get("vary"), headers.get("location")], [
      307,
      "Accept",
      "v1/spec",
    ]);
  }
});

root("the base path of the node is a path with and without a slash", async () => {
  const { ask } = servingKind("aptos", "reads");
  for (const path of ["/v1", "/v1/"]) {
    node.forget();
    assert.is((await ask(`/v1/node${path}`)).status, 200);
    // On a busy machine, the service may ask for the state at the same path meanwhile.
    assert.ok(calledPaths().includes(path), path);
  }
  const other = serving({ "/": { get: ok }, "/a/": { get: ok } });
  for (const path of ["/a", "/b"]) {
    assert.is((await other.ask(path)).status, 404, path);
    assert.is((await other.ask(`/v1/node${path}`)).status, 404, path);
  }
  const closed = serving({ "/": { get: ok } }, {}, [{ url: "/a" }]);
  assert.is((await closed.ask("/a")).status, 200);
  const own = { "/a/": { get: ok }, "/a": { get: { responses: {} } } };
  assert.is((await serving(own).ask("/a")).status, 403);
});

/** Paths of the service, even where they are switched off. */
/** The paths of the service's own description. */
const DESCRIBED = Object.keys(
  parse(readFileSync(`${ROOT}spec/openapi.yaml`, "utf8")).paths as object,
);

const OWN = [
  ...DESCRIBED,
  ...["/favicon.ico", "/assets/a/b.js"],
  ...["/v1/node", "/v1/node/v1/info", "/v1/rpc", "/v1/rpc/number"],
];

const spellings = (path: string): string[] => [
  path,
  path.toUpperCase(),
  path.replace(/[a-z](?=\w)/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  `${path}/`,
  `/${path}`,
  path.replace(/(?<=.)\//, "//"),
  path.replace(/(?<=.)\//, "%2F"),
  `/x/..${path}`,
  `/./${path}`,
  `${path};a=b`,
];

root("no path of the service goes to the node, for any method and spelling", async () => {
  const paths = Object.fromEntries(
    OWN.flatMap((path) => spellings(path)).filter((path) => !path.includes(".."))
      .map((path) => [path, Object.fromEntries(CALL_METHODS.map((m) => [m.toLowerCase(), ok]))]),
  );
  for (const metrics of [false, true]) {
    const { ask } = serving({ "/{a}": { get: ok }, ...paths }, { metrics });
    // Without metrics, only the path of the metrics can differ.
    const own = metrics ? OWN : OWN.filter((path) => path.includes("metrics"));
    for (const path of own.flatMap(spellings)) {
      for (const method of CALL_METHODS) {
        if (path.startsWith("/v1/node/") || /^\/[x.]/.test(path)) continue;
        await (await ask(path, { method })).body?.cancel();
        assert.equal(calledPaths(), [], `${method} ${path}`);
      }
    }
  }
  const { app } = serving({ "/v1/info": { post: ok }, "/b": { get: ok } }, { prefix: "/a" });
  const post = async (path: string) =>
    (await app.fetch(new Request(`http://localhost${path}`, { method: "POST" }))).status;
  assert.is(await post("/a/v1/info"), 405);
  assert.is(await post("/a/v1/node/v1/info"), 200);
});

root("a node's operation with a path of the service is below /v1/node alone", async () => {
  const { ask } = serving({ "/v1/info": { get: ok }, "/v1/infos": { get: ok } });
  node.answer = json({ ofNode: true });
  assert.is((await (await ask("/v1/info")).json()).ofNode, undefined);
  assert.equal(await (await ask("/v1/node/v1/info")).json(), { ofNode: true });
  assert.equal(await (await ask("/v1/infos")).json(), { ofNode: true });
  const { paths, servers } = await (await ask("/spec.json")).json();
  assert.equal(servers, [{ url: "." }]);
  assert.equal(paths["/v1/info"].get.operationId, "nodefaceGetInfo");
  assert.ok(paths["/v1/node/v1/info"].get);
  assert.ok(paths["/v1/infos"].get);
});

root("only a built-in kind has paths below /.well-known", async () => {
  const path = "/.well-known/acme-challenge/{token}";
  const parameters = [{ name: "token", in: "path", required: true, schema: { type: "string" } }];
  const { ask } = serving({ [path]: { get: { ...ok, parameters } } });
  for (const text of ["/.well-known/acme-challenge/x", "/%2Ewell-known/acme-challenge/x"]) {
    assert.is((await ask(text)).status, 404, text);
  }
  assert.is((await ask("/v1/node/.well-known/acme-challenge/x")).status, 200);
  assert.ok((await (await ask("/spec.json")).json()).paths[`/v1/node${path}`]);
  const activity = servingKind("activitypub");
  assert.is((await activity.ask("/.well-known/nodeinfo")).status, 200);
  assert.is((await activity.ask("/.well-known/api-catalog")).status, 200);
  const { paths } = await (await activity.ask("/spec.json")).json();
  assert.ok(paths["/.well-known/nodeinfo"]);
});

root("the host's own operations come first", async () => {
  const { ask, app } = serving({ "/a/{b}": { get: ok, post: ok }, "/c": { get: ok } }, {
    operations: [{
      method: "GET",
      path: "/a/{b}",
      operation: { responses: { 200: { description: "Ours" } } },
      handle: () => new Response("ours"),
    }],
  });
  assert.is(await (await ask("/a/1")).text(), "ours");
  const { paths } = await (await ask("/spec.json")).json();
  assert.equal(Object.keys(paths["/a/{b}"]), ["get"]);
  assert.is(paths["/a/{b}"].get.responses["200"].description, "Ours");
  assert.equal(Object.keys(paths["/v1/node/a/{b}"]), ["get", "post"]);
  assert.is((await ask("/a/1", { method: "POST" })).status, 405);
  assert.equal(node.received, []);
  assert.is((await ask("/c")).status, 200);
  assert.ok(app.matches({ url: "/c" }));
});

root("the node's operations are below /v1/node where a path of the host takes theirs", async () => {
  const parameters = [{ name: "id", in: "path", required: true, schema: { type: "string" } }];
  const { ask } = serving({
    "/users/{id}": { delete: { ...ok, parameters }, get: { ...ok, parameters } },
    "/users/me": { get: ok },
    "/users/{id}/x": { get: { ...ok, parameters } },
    "/accounts/{id}": { get: { ...ok, parameters } },
    "/c": { get: ok },
  }, {
    operations: [{
      method: "GET",
      path: "/users/{name}",
      operation: { responses: { 200: { description: "Ours" } } },
      handle: () => new Response("ours"),
    }, {
      method: "GET",
      path: "/accounts/summary",
      operation: { responses: { 200: { description: "Ours" } } },
      handle: () => new Response("ours"),
    }],
  });
  const { paths } = await (await ask("/spec.json")).json();
  assert.equal(Object.keys(paths).filter((path) => /users|accounts|\/c$/.test(path)).sort(), [
    ...["/accounts/summary", "/accounts/{id}", "/c", "/users/{id}/x", "/users/{name}"],
    ...["/v1/node/users/me", "/v1/node/users/{id}"],
  ]);
  assert.is(await (await ask("/users/me")).text(), "ours");
  assert.is((await ask("/v1/node/users/me")).status, 200);
  assert.is((await ask("/users/7/x")).status, 200);
});

root("a path of the host takes none of the node below another base path", async () => {
  const operation = { responses: { 200: { description: "Ours" } } };
  const { ask } = serving({ "/a": { get: ok } }, {
    operations: [{ method: "GET", path: "/a", operation, handle: () => new Response("ours") }],
  }, [{ url: "/api" }]);
  const { paths } = await (await ask("/spec.json")).json();
  assert.ok(paths["/a"] && paths["/api/a"]);
  assert.is(await (await ask("/a")).text(), "ours");
  assert.is((await ask("/api/a")).status, 200);
});

root("clients of a node that has only JSON-RPC are told the path of its endpoint", async () => {
  const health = { ok: "it responds" };
  const method = {
    ...{ name: "a", summary: "A", params: [], result: { name: "r", schema: {} } },
    "x-access": "read" as const,
  };
  const mine = {
    ...{ title: "Mine", url: "http://127.0.0.1:1", detect: { "it#/it": "^it$" } },
    ...{ sources: { it: { jsonrpc: "it", path: "/jsonrpc" } }, fields: {}, health },
    openrpc: { path: "/jsonrpc", methods: [method] },
  };
  const path = { get: { ...ok, operationId: "b", summary: "B" } };
  for (
    const [kind, address, said] of [
      [mine, "/jsonrpc", "needs the address /jsonrpc of this service"],
      [
        { ...mine, openapi: { paths: { "/b": path } } },
        "/",
        "needs the address / of this service, and JSON-RPC is at /jsonrpc",
      ],
    ] as const
  ) {
    const app = createNodeface({
      ...{ node: { url: node.url, kind: "mine" }, kinds: { mine: kind as never } },
      ...{ forward: OPEN, log() {} },
    });
    const ask = (path: string, init?: RequestInit) =>
      app.fetch(new Request(`http://localhost${path}`, init));
    await until(async () => (await (await ask("/spec.json")).text()).includes('"x-call"'));
    assert.match(
      await (await ask("/v1/spec/simple")).text(),
      `Connect to <code><var>…</var>${address === "/" ? "" : address}</code>`,
    );
    assert.match(await (await ask("/nowhere")).text(), said);
    const init = { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"a"}' };
    assert.is((await ask("/jsonrpc", init)).status, 200);
    await app.close();
  }
});

root("a path without operations does not take the place of another one", async () => {
  const { ask } = serving({ "/a": { get: ok }, "/v1/a": { summary: "Nothing" } }, {}, [{
    url: "/v1",
  }]);
  const { paths } = await (await ask("/spec.json")).json();
  assert.ok(paths["/v1/a"].get);
});

root("the told address of JSON-RPC follows when the kind becomes known", async () => {
  let isThere = false;
  node.answer = (request, response) =>
    isThere
      ? json({
        jsonrpc: "2.0",
        id: JSON.parse(new TextDecoder().decode(request.body) || "{}").id,
        result: "mine",
      })(
        request,
        response,
      )
      : response.destroy();
  const method = {
    ...{ name: "a", summary: "A", params: [], result: { name: "r", schema: {} } },
    "x-access": "read" as const,
  };
  const mine = {
    ...{ title: "Mine", url: "http://127.0.0.1:1", detect: { "it#": "^mine$" } },
    ...{ sources: { it: { jsonrpc: "it", path: "/jsonrpc" } }, fields: {} },
    ...{ health: { ok: "it responds" }, openrpc: { path: "/jsonrpc", methods: [method] } },
  };
  const text = JSON.stringify({
    ...{ openrpc: "1.3.2", info: { title: "Mine", version: "1" }, methods: [method] },
  });
  const app = createNodeface({
    ...{ node: { url: node.url }, kinds: { mine: mine as never }, forward: OPEN, log() {} },
    description: { name: "a.json", text } as never,
  });
  const told = async (path: string) =>
    await (await app.fetch(new Request(`http://localhost${path}`))).text();
  assert.match(await told("/nowhere"), "needs the address / of this service");
  isThere = true;
  await until(async () => (await told("/v1/info")).includes('"ok"'));
  await until(async () => (await told("/nowhere")).includes("needs the address /jsonrpc of"));
  await app.close();
});

root("with a prefix, a path of the service comes before the node's", async () => {
  const { app } = serving({ "/info": { get: ok }, "/x": { get: ok } }, { prefix: "/v1" });
  const get = async (path: string) =>
    (await app.fetch(new Request(`http://localhost${path}`))).status;
  assert.is(await get("/v1/info"), 200);
  assert.equal(calledPaths(), []);
  assert.is(await get("/v1/x"), 200);
  assert.equal(calledPaths(), ["/x"]);
});

root("the description has the paths of the root, under one server", async () => {
  const spec = async (kind: string, forward: NodefaceOptions["forward"], path = "/spec.json") =>
    await (await servingKind(kind, forward).ask(path)).json();
  const aptos = await spec("aptos", OPEN);
  assert.equal(aptos.servers, [{ url: "." }]);
  assert.ok(aptos.paths["/v1/accounts/{address}"]);
  assert.ok(aptos.paths["/v1/"]);
  assert.not(JSON.stringify(aptos.paths).includes('"servers"'));
  assert.equal((await spec("aptos", OPEN, "/v1/spec.json")).servers, [{ url: ".." }]);
  const kubo = await spec("kubo", OPEN);
  assert.ok(kubo.paths["/api/v0/version"]);
  assert.ok(kubo.paths["/v1/info"]);
  const ethereum = await spec("ethereum", OPEN);
  assert.ok(ethereum.paths["/v1/rpc/eth_blockNumber"]);
  const closed = await spec("aptos", "reads");
  assert.equal(closed.servers, [{ url: "./v1/node/v1" }]);
  assert.ok(closed.paths["/accounts/{address}"]);
});

root("references to moved paths stay right, and other servers stay", async () => {
  const shared = { get: { ...ok, responses: { 200: { description: "x" } } } };
  const { ask } = serving(
    {
      "/a": shared,
      "/b/{c}": {
        parameters: [{ name: "c", in: "path", required: true, schema: { type: "string" } }],
        get: { ...ok, responses: { 200: { $ref: "#/paths/~1a/get/responses/200" } } },
        post: { ...ok, servers: [{ url: "https://other.example" }] },
      },
    },
    {},
    [{ url: "/base" }],
  );
  const { paths } = await (await ask("/spec.json")).json();
  assert.equal(paths["/base/b/{c}"].get.responses, paths["/base/a"].get.responses);
  assert.equal(paths["/b/{c}"].post.servers, [{ url: "https://other.example" }]);
  assert.is(paths["/b/{c}"].get, undefined);
  assert.ok(paths["/b/{c}"].parameters);
  assert.ok(paths["/base/b/{c}"].parameters);
  assert.is(paths["/base/b/{c}"].post, undefined);
});

root("an operation at the node does not get the server of its path", async () => {
  const elsewhere = [{ url: "https://other.example" }];
  const { ask } = serving(
    {
      "/a": {
        servers: elsewhere,
        get: { ...ok, servers: [{ url: "/" }] },
        post: ok,
        put: { ...ok, servers: [] },
      },
    },
    {},
    [{ url: "/" }],
  );
  const { paths } = await (await ask("/spec.json")).json();
  const { servers, get, post, put } = paths["/a"];
  assert.equal([servers, get.servers], [undefined, undefined]);
  assert.equal([post.servers, put.servers], [elsewhere, elsewhere]);
});

root("a call at the path of a wallet is refused as a call, so that bitcoin-cli fails", async () => {
  const { ask } = servingKind("bitcoin", OPEN);
  const body = JSON.stringify({ id: 7, method: "sendtoaddress", params: ["a", 1] });
  const response = await ask("/wallet/w", { method: "POST", body });
  const { id, error } = await response.json();
  assert.equal([id, error.code], [7, -32601]);
  assert.match(error.message, 'forward.clients can allow "/wallet/w sendtoaddress"');
  const deeper = await ask("/wallet/w/x", { method: "POST", body });
  assert.match((await deeper.json()).error.message, "There is nothing at this path");
});

root(
  "a page of another origin cannot make refused calls, which would count for others",
  async () => {
    const { ask } = servingKind("bitcoin", OPEN);
    const body = JSON.stringify([1, 2, 3].map((id) => ({ id, method: "getblockcount" })));
    const headers = { origin: "http://evil.example", "content-type": "text/plain" };
    const response = await ask("/nothing", { method: "POST", headers, body });
    assert.is(response.status, 403);
  },
);

root("a 404 or 405 names the address that a client of the node needs", async () => {
  const cases = [
    ["aptos", OPEN, "/accounts/0x1", "/v1"],
    ["kubo", OPEN, "/version", "/api/v0"],
    ["ethereum", OPEN, "/eth", "/"],
    ["aptos", "reads", "/v1/accounts/0x1", "/v1/node/v1"],
    ["ethereum", "reads", "/", "/v1/rpc"],
    ["handshake", "reads", "/block/1", "/v1/node"],
  ] as const;
  for (const [kind, forward, path, address] of cases) {
    const { ask } = servingKind(kind, forward);
    await ask("/spec.json");
    const response = await ask(path, { method: "POST", body: '{"id":1,"method":"a"}' });
    assert.ok([404, 405].includes(response.status), path);
    const { detail, error } = await response.json();
    assert.match(
      detail ?? error.message,
      `A client of the node needs the address ${address} of this service`,
    );
  }
  const { detail } = await (await createNodeface().fetch(new Request("http://localhost/x"))).json();
  assert.not(detail.includes("client"));
});

root("without forwarding, clients are told so, and those of JSON-RPC with their ids", async () => {
  const options = { node: { url: node.url, kind: "ethereum" }, log() {} };
  const body = '{"jsonrpc":"2.0","id":12345678901234567890123,"method":"eth_chainId"}';
  for (const isStandalone of [true, false]) {
    const app = createApp({ ...options, isStandalone });
    const ask = (path: string, init: RequestInit) =>
      app.fetch(new Request(`http://localhost${path}`, init));
    const response = await ask("/", { method: "POST", body });
    assert.is(response.status, isStandalone ? 200 : 405);
    const text = await response.text();
    assert.match(text, "does not forward calls");
    assert.is(text.includes('"id":12345678901234567890123'), isStandalone);
    const other = await ask("/v1/accounts/0x1", {});
    assert.is(other.status, 404);
    assert.match(await other.text(), "does not forward calls");
    await app.close();
  }
  assert.equal(calledPaths(), []);
});

root("a WebSocket handshake gets a sentence about WebSocket", async () => {
  const headers = { upgrade: "WebSocket", "sec-websocket-version": "13" };
  for (const forward of [OPEN, "reads"] as const) {
    const { ask } = forwarding(node.url, RPC, forward);
    for (const path of ["/", "/v1", "/v1/rpc", "/ws"]) {
      const response = await ask(path, { headers });
      assert.ok([400, 404, 405].includes(response.status), path);
      assert.match((await response.json()).detail, "WebSocket", path);
    }
    assert.is((await ask("/v1/info", { headers })).status, 200);
  }
});

const segment = fc.constantFrom(
  ...["a", "A", "b", "{x}", "v1", "info", "node", "rpc", "spec.json", "%61", "%2e%2e", "..", "{y}"],
  ...[".well-known", "metrics", "c%20d", "%C3%A9", "a;b", "a%2Fb", "status", ""],
);
const template = fc.array(segment, { minLength: 1, maxLength: 4 })
  .map((parts) => `/${parts.join("/")}`);
const access = fc.constantFrom("read", "read", "write", "secret", undefined);
const operation = fc.record({
  access,
  method: fc.constantFrom("get", "get", "post", "put", "delete", "head", "trace"),
});
const description = fc.array(fc.tuple(template, operation), { minLength: 1, maxLength: 8 });
const settings = fc.record({
  open: fc.subarray(["reads", "GET /a", "* /{x}*", "POST *"]),
  base: fc.constantFrom("", "/v1", "/a", "/v1/node"),
});
const method = fc.constantFrom(...CALL_METHODS, "OPTIONS");

/** Other spellings of a path, which a server may take for the same. */
const SPELLINGS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => `/x/%2E%2e${path}`,
  (path) => path.replaceAll("/", "//"),
  (path) => path.replaceAll("/", "%2F").replace("%2F", "/"),
  (path) => path.toUpperCase(),
  (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replace(/.$/, ";$&"),
  (path) => `${path}%00`,
  (path) => `http://localhost${path}`,
];

/** The same in each run. fast-check prints it if a test fails. */
const SEED = 62;

type App = ReturnType<typeof serving>["app"];

/** Sends a request whose target no URL parser has changed. */
async function askRaw(app: App, method: string, url: string, text?: string) {
  node.forget();
  const headers = new Headers({ host: "localhost" });
  const { body, signal } = new Request("http://localhost", {
    method: "POST",
    ...text !== undefined && { body: text },
  });
  if (text !== undefined) headers.set("content-length", String(text.length));
  const request = { method, url, headers, body, signal, rawUrl: url };
  const response = await app.fetch(request as unknown as Request);
  for (const name of ["vary", "date"]) response.headers.delete(name);
  const answer = await shown(response);
  return { received: node.received.map(receivedBy), answer };
}

root("nothing is callable at the root that is not callable below /v1/node", async () => {
  let reached = 0;
  await fc.assert(
    fc.asyncProperty(
      description,
      settings,
      fc.array(fc.tuple(template, method), { minLength: 10, maxLength: 20 }),
      fc.constantFrom(...SPELLINGS),
      async (operations, { open, base }, requests, spell) => {
        const paths: Record<string, Record<string, object>> = {};
        for (const [path, { access, method }] of operations) {
          const names = [...new Set(path.match(/(?<=\{)\w/g))];
          (paths[path] ??= {})[method] = {
            ...access && { "x-access": access },
            parameters: names.map((name) => ({
              ...{ name, in: "path", required: true, schema: { type: "string" } },
            })),
            responses: {},
          };
        }
        const { app, calls } = serving(paths, { forward: { open, at_root: true } }, [{
          url: base,
        }]);
        const described = operations.flatMap(([path, { method }]) =>
          method === "trace" ? [] : [[base + path, method.toUpperCase()] as const]
        );
        const spelled = described.flatMap(([path, own]) =>
          [own, "HEAD", "OPTIONS"].map((method) => [spell(path), method] as const)
        );
        for (const [text, method] of [...requests, ...described, ...spelled]) {
          const path = text.replaceAll(/[{}]/g, "");
          const ask = async (url: string) => {
            calls.length = 0;
            const outcome = await askRaw(app, method, url);
            const logged = calls.map(({ operation, status }) => [operation, status]);
            return { ...outcome, logged };
          };
          const atRoot = await ask(path);
          if (atRoot.received.length === 0) continue;
          reached++;
          const { pathname } = new URL(path.replace(/^\/+/, "/"), "http://localhost");
          const url = path.startsWith("//") ? path : pathname;
          assert.equal(atRoot, await ask(`/v1/node${url}`), `${method} ${path}`);
        }
      },
    ),
    {
      seed: SEED,
      ...draws(60),
      examples: [[
        [["/a", { access: "read", method: "get" }]],
        { open: ["reads"], base: "" },
        [],
        SPELLINGS[0]!,
      ]],
    },
  );
  assert.ok(reached > 0);
});

const name = fc.constantFrom("a", "b", "A", "a/b", "rpc.discover", "eth_call", "__proto__");
const message = fc.record({
  jsonrpc: fc.constantFrom("2.0", "1.0"),
  id: fc.constantFrom(1, "x", null),
  method: name,
  params: fc.constantFrom([], {}, [1]),
}, { requiredKeys: ["method"] });

root("no method is callable at the root that is not callable at /v1/rpc", async () => {
  let reached = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(name, access, { minKeys: 1 }),
      fc.subarray(["reads", "a", "eth_*"]),
      fc.array(fc.oneof(message, fc.array(message, { maxLength: 3 })), { minLength: 6 }),
      fc.constantFrom("/", "/", "//", "/.", "/%2f", "/v1", "/a", "/?a=b", "http://localhost/"),
      fc.constantFrom("POST", "POST", "POST", "PUT", "GET", "DELETE"),
      async (methods, open, messages, path, method) => {
        const list = Object.entries(methods).map(([name, access]) => ({
          ...{ name, params: [], result: { name: "r", schema: {} } },
          ...access && { "x-access": access },
        }));
        const { app } = forwarding(node.url, { ...RPC, methods: list } as never, {
          open,
          at_root: true,
        }, { log() {} });
        for (const sent of messages) {
          const text = JSON.stringify(sent);
          const atRoot = await askRaw(app, method, path, text);
          if (atRoot.received.length === 0) continue;
          reached++;
          assert.equal(atRoot, await askRaw(app, "POST", "/v1/rpc", text), `${path} ${text}`);
        }
      },
    ),
    {
      seed: SEED,
      ...draws(60),
      examples: [[{ a: "read" }, ["reads"], [{ method: "a", id: 1 }], "/", "POST"]],
    },
  );
  assert.ok(reached > 0);
});

root.run();
