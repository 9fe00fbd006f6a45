import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decide, resolveForward } from "../src/gateway/policy.ts";
import { forwarding, type Gateway, json, nodeOf, playNode, REST, TOKEN } from "./_gateway.ts";

const paths = suite("paths of calls");

const node = nodeOf(paths);
let gateway: Gateway;
paths.before(() => {
  gateway = forwarding(node.url, REST);
});

/** The service forwards paths byte for byte, but rewrites queries. */
const SENT: readonly (readonly [path: string, url?: string])[] = [
  ["/status"],
  ["/blocks/7"],
  ["/blocks/%37"],
  ["/peers/abc"],
  ["/peers/a%2520b"],
  ["/peers/a%252fb"],
  ["/peers/a%252Fconnect"],
  ["/peers/%252e%252e"],
  ["/peers/a%3Bb"],
  ["/peers/a%3Fb%23c"],
  ["/peers/it's"],
  ["/peers/a:b@c,d=e+f"],
  ["/peers/a[0]|b"],
  ["/peers/a%5B0%5d%7Cb"],
  ["/files/a[0]/b|c"],
  ["/peers/%E2%82%AC"],
  ["/peers/%e2%82%ac"],
  ["/peers/..."],
  ["/files/a/b/c.txt"],
  ["/files/a%2Fb"],
  ["/files/a/b%2fc"],
  ["/queues/%2F"],
  ["/queues/a%2fb/q"],
  ["/find?key=it's%20%22a%22", "/find?key=it%27s%20%22a%22"],
  ["/find?key=a%2Bb+c"],
  ["/checked?key=a%2Bb+c&", "/checked?key=a%2Bb%20c"],
  ["/checked?key=%0D%0AX:y%00", "/checked?key=%0D%0AX%3Ay%00"],
];

for (const [path, url = path] of SENT) {
  paths(`${path} is sent as ${url}`, async () => {
    assert.is((await gateway.ask(`/v1/node${path}`)).status, 200);
    assert.equal(node.received.map(({ url }) => url), [url]);
  });
}

