import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { NodefaceOptions } from "../src/index.ts";
import type { Kind } from "../src/kinds/kind.ts";
import type { HttpClient } from "../src/node/http1.ts";
import {
  forwarding,
  type Gateway,
  json,
  nodeOf,
  type PlayedNode,
  REST,
  result,
  RPC,
  rpcError,
  textOf,
  TOKEN,
} from "./_gateway.ts";
import { contextFor } from "./_sources.ts";

const requests = suite("what reaches the node");

const node = nodeOf(requests);
let rest: Gateway;
let rpc: Gateway;
let folder: string;
requests.before(() => {
  rest = forwarding(node.url, REST);
  rpc = forwarding(node.url, RPC);
  folder = mkdtempSync(join(tmpdir(), "gateway-"));
});
requests.after(() => {
  rmSync(folder, { recursive: true });
});

/** A client may send these headers, but the node must not receive the client's values. */
const VISITORS: Record<string, string> = {
  host: "localhost",
  cookie: "session=visitors",
  authorization: "Bearer visitors",
  "proxy-authorization": "Basic visitors",
  origin: "http://localhost",
  referer: "http://localhost/visitors",
  "user-agent": "visitors",
  "accept-encoding": "gzip, br",
  "accept-language": "visitors",
  range: "bytes=0-1",
  "if-range": "visitors",
  "if-none-match": '"visitors"',
  "if-match": '"visitors"',
  "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT",
  expect: "visitors",
  te: "trailers",
  via: "1.1 visitors",
  forwarded: "for=visitors",
  "x-forwarded-for": "visitors",
  "x-forwarded-host": "visitors",
  "x-forwarded-proto": "https",
  "x-real-ip": "visitors",
  "x-api-key": "visitors",
  "node-secret": "visitors",
  "x-other": "visitors",
  "x-nodeface": "1",
  "sec-fetch-site": "same-origin",
  "sec-gpc": "1",
};

/** The service, or the HTTP client of the runtime, may add these headers. */
const OURS = new Set([
  ...["host", "accept", "accept-encoding", "connection", "content-type", "content-length"],
  ...["user-agent", "accept-language", "sec-fetch-mode", "x-size", "node-secret"],
  ...["if-match", "if-none-match", "if-modified-since", "if-range", "range", "x-api-key"],
]);

requests("the node gets standard and described headers, and no secret of the client", async () => {
  process.env.GATEWAY_NODE_SECRET = "nodes";
  const { ask } = forwarding(node.url, REST, "reads", {
    node: {
      url: node.url,
      kind: "none",
      auth: { header_env: "GATEWAY_NODE_SECRET", header: "Node-Secret" },
    },
  });
  const headers = { ...VISITORS, "x-size": "5", accept: "application/cbor" };
  const answer = await ask("/v1/node/sized", { headers });
  assert.is(answer.status, 200, await answer.text());
  const [{ headers: received, rawHeaders }] = node.received as [PlayedNode["received"][0]];
  assert.equal(Object.keys(received).filter((name) => !OURS.has(name)), []);
  assert.is(received.host, `127.0.0.1:${node.port}`);
  assert.is(received.accept, "application/cbor");
  assert.is(received["accept-encoding"], "identity");
  assert.is(received["x-size"], "5");
  assert.is(received["node-secret"], "nodes");
  const sent = rawHeaders.filter((_, at) => /visitors/.test(rawHeaders[at + 1] ?? ""));
  assert.equal(sent.sort(), [
    ...["accept-language", "if-match", "if-none-match", "if-range", "x-api-key"],
  ]);
});

// Matching the last name against the denied names would take minutes.
requests("a described header whose name no client can send is ignored", async () => {
  const names = ["X Size", "", "x\n", `${"token".repeat(50_000)}\n`];
  const parameters = names.map((name) => ({ name, in: "header", schema: { type: "string" } }));
  const get = { "x-access": "read", parameters, responses: { 200: { description: "" } } };
  const paths = { "/named": { get } } as unknown as typeof REST["paths"];
  const { ask } = forwarding(node.url, { ...REST, paths });
  assert.is((await ask("/v1/node/named")).status, 200);
});

