import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";

const options = suite("options");

function complaints(wrong: unknown): string[] {
  try {
    createNodeface(wrong as NodefaceOptions);
    return [];
  } catch (error) {
    assert.instance(error, TypeError);
    return (error as Error).message.split("\n").filter((line) => line !== "invalid options:")
      .map((line) => line.trim());
  }
}

const handle = () => new Response();
const operation = { responses: { 200: { description: "Done" } } };
const peers = { method: "GET", path: "/v1/peers", operation, handle };

const OPERATIONS: readonly [operation: unknown, complaint: string][] = [
  [5, " must be an object"],
  [{ responses: [] }, '.responses is wrong: "responses" must be an object'],
  [
    { responses: { 200: "Done" } },
    '.responses.200 is wrong: "200" must be an object: a response',
  ],
  [{ responses: { ok: {} } }, '.responses.ok is wrong: "ok" must be a status, such as "200"'],
  [{ parameters: {} }, '.parameters is wrong: "parameters" must be a list'],
  [
    { parameters: [{ in: "query" }] },
    '.parameters[0] is wrong: an item needs "name" (a string) to be a parameter',
  ],
  ...["body", "querystring"].map((place): [unknown, string] => [
    { parameters: [{ name: "a", in: place }] },
    '.parameters[0] is wrong: an item needs "in" (one of query, header, path, cookie)',
  ]),
  [
    { parameters: [{ name: "ids", in: "path", required: true }] },
    '.parameters[0] is wrong: the path parameter "ids" is not in the path "/v1/peers/{id}"',
  ],
  [
    { parameters: [{ name: "id", in: "path" }] },
    '.parameters[0] is wrong: the path parameter "id" needs "required: true"',
  ],
  [
    { parameters: [{ name: "a", in: "query" }, { name: "a", in: "query" }] },
    '.parameters[1] is wrong: the query parameter "a" is a duplicate',
  ],
  [
    { requestBody: { $ref: "#/components/requestBodies/Peer" } },
    '.requestBody.$ref is wrong: the reference to "#/components/requestBodies/Peer" leads nowhere',
  ],
  [{ sumary: "List" }, '.sumary is wrong: OpenAPI 3.1 has no "sumary" in an operation; did you'],
  [{ "x-since": () => 5 }, ".x-since must be a JSON value, not a function"],
];