/** `Request` removes dot segments before the service sees a path. */
const REFUSED: readonly (readonly [path: string, status: number])[] = [
  ["", 404],
  ["/", 404],
  ["/nope", 404],
  ["/STATUS", 404],
  ["/status/", 404],
  ["//status", 404],
  ["/status//", 404],
  ["/blocks//7", 404],
  ["/status;x=1", 404],
  ["/status;/x", 404],
  ["/peers/a;b", 404],
  ["/peers/..;/status", 404],
  ["/peers/%2e%2e", 404],
  ["/peers/..%3Bx", 400],
  ["/peers/..%20", 400],
  ["/peers/x/../connect", 403],
  ["/peers/x/%2E%2E/connect", 403],
  ["/peers/.%2e/balance", 403],
  ["/peers\\connect", 403],
  ["/peers/\tconnect", 403],
  ["/peers/a%2Fb", 400],
  ["/peers/a%5Cb", 400],
  ["/peers/%2E%2E%2Fbalance", 400],
  ["/peers/..%2fbalance", 400],
  ["/peers/..%5Cbalance", 400],
  ["/peers/a%00", 400],
  ["/peers/a%0d%0aX-Evil:%201", 400],
  ["/peers/a%7F", 400],
  ["/peers/a%C2%85", 400],
  ["/peers/%ff", 400],
  ["/peers/%C0%AF", 400],
  ["/peers/%E0%80%AF", 400],
  ["/peers/%ED%A0%80", 400],
  ["/peers/%zz", 400],
  ["/peers/a%", 400],
  ["/peers/%EF%BC%8F", 400],
  ["/peers/%EF%BC%BC", 400],
  ["/peers/%EF%BC%8E%EF%BC%8E", 400],
  ["/peers/%E2%80%A5", 400],
  ["/peers/%E2%84%80", 400],
  ["/peers/%E2%88%95", 400],
  ["/checked/-1", 400],
  ["/checked/a", 400],
  ["/checked/07", 400],
  ["/checked/1e400", 400],
  ["/files/", 404],
  ["/files/a//b", 404],
  ["/files/a%2F%2Fb", 400],
  ["/files/a/..%2Fb", 400],
  ["/files/a%2F..%2Fb", 400],
  ["/files/a%5Cb", 400],
  ["/http://127.0.0.1/status", 404],
  ["/@127.0.0.1/status", 200],
  // A node may mistake a path for the path of another operation, for example if the node ignores
  // case. Such a path must match no template.
  ["/peers/connect", 403],
  ["/peers/c%6Fnnect", 404],
  ["/peers/CONNECT", 404],
  ["/peers/Connec%54", 404],
  ["/Peers/connect", 404],
  ["/wallet/lock", 404],
  ["/WALLET/LOCK", 404],
  ["/wallet/loc%6b", 404],
  ["/Wallet/Lock", 403],
  ["/files/all/secret", 403],
  ["/peers/connect.json", 404],
  ["/peers/connect%2Ejson", 404],
  ["/peers/Connect.js%6Fn", 404],
  ["/peers/connect.json%20", 404],
  ["/peers/connect.json%3Bx", 404],
  ["/peers/connects.json", 200],
  ["/peers/.json", 200],
  ["/peers/connect%3Bx", 404],
  ["/peers/connect%3Fx", 404],
  ["/peers/connect%23", 404],
  ["/peers/connect%E2%80%8B", 404],
  ["/peers/connect%20", 404],
  ["/peers/%20connect", 404],
  ["/peers/connect+", 404],
  ["/peers/%EF%BD%83onnect", 404],
  ["/peers/c%E2%93%9Ennect", 404],
  ["/peers/%3Bconnect", 200],
  ["/peers/a^b", 200],
  ["/Wallet/Loc%E2%84%AA", 404],
  ["/files/all%2Fsecret", 404],
  ["/files/all%20/secret", 404],
  ["/files/all%3Bx/secret", 404],
  ["/queues/..%2Fx", 400],
  ["/queues/a%5Cb", 400],
  // A parameter with `x-multi-segment: encoded` must not match the path of another operation, such
  // as `/queues/all/secret`.
  ["/queues/all%2Fsecret", 404],
  ["/queues/ALL%2fsecret%2F", 404],
  ["/files/ALL/secret", 404],
  ["/files/all/secret%2F", 400],
  ["/checked?key=a&a=1", 400],
  ["/status?", 200],
  ["/status?a=1&a=%ff&&=", 200],
  ["/checked", 400],
  ["/checked?key=", 400],
  ["/checked?key=a&key=b", 400],
  ["/checked?Key=a", 400],
  ["/checked?key=a&%6Bey=b", 400],
  ["/checked?key=a&__proto__=b", 400],
  ["/checked?key=a&constructor=b", 400],
  ["/checked?key=%ff", 400],
  ["/checked?key=a;other=b", 200],
  ["/checked?key[]=a", 400],
  ["/checked/1?full=yes", 400],
  ["/checked/1?full=", 200],
  ["/checked/1?form=xml", 400],
  ["/checked/1?max=11", 400],
  ["/checked/1?max=0", 400],
  ["/checked/1?max=1.5", 400],
  ["/checked/1?max=%201", 400],
  ["/checked/1?note=a", 400],
  ["/checked/1?note=aaaaaa", 400],
  ["/checked/1?tag=a&tag=b", 200],
  ["/checked/1?id=aa&id=bb", 200],
  ["/checked/1?id=aa,bb", 400],
  ["/checked/1?ids=aa,bb", 200],
];

for (const [path, status] of REFUSED) {
  paths(`${JSON.stringify(path).slice(0, 60)}: ${status}`, async () => {
    const answer = await gateway.ask(`/v1/node${path}`);
    assert.is(answer.status, status, await answer.text());
    assert.is(node.received.length, status === 200 ? 1 : 0);
  });
}

paths("an error message has the place, the name and the rule, but never the value", async () => {
  const answer = await gateway.ask("/v1/node/checked/secret-1?max=77777&odd=secret-2");
  const text = await answer.text();
  assert.is(answer.status, 400);
  assert.equal(JSON.parse(text).errors, [{ in: "query", name: "odd", rule: "is unknown" }]);
  assert.not.match(text, /secret|77777/);
});