requests(
  "the node's secret replaces a client's header of the same name in other letter case",
  async () => {
    process.env.GATEWAY_NODE_SECRET = "nodes";
    let sent: object = {};
    const client: HttpClient = ({ headers }) => {
      sent = headers;
      return Promise.reject(new Error("not sent"));
    };
    const auth = { header_env: "GATEWAY_NODE_SECRET", header: "X-Key" };
    const request = { method: "GET", url: new URL(node.url), headers: { "x-key": "visitors" } };
    const { signal } = new AbortController();
    const whole = { ...request, body: undefined, signal, isSentOnce: false };
    await contextFor(node.url, { auth, client }).send(whole, () => {}).catch(() => {});
    assert.equal(sent, { "accept-encoding": "identity", "x-key": "nodes" });
  },
);

requests("a JSON-RPC call is sent to the node without the headers of the client", async () => {
  node.answer = result("1");
  for (
    const answer of [
      await rpc.ask("/v1/rpc/number", { headers: VISITORS }),
      await rpc.rpc({ id: 1, method: "number" }, { headers: VISITORS }),
    ]
  ) assert.is(answer.status, 200, await answer.text());
  for (const { headers, rawHeaders, url, method } of node.received) {
    assert.is(`${method} ${url}`, "POST /");
    assert.equal(Object.keys(headers).filter((name) => !OURS.has(name)), []);
    assert.is(headers["content-type"], "application/json");
    assert.is(headers.host, `127.0.0.1:${node.port}`);
    assert.not.match(JSON.stringify(rawHeaders), "visitors");
  }
  assert.is(node.received.length, 2);
});

requests("the token is not sent to the node", async () => {
  process.env.GATEWAY_TOKEN = TOKEN;
  const settings = { clients: [{ name: "app", allow: ["*"], token_env: "GATEWAY_TOKEN" }] };
  const headers = { authorization: `Bearer ${TOKEN}` };
  node.answer = result("1");
  await forwarding(node.url, REST, settings).ask("/v1/node/status", { headers });
  await forwarding(node.url, RPC, settings).ask("/v1/rpc/number", { headers });
  assert.is(node.received.length, 2);
  for (const { rawHeaders } of node.received) assert.not.match(JSON.stringify(rawHeaders), TOKEN);
});

requests("the node's secret is read again if the node refuses it, even for a write", async () => {
  const file = join(folder, "cookie");
  writeFileSync(file, "user:old");
  process.env.GATEWAY_TOKEN = TOKEN;
  const { ask } = forwarding(
    node.url,
    REST,
    { clients: [{ name: "app", allow: ["POST /send"], token_env: "GATEWAY_TOKEN" }] },
    { node: { url: node.url, kind: "none", auth: { basic_file: file } } },
  );
  node.answer = (request, response) => {
    const isNew = request.headers.authorization === `Basic ${btoa("user:new")}`;
    if (isNew) return json({ done: true })(request, response);
    // The node has restarted with a new secret.
    writeFileSync(file, "user:new");
    response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end("no");
  };
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const answer = await ask("/v1/node/send", { method: "POST", body: "{}", headers });
  assert.equal([answer.status, await answer.text()], [200, '{"done":true}']);
  assert.is(node.received.length, 2);
});

requests("a secret that could not be read is read again when the node refuses a call", async () => {
  const file = join(folder, "later");
  const { ask } = forwarding(node.url, REST, "reads", {
    node: { url: node.url, kind: "none", auth: { basic_file: file } },
    log() {},
  });
  node.answer = (request, response) => {
    const isNew = request.headers.authorization === `Basic ${btoa("user:new")}`;
    if (isNew) return json({ done: true })(request, response);
    response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end("no");
  };
  assert.is((await ask("/v1/node/status")).status, 502);
  assert.is(node.received.length, 1);
  // The node is back, less than a second later.
  writeFileSync(file, "user:new");
  assert.is((await ask("/v1/node/status")).status, 200);
});

requests(
  "if the node rejects its secret, the client gets 502 without the node's text",
  async () => {
    const file = join(folder, "wrong");
    writeFileSync(file, "user:wrong");
    const { ask } = forwarding(node.url, REST, "reads", {
      node: { url: node.url, kind: "none", auth: { basic_file: file } },
      log() {},
    });
    node.answer = (_, response) =>
      response.writeHead(401, { "www-authenticate": "Basic" }).end("words of the node");
    const answer = await ask("/v1/node/status");
    assert.is(answer.status, 502);
    assert.is(answer.headers.get("www-authenticate"), null);
    assert.not.match(await answer.text(), /words|user:wrong/);
  },
);