const WRONG: readonly [wrong: unknown, complaint: string][] = [
  [{ prefx: "/node" }, "prefx is an unknown key; did you mean prefix?"],
  [{ node: 5 }, "node must be the URL of the node, or an object with url, not 5"],
  [{ node: null }, "node must be the URL of the node, or an object with url, not null"],
  [
    { node: "127.0.0.1:8545" },
    "node must begin with http:// or https://; did you mean http://127.0.0.1:8545?",
  ],
  [{ node: "ftp://x" }, "node must begin with http:// or https://, not ftp://"],
  [{ node: new URL("http://u:hidden@h") }, "node must not contain a user or a password"],
  [{ node: { url: "not a url" } }, "node.url must begin with http:// or https://"],
  [
    { node: { url: "127.0.0.1:8545" } },
    "node.url must begin with http:// or https://; did you mean http://127.0.0.1:8545?",
  ],
  [{ node: { url: "ftp://x" } }, "node.url must begin with http:// or https://, not ftp://"],
  [{ node: { url: 8545 } }, "node.url must be a URL such as http://127.0.0.1:8545"],
  [
    { node: { url: new URL("http://u:hidden@h") } },
    "node.url must not contain a user or a password",
  ],
  [
    { node: { kind: "etherium" } },
    'node.kind must be a kind of node (see "nodeface kinds") or none, not "etherium"; did you mean ethereum?',
  ],
  [
    { node: { timeout: 2000 } },
    'node.timeout must be a duration such as "2s", "500ms" or "1m", from 1ms to 10s, not 2000',
  ],
  [{ node: { timeout: "2h" } }, "node.timeout must be a duration"],
  [
    { info: null },
    "info must be an object with settings of the info, or a function that returns the info, not null",
  ],
  [
    { info: { sources: { a: { wrong: 1 } } } },
    "info.sources.a must have one of jsonrpc, get, post, file, command, but has",
  ],
  [
    { info: { fields: { a: "disc#" }, sources: { disk: { file: "/x" } } } },
    'info.fields.a names the source "disc", which does not exist; did you mean disk?',
  ],
  [
    { description: 5 },
    'description must be the path of a file, a URL, "none", an OpenAPI document, or an object with "text" or "from", not 5',
  ],
  [
    { description: "http://" },
    "description must be the path of a file, or a valid URL",
  ],
  [{ description: {} }, "description must have one of openapi, swagger, text, from"],
  [{ description: { paths: {} } }, "description must have one of openapi, swagger, text, from"],
  [
    { description: { from: "openapi.yaml", base: "v1" } },
    'description.base must be a path such as /v1, not "v1"',
  ],
  [{ description: { openapi: 3 } }, 'description.openapi must be a version such as "3.1.1", not 3'],
  [
    { description: { openapi: "3.1.1", paths: { "/a": { get: handle } } } },
    "description.paths./a.get must be a JSON value, not a function",
  ],
  [
    { description: { openapi: "3.1.1", "x-a": [new Map()] } },
    "description.x-a[0] must be a JSON value, not an object of the class Map",
  ],
  [
    { description: { text: "x", txet: "y" } },
    "description.txet is an unknown key; did you mean text?",
  ],
  [{ info: { ttl: "soon" } }, "info.ttl must be a duration"],
  [{ node: { timeout: "2 parsec" } }, "node.timeout must be a duration"],
  [{ startedAt: "2026-01-01" }, 'startedAt must be a Date, such as new Date(), not "2026-01-01"'],
  [
    { startedAt: new Date("x") },
    "startedAt must be a Date, such as new Date(), not an invalid Date",
  ],
  [{ log: 5 }, "log must be a function, not 5"],
  [{ onError() {} }, "onError is an unknown key"],
  [{ prefix: null }, 'prefix must be a path such as "/node1"'],
  [{ operations: peers }, "operations must be a list of operations, not an object"],
  [{ operations: [{ ...peers, handle: undefined }] }, "operations[0] needs handle"],
  [
    { operations: [{ ...peers, method: "get" }] },
    'operations[0].method must be one of GET, POST, PUT, PATCH, DELETE, not "get"; did you mean GET?',
  ],
  ...OPERATIONS.map(([operation, complaint]): [unknown, string] => [
    { operations: [{ ...peers, path: "/v1/peers/{id}", operation }] },
    `operations[0].operation${complaint}`,
  ]),
  [
    {
      operations: ["/v1/a", "/v1/b"].map((path) => ({
        ...peers,
        path,
        operation: { operationId: "list" },
      })),
    },
    'operations[1].operation.operationId is wrong: the operationId "list" is already used by GET',
  ],
  [
    { operations: [{ ...peers, cors: ["app.example"] }] },
    "operations[0].cors[0] must be an origin such as https://app.example",
  ],
  [{ document: { title: "Mine" } }, "document.title is an unknown key; expected one of info, tags"],
  [
    { document: { info: { title: "Mine" } } },
    'document.info.version is wrong: an info needs "version"',
  ],
  [
    { document: { tags: [{ nam: "A" }] } },
    'document.tags[0] is wrong: an item needs "name" (a string)',
  ],
  [
    { document: { externalDocs: {} } },
    'document.externalDocs is wrong: "externalDocs" needs "url"',
  ],
  [
    { document: { components: { schema: {} } } },
    'document.components.schema is wrong: OpenAPI 3.1 has no "schema" in components; did you mean',
  ],
  [
    { document: { components: { responses: { Gone: 5 } } } },
    'document.components.responses.Gone is wrong: "Gone" must be an object: a response',
  ],
  ...["HEAD", "OPTIONS", "ALL", "BREW"].map((method): [unknown, string] => [
    { operations: [{ ...peers, method }] },
    "operations[0].method must be one of GET",
  ]),
];

for (const [wrong, complaint] of WRONG) {
  options(`refused: ${complaint}`, () => {
    const found = complaints(wrong);
    assert.ok(found.some((line) => line.startsWith(complaint)), found.join("\n"));
    assert.not.match(found.join(), "hidden");
  });
}