paths(
  "body members are refused at every level if the schema excludes them",
  async () => {
    const inner = { type: "object", properties: { a: {} }, additionalProperties: false };
    const schema = { type: "object", properties: { inner, any: { type: "object" } } };
    const content = { "application/json": { schema } };
    const post = {
      ...{ "x-access": "read", "x-checked": true, requestBody: { content }, responses: {} },
    };
    const open = forwarding(node.url, { ...REST, paths: { "/closed": { post } } } as never);
    const send = (value: object) =>
      open.ask("/v1/node/closed", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(value),
      });
    assert.is((await send({ inner: { a: 1 }, any: { b: 1 }, other: 1 })).status, 200);
    const refused = await send({ inner: { a: 1, b: 1 } });
    assert.is(refused.status, 400);
    assert.equal((await refused.json()).errors, [
      { in: "body", name: "inner.b", rule: "is unknown" },
    ]);
    assert.is(node.received.length, 1);
  },
);

const ONE = { const: 1 };

/** A schema of the body of a checked operation, contents that match it, and others. */
const CHECKED: readonly (readonly [schema: object, right: unknown[], wrong: unknown[]])[] = [
  [
    { properties: { a: { items: { properties: { b: { items: { properties: { c: ONE } } } } } } } },
    [{ a: [{ b: [{ c: 1 }] }] }],
    [{ a: [{ b: [{ c: 2 }] }] }],
  ],
  [{ $ref: "#/components/schemas/Tree" }, [{ next: { next: { value: 1 } } }], [
    { next: { next: { next: { next: { next: { value: 2 } } } } } },
  ]],
  [{ $ref: "#/components/schemas/Any", maxLength: 1 }, ["a", 1], ["ab"]],
  [{ $ref: "#/components/schemas/Loop" }, [], [1]],
  [{ additionalProperties: ONE }, [{ a: 1 }], [{ a: 2 }]],
  [{ not: { const: 2 } }, [], [1, 2]],
  [{ patternProperties: { "^a": ONE } }, [], [{ a: 2 }]],
];

paths("a checked body is checked at every level, or refused", async () => {
  for (const [schema, right, wrong] of CHECKED) {
    const content = { "application/json": { schema }, "text/plain": {}, "*/*": {} };
    const post = {
      ...{ "x-access": "read", "x-checked": true, requestBody: { content }, responses: {} },
    };
    const schemas = {
      Tree: { properties: { value: ONE, next: { $ref: "#/components/schemas/Tree" } } },
      Any: { description: "any" },
      Loop: { anyOf: [{ $ref: "#/components/schemas/Loop" }] },
    };
    const description = { ...REST, components: { schemas }, paths: { "/deep": { post } } };
    const open = forwarding(node.url, description as never);
    const send = async (value: unknown, type = "application/json") => {
      const init = { method: "POST", headers: { "content-type": type } };
      return (await open.ask("/v1/node/deep", { ...init, body: JSON.stringify(value) })).status;
    };
    for (const value of right) assert.is(await send(value), 200, JSON.stringify(schema));
    node.forget();
    for (const value of wrong) assert.is(await send(value), 400, JSON.stringify([schema, value]));
    for (const type of ["text/plain", "application/x-ndjson", ""]) {
      assert.is(await send(1, type), 415, type);
    }
    assert.equal(node.received, []);
  }
});

paths("operations at the same path may name its parameters differently", async () => {
  const open = forwarding(node.url, REST, {
    clients: [{
      name: "app",
      allow: ["GET /same/{a}", "POST /same/{b}"],
      token_env: "GATEWAY_TOKEN",
    }],
  });
  process.env.GATEWAY_TOKEN = TOKEN;
  const headers = { authorization: `Bearer ${TOKEN}` };
  assert.is((await open.ask("/v1/node/same/x", { headers })).status, 200);
  assert.is((await open.ask("/v1/node/same/y", { method: "POST", headers })).status, 200);
  assert.equal(node.received.map(({ method, url }) => `${method} ${url}`), [
    "GET /same/x",
    "POST /same/y",
  ]);
});