requests("if the node wants a secret that the service does not have, the 502 says so", async () => {
  node.answer = (_, response) => response.writeHead(401).end();
  const { detail, status } = await (await rest.ask("/v1/node/status")).json();
  assert.is(status, 502);
  assert.is(detail, "The node requires credentials, and the service sent none; see node.auth");
});

/** JSON that would change if it were parsed and formatted again. */
const EXACT =
  '{ "a" : 18446744073709551615,"b":1.00000000 , "c":[1e-8,-0.0,1E+2],"\\u0061b":"\\ud800/\\/" }';

requests("a request body is sent byte for byte", async () => {
  const answer = await post("/v1/node/any", EXACT);
  assert.is(answer.status, 200, await answer.text());
  assert.is(textOf(node.received[0]!), EXACT);
});

requests("a body may be as long as the setting says, or 1 MiB for JSON that is read", async () => {
  const body = `"${"é".repeat((1024 * 1024 - 2) / 2)}"`;
  const short = forwarding(node.url, REST, { open: ["reads"], limit: "1MiB" });
  const send = (body: string) =>
    short.ask("/v1/node/any", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
  assert.is((await send(body)).status, 200);
  assert.is(textOf(node.received[0]!), body);
  const bytes = crypto.getRandomValues(new Uint8Array(65_536));
  const octets = { "content-type": "application/octet-stream" };
  assert.is((await post("/v1/node/raw", bytes, octets)).status, 200);
  assert.equal(node.received[1]!.body, bytes);
  node.forget();
  const long = await send(`"${body.slice(1)} `);
  assert.is(long.status, 413);
  assert.is((await long.json()).detail, "The content of this call may have at most 1 MiB");
  assert.is((await rpc.rpc(`${body} `)).status, 413);
  assert.is((await post("/v1/node/checked", `${body} `)).status, 413);
  assert.equal(node.received, []);
});

requests("what the memory for calls cannot hold is refused for good", async () => {
  const large = forwarding(node.url, REST, { open: ["reads"], limit: "100MiB" });
  const headers = { "content-type": "application/octet-stream" };
  const body = new Uint8Array(33 * 1024 * 1024);
  const answer = await large.ask("/v1/node/raw", { method: "POST", headers, body });
  assert.is(answer.status, 413);
  assert.is((await answer.json()).detail, "The content of this call may have at most 32 MiB");
  node.answer = result(`"${"x".repeat(41 * 1024 * 1024)}"`);
  const calls = forwarding(node.url, RPC, { open: ["reads"], limit: "100MiB" });
  const { error } = await (await calls.rpc({ jsonrpc: "2.0", id: 1, method: "number" })).json();
  assert.match(error.message, "The node's response is longer than 40 MiB");
});

requests("a body of unknown length is refused as soon as it exceeds the limit", async () => {
  let sent = 0;
  const endless = new ReadableStream({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(0x20));
    },
  });
  const init = { method: "POST", body: endless, duplex: "half" } as RequestInit;
  const headers = { "content-type": "application/json" };
  const { ask } = forwarding(node.url, REST, { open: ["reads"], limit: "1MiB" });
  assert.is((await ask("/v1/node/any", { ...init, headers })).status, 413);
  assert.ok(sent < 4 * 1024 * 1024);
});

const inParts = (path: string, type: string, pull: UnderlyingDefaultSource["pull"]) =>
  rest.ask(path, {
    method: "POST",
    headers: { "content-type": type },
    body: new ReadableStream({ pull: pull! }),
    duplex: "half",
  } as RequestInit);

requests("a body in parts of one byte is refused after a few thousand parts", async () => {
  let sent = 0;
  const answer = await inParts("/v1/node/any", "application/json", (controller) => {
    sent++;
    controller.enqueue(Uint8Array.of(0x20));
  });
  assert.is(answer.status, 400);
  assert.ok(sent < 5000, `${sent} were read`);
});

requests("a body in parts of 100 bytes is sent byte for byte", async () => {
  const part = `${" ".repeat(99)}1`;
  let left = 10_000;
  const answer = await inParts("/v1/node/raw", "application/octet-stream", (controller) => {
    if (left-- === 0) controller.close();
    else controller.enqueue(new TextEncoder().encode(part));
  });
  assert.is(answer.status, 200);
  assert.is(textOf(node.received[0]!), part.repeat(10_000));
});