options("all errors in the options are reported at once, each on one line", () => {
  const found = complaints({ prefx: 1, hots: [], node: { kind: "eth", ulr: "x" }, log: 5 });
  assert.is(found.length, 5, found.join("\n"));
});

options("an operation is refused if no request can have its path", () => {
  const never = ["/x/", "no-slash", "/../a", "/a/.", "/a?b", "/a#b", "/{a}/{a}", "/{a", "/{}/b"];
  for (const path of [...never, "/%zz", "/\ud800"]) {
    const found = complaints({ operations: [{ ...peers, path }] });
    assert.match(found[0] ?? "", "operations[0].path must", path);
  }
});

options("two operations that OpenAPI considers the same are refused", () => {
  const by = (method: string, path: string) => ({ ...peers, method, path });
  const same = [by("GET", "/v1/p/{id}"), by("GET", "/v1/p/{name}")];
  assert.match(complaints({ operations: same })[0]!, "is served already: operations[0]");
  const other = [by("GET", "/v1/p/{id}"), by("POST", "/v1/p/{name}")];
  assert.match(complaints({ operations: other })[0]!, 'must be "/v1/p/{id}", as in operations[0]');
});

options("a document that contains itself or is nested too deep is refused", () => {
  const circle: Record<string, unknown> = { openapi: "3.1.1" };
  circle["x-a"] = { b: [circle] };
  assert.equal(complaints({ description: circle }), ["description.x-a.b[0] contains itself"]);
  const deep: Record<string, unknown> = { openapi: "3.1.1" };
  for (let at = deep, i = 0; i < 20_000; i++) at = at.a = {};
  const found = complaints({ description: deep });
  assert.equal(found, ["description.a is nested more than 512 levels deep"]);
});

options("a document may contain the same object twice", () => {
  const answers = { 200: { description: "Done" } };
  const paths = { "/a": { get: { responses: answers } }, "/b": { get: { responses: answers } } };
  const description = { openapi: "3.1.1", info: { title: "A", version: "1" }, paths };
  assert.equal(complaints({ description }), []);
});

options("an operation that contains itself is refused, and the error names the position", () => {
  const circle: Record<string, unknown> = {};
  circle["x-self"] = circle;
  assert.equal(complaints({ operations: [{ ...peers, operation: { "x-a": circle } }] }), [
    "operations[0].operation.x-a.x-self contains itself",
  ]);
});

options("the node option may be a URL instead of an object", async () => {
  // Nothing listens on port 9, the port of the discard protocol.
  for (const node of ["http://127.0.0.1:9", new URL("http://127.0.0.1:9/rpc")]) {
    const app = createNodeface({ node, log() {} });
    const info = await (await app.fetch(new Request("http://localhost/v1/info"))).json();
    assert.is(info.status, "unreachable");
  }
});

options("URLs may be URL objects, and options may be undefined", async () => {
  const app = createNodeface({
    node: { url: new URL("http://127.0.0.1:1"), kind: "none" },
    hosts: undefined,
    prefix: undefined,
    log: undefined,
    info: undefined,
  });
  assert.is((await app.fetch(new Request("http://localhost/v1/info"))).status, 200);
});

options("a callback that throws or rejects does not affect other responses", async () => {
  const text = "openapi: 3.1.1\ninfo: { title: A, version: '1' }\npaths: {}\n";
  let told = 0;
  const fails = () => {
    told++;
    throw new Error("from the host");
  };
  const app = createNodeface({
    description: { text },
    operations: [{ ...peers, method: "GET", handle: fails }],
    info: fails,
    log: fails,
  });
  for (const [path, status] of [["/spec.json", 200], ["/v1/spec", 200], ["/v1/info", 200]]) {
    assert.is((await app.fetch(new Request(`http://localhost${path}`))).status, status, `${path}`);
  }
  assert.is((await app.fetch(new Request("http://localhost/v1/peers"))).status, 500);
  assert.ok(told >= 4, String(told));
});

options("/v1/info reports startedAt as the start time of the service", async () => {
  const nodeface = createNodeface({ startedAt: new Date("2026-01-02T03:04:05Z") });
  const info = await (await nodeface.fetch(new Request("http://localhost/v1/info"))).json();
  assert.match(JSON.stringify(info), '"2026-01-02T03:04:05');
});

options.run();