for (const method of ["PUT", "DELETE", "POST", "PATCH"]) {
  paths(`if a path has no ${method}, the response is 405 with the allowed methods`, async () => {
    const answer = await gateway.ask("/v1/node/status", { method });
    assert.is(answer.status, 405);
    assert.is(answer.headers.get("allow"), "GET, HEAD, OPTIONS");
    assert.equal(node.received, []);
  });
}

paths("a path of the node may begin like the prefix that a router has removed", async () => {
  node.answer = json({});
  const forward = { open: ["reads"], at_root: true };
  const { app } = forwarding(node.url, REST, forward, { prefix: "/status" });
  const request = new Request("http://localhost/status");
  const original = { originalUrl: "/status/status" };
  assert.is((await app.fetch(Object.assign(request, original))).status, 200);
  assert.is(node.received[0]!.url, "/status");
});

paths("HEAD is sent to the node where the description has HEAD or GET", async () => {
  node.answer = (_, response) => response.writeHead(200, { "content-length": "5" }).end();
  for (const path of ["/status", "/blocks/7", "/find?key=a"]) {
    const answer = await gateway.ask(`/v1/node${path}`, { method: "HEAD" });
    assert.is(answer.status, 200);
    assert.not.equal(answer.headers.get("content-length"), "0");
  }
  assert.is((await gateway.ask("/v1/node/open", { method: "HEAD" })).status, 403);
  assert.is((await gateway.ask("/v1/node/raw", { method: "HEAD" })).status, 405);
  assert.equal(node.received.map(({ method }) => method), ["HEAD", "HEAD", "HEAD"]);
});

paths("OPTIONS is handled by the service, even if the description has it", async () => {
  assert.is((await gateway.ask("/v1/node/status", { method: "OPTIONS" })).status, 204);
  assert.equal(node.received, []);
});

for (const method of ["PROPFIND", "M-SEARCH", "QUERY", "get"]) {
  paths(`a method such as ${JSON.stringify(method)} is never sent`, async () => {
    let answer: Response | undefined;
    try {
      answer = await gateway.ask("/v1/node/status", { method });
    } catch {
      // A runtime may refuse to create a request with this method.
    }
    // `Request` normalizes `get` to `GET`.
    if (method !== "get") assert.equal(node.received, []);
    if (answer && method !== "get") assert.is(answer.status, 405);
  });
}

paths("an operation that is never forwarded is not listed as public", () => {
  const operations = ["TRACE", "OPTIONS", "GET"].map((method) => ({
    ...{ name: `${method} /a`, operationId: undefined, isMethod: false, method, path: "/a" },
    ...{ access: "read" as const, isHeavy: false, isStreaming: false, parameters: [] },
    ...{ isByPosition: false, isGettable: false, body: undefined },
    ...{ isChecked: false, isUntrusted: false },
    headers: { parameters: [], cookies: [], keyCookies: [], credentials: [] },
  }));
  const rights = decide(operations, resolveForward({ open: ["*"] })).map(({ permission }) =>
    permission
  );
  assert.equal(rights, ["refused", "refused", "open"]);
});

paths("another host name in the request target has no effect", async () => {
  const other = await playNode();
  const answer = await gateway.app.fetch(
    new Request(`http://127.0.0.1:${other.port}/v1/node/status`),
  );
  assert.is(answer.status, 200);
  assert.is(node.received.length, 1);
  assert.equal(other.received, []);
  await other.close();
});

for (
  const [written, path] of [
    ["HTTP://LOCALHOST:{port}", "/status"],
    ["http://127.1:{port}/", "/status"],
    ["http://127.0.0.1:{port}/base/", "/base/status"],
    ["http://127.0.0.1:{port}/base//", "/base/status"],
  ] as const
) {
  paths(`a node configured as ${written} receives calls`, async () => {
    const { ask } = forwarding(written.replace("{port}", String(node.port)), REST);
    assert.is((await ask("/v1/node/status")).status, 200);
    assert.equal(node.received.map(({ url }) => url), [path]);
  });
}

paths.run();