requests("endless bodies leave room for short bodies and for calls with the token", async () => {
  process.env.GATEWAY_TOKEN = TOKEN;
  const { ask } = forwarding(node.url, REST, {
    open: ["reads"],
    clients: [{ name: "app", allow: ["POST /send"], token_env: "GATEWAY_TOKEN" }],
  });
  const most = new Uint8Array(1024 * 1024 - 1).fill(0x20);
  const ends: (() => void)[] = [];
  const send = (path: string, body: BodyInit, more = {}) =>
    ask(path, {
      method: "POST",
      body,
      headers: { "content-type": "application/octet-stream", ...more },
      duplex: "half",
    } as RequestInit);
  const endless = () =>
    new ReadableStream({
      start(controller) {
        controller.enqueue(most);
        ends.push(() => controller.close());
      },
      cancel: () => void ends.pop(),
    });
  const first = await Promise.race(
    Array.from({ length: 60 }, () => send("/v1/node/raw", endless())),
  );
  assert.is(first.status, 503);
  assert.match(first.headers.get("retry-after")!, /^\d+$/);
  assert.is((await send("/v1/node/raw", most)).status, 503);
  assert.is((await send("/v1/node/raw", most.subarray(0, 10_000))).status, 200);
  const token = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const long = `1${" ".repeat(1024 * 1024 - 1)}`;
  assert.is((await send("/v1/node/send", long, token)).status, 200);
});

const post = (path: string, body: BodyInit, headers: Record<string, string> = {}) =>
  rest.ask(path, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });

const WRONG: readonly (readonly [content: string, name: string])[] = [
  ["", "body"],
  ["[]", "body"],
  ["null", "body"],
  ["{}", "key"],
  ['{"key":1}', "key"],
  ['{"key":"a","key":"b"}', "body"],
  ['{"key":"a","\\u006bey":"b"}', "body"],
  ['{"key":"a","action":"GET","action":"PUT"}', "body"],
  ['{"key":"a","other":{"x":1,"x":2}}', "body"],
  ['{"key":"a","action":"PUT"}', "action"],
  ['{"key":"a","Action":"PUT"}', "Action"],
  ['{"key":"a","ACTION":"PUT"}', "ACTION"],
  ['{"key":"a","Key":"b"}', "Key"],
  ['{"\u212aey":"a","key":"b"}', "\u212aey"],
  ['{"key":"a","limit":18446744073709551616}', "limit"],
  ['{"key":"a","limit":1.5}', "limit"],
  ['{"key":1e400}', "key"],
  ['{"key":"a","action":1e400}', "action"],
  ['{"key":"a"} x', "body"],
  ["{'key':'a'}", "body"],
  ['{"key":"a",}', "body"],
  ['\ufeff{"key":"a"}', "body"],
  [`{"key":"a","deep":${"[".repeat(64)}${"]".repeat(64)}}`, "body"],
];

for (const [content, name] of WRONG) {
  requests(`a body such as ${content.slice(0, 50) || "none"} is invalid in ${name}`, async () => {
    const answer = await post("/v1/node/checked", content);
    assert.is(answer.status, 400);
    assert.is((await answer.json()).errors[0].name, name);
    assert.equal(node.received, []);
  });
}

requests("a JSON body of a checked operation must be UTF-8", async () => {
  const bytes = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
  assert.is((await post("/v1/node/checked", bytes)).status, 400);
  const utf16 = new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]);
  assert.is((await post("/v1/node/checked", utf16)).status, 400);
  assert.equal(node.received, []);
});

for (
  const content of [
    '{"key":"a"}',
    '{"key":"a","action":"GET","limit":18446744073709551615,"more":1}',
    `{"key":"a","deep":${"[".repeat(63)}${"]".repeat(63)}}`,
  ]
) {
  requests(`the body ${content.slice(0, 50)} is valid`, async () => {
    assert.is((await post("/v1/node/checked", content)).status, 200);
    assert.is(textOf(node.received[0]!), content);
  });
}

const ACCOUNTS: Kind = {
  ...{ title: "Accounts", url: "http://127.0.0.1:1", health: { ok: "it answers" } },
  ...{ detect: { "it#/it": "^it$" }, sources: { it: { get: "/it" } }, fields: {} },
  auth: { reads: "none" },
};

for (
  const [what, kind, path, isSecret] of [
    ["a read-only operation of a kind with reads: none", "accounts", "/status", false],
    ["another operation of a kind with reads: none", "accounts", "/open", true],
    ["a read-only operation of another kind", "none", "/status", true],
  ] as const
) {
  requests(`${what} is called ${isSecret ? "with" : "without"} the node's secret`, async () => {
    const file = join(folder, "secret");
    writeFileSync(file, "user:secret");
    const forward = { open: ["reads", "GET /open"] };
    const { ask } = forwarding(node.url, REST, forward, {
      node: { url: node.url, kind, auth: { basic_file: file } },
      kinds: { accounts: ACCOUNTS },
    });
    await ask(`/v1/node${path}`);
    assert.is(node.received.at(-1)!.url, path);
    assert.is(node.received.at(-1)!.headers.authorization !== undefined, isSecret);
    node.answer = json({}, 401);
    assert.is((await ask(`/v1/node${path}`)).status, 502);
    assert.is(node.received.at(-1)!.headers.authorization !== undefined, isSecret);
  });
}

requests("a request to upgrade the connection is refused", async () => {
  const headers = { upgrade: "websocket" };
  assert.is((await rest.ask("/v1/node/status", { headers })).status, 400);
  assert.is((await rpc.ask("/v1/rpc/number", { headers })).status, 400);
  assert.is((await rpc.rpc({ id: 1, method: "number" }, { headers })).status, 400);
  assert.equal(node.received, []);
});

requests("the log contains the operation's name, and nothing that the client sent", async () => {
  const { ask, calls } = forwarding(node.url, REST);
  await (await ask("/v1/node/blocks/7?tag=visitors")).text();
  assert.equal(calls.map(({ operation, status, bytes }) => ({ operation, status, bytes })), [
    { operation: "GET /blocks/{height}", status: 200, bytes: 2 },
  ]);
  assert.not.match(JSON.stringify(calls), "visitors");
});

requests(
  "failed calls are logged by default, and a setting can select all calls or none",
  async () => {
    const call = async (logCalls?: "failed" | "all" | "off") => {
      const lines: string[] = [];
      const log: NonNullable<NodefaceOptions["log"]> = (message, event) => {
        if (event.code === "call") lines.push(message.replace(/ \d+ ms/, ""));
      };
      const rest = forwarding(node.url, REST, "reads", { log, logCalls });
      const rpc = forwarding(node.url, RPC, "reads", { log, logCalls });
      node.answer = json({});
      await (await rest.ask("/v1/node/blocks/7")).text();
      node.answer = json("no", 404);
      await (await rest.ask("/v1/node/blocks/8")).text();
      node.answer = rpcError({ code: -32000, message: "no such block" });
      await rpc.rpc({ id: 1, method: "number" });
      node.answer = json({ error: "broken" }, 500);
      await (await rest.ask("/v1/node/blocks/9")).text();
      node.answer = json("nonsense");
      await rpc.rpc([{ id: 1, method: "number" }, { id: 2, method: "number" }]);
      return lines;
    };
    const failed = [
      "GET /blocks/{height} 500 18 bytes",
      "number 502 0 bytes",
      "number 502 0 bytes",
    ];
    assert.equal(await call(), failed);
    assert.equal(await call("failed"), failed);
    assert.equal(await call("off"), []);
    const all = await call("all");
    assert.equal([all.length, all.slice(3)], [6, failed]);
  },
);

requests(
  "a host that has read the content of a call is told so, and the client is not blamed",
  async () => {
    const errors: string[] = [];
    const { app } = forwarding(node.url, RPC, "reads", {
      log: (message) => void errors.push(message),
    });
    const ways: ((request: Request) => Promise<unknown>)[] = [
      (request) => request.json(),
      (request) => Promise.resolve(request.body!.getReader()),
    ];
    for (const path of ["/v1/rpc", "/v1/rpc/number"]) {
      for (const read of ways) {
        const headers = { "content-type": "application/json" };
        const body = '{"id":1,"method":"number"}';
        const request = new Request(`http://localhost${path}`, { method: "POST", headers, body });
        await read(request);
        assert.is((await app.fetch(request)).status, 500);
        assert.match(errors.splice(0).join(), "call request.clone() before reading");
      }
    }
  },
);

requests.run();
