import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import {
  createNodeface,
  defineOperation,
  type NodefaceOptions,
  type Operation,
  type OperationObject,
  problem,
} from "../src/index.ts";

const operations = suite("a host's own operations");

const operation = { responses: { 200: { description: "Done" } } };
const ORIGIN = "https://app.example";
const JSON_TYPE = "application/problem+json";

interface Asked {
  readonly response: Response;
  readonly told: readonly string[];
}

async function ask(
  made: Partial<Operation>,
  path: string,
  init: RequestInit = {},
  context: unknown[] = [],
): Promise<Asked> {
  const told: string[] = [];
  const whole = {
    method: "GET",
    path: "/v1/peers/{id}",
    operation,
    handle: () => new Response("x"),
  } as const;
  const app = createNodeface({
    operations: [{ ...whole, ...made }],
    log: (message) => told.push(message.split("\n")[0]!),
  });
  const response = await app.fetch(requestOf(path, init), ...context);
  return { response, told };
}

/** In browsers and some runtimes, `Request` does not accept an `Origin` header. */
function requestOf(path: string, { method = "GET", headers = {} }: RequestInit): Request {
  const fields = new Headers();
  const request = new Request(`http://localhost${path}`, { method });
  for (const [name, value] of Object.entries(headers)) fields.set(name, String(value));
  return Object.defineProperty(request, "headers", { value: fields });
}

const params: Operation["handle"] = (_request, params) => Response.json(params);

operations("a handler receives the path parameters, decoded", async () => {
  const path = "/v1/peers/{peer-id}/{b}";
  const { response } = await ask({ path, handle: params }, "/v1/peers/a%20b%2Fc/%C3%BC+%25");
  assert.equal(await response.json(), { "peer-id": "a b/c", b: "ü+%" });
});

operations(
  "invalid percent-encoding is refused with 400 before the handler is called",
  async () => {
    for (const id of ["%E0%A4%A", "%zz", "%ff", "a%"]) {
      let isCalled = false;
      const handle = () => {
        isCalled = true;
        return new Response();
      };
      const { response, told } = await ask({ handle }, `/v1/peers/${id}`);
      assert.is(response.status, 400, id);
      assert.is(response.headers.get("content-type"), JSON_TYPE);
      assert.match(await response.text(), '"id\\"');
      assert.not.ok(isCalled);
      assert.equal(told, []);
    }
  },
);

operations("a handler receives all arguments that the host passes to fetch", async () => {
  const handle = (_request: Request, _params: unknown, env: { key: string }, more: number) =>
    Response.json([env.key, more]);
  const { response } = await ask({ handle }, "/v1/peers/a", {}, [{ key: "k" }, 7]);
  assert.equal(await response.json(), ["k", 7]);
});

operations("a response that a handler throws is sent", async () => {
  for (const thrown of [problem(404, "There is no peer b2"), Response.json({}, { status: 409 })]) {
    const { status } = thrown;
    const content = await thrown.clone().text();
    for (const handle of [() => Promise.reject(thrown.clone()), () => thrower(thrown.clone())]) {
      const { response, told } = await ask({ handle }, "/v1/peers/b2");
      assert.is(response.status, status);
      assert.is(await response.text(), content);
      assert.is(response.headers.get("x-content-type-options"), "nosniff");
      assert.equal(told, []);
    }
  }
});

function thrower(thrown: unknown): never {
  throw thrown;
}

operations("problem() creates responses like the service's own errors", async () => {
  const made = problem(429, "Ask again in a minute", { "retry-after": "60" });
  assert.is(made.headers.get("content-type"), JSON_TYPE);
  assert.is(made.headers.get("cache-control"), "no-store");
  assert.is(made.headers.get("retry-after"), "60");
  const own = await createNodeface().fetch(new Request("http://localhost/nope"));
  const ownContent = await own.json();
  assert.equal(await made.json(), {
    ...ownContent,
    title: "Too Many Requests",
    status: 429,
    detail: "Ask again in a minute",
    message: "Ask again in a minute",
  });
  const mixed = problem(400, "x", { "Content-Type": "application/json", "X-A": "1" });
  assert.is(mixed.headers.get("content-type"), "application/json");
  const given = problem(401, "x", new Headers({ "www-authenticate": "Bearer" }) as never);
  assert.is(given.headers.get("www-authenticate"), "Bearer");
  assert.not.ok("title" in await problem(499, "It went away").json());
  for (const status of [200, 399, 600, 404.5, NaN]) {
    assert.throws(() => problem(status, "x"), /from 400 to 599/);
  }
});

const read = new Response("x");
await read.text();
const locked = new Response("x");
locked.body!.getReader();

const WRONG: readonly [returned: unknown, said: string][] = [
  [undefined, "undefined, not a Response"],
  [null, "null, not a Response"],
  ["hello", '"hello", not a Response'],
  [7, "7, not a Response"],
  [{ id: 1 }, "an object, not a Response"],
  [{ status: 200, headers: {}, body: null }, "an object, not a Response"],
  [{ variants: {} }, "an object, not a Response"],
  [Promise.resolve(), "undefined, not a Response"],
  [read, "a Response whose body has been read already"],
  [locked, "a Response whose body has been read already"],
  [Response.error(), "Response.error()"],
];

for (const [returned, said] of WRONG) {
  operations(`a handler that returns ${said} causes a 500 and is named in the log`, async () => {
    const { response, told } = await ask({ handle: (() => returned) as never }, "/v1/peers/a?b=c");
    assert.is(response.status, 500);
    const content = await response.text();
    assert.not.match(content, /peers|returned|hello/);
    const name = "GET /v1/peers/a failed with 500: TypeError: GET /v1/peers/{id} returned ";
    assert.is(told.length, 1);
    assert.ok(told[0]!.startsWith(name + said), told[0]);
  });
}

operations("path parameters are named as in the path, even for the compiler", async () => {
  const peer = defineOperation({
    method: "GET",
    path: "/v1/peers/{peer-id}/{key}",
    operation,
    handle: (_request, { "peer-id": id, key }) => new Response(id.concat(key)),
  });
  const app = createNodeface({
    operations: [peer, {
      method: "POST",
      path: "/v1/ban/{id}",
      operation,
      handle: (_request, { id }, { by }: { by: string }) => new Response(id.concat(by)),
    }],
  });
  defineOperation({
    ...peer,
    // @ts-expect-error: the path has no parameter with this name
    handle: (_request, { pear }) => new Response(pear),
  });
  const [got, banned] = await Promise.all([
    app.fetch(new Request("http://localhost/v1/peers/a/b")),
    app.fetch(new Request("http://localhost/v1/ban/c", { method: "POST" }), { by: "d" }),
  ]);
  assert.equal([await got.text(), await banned.text()], ["ab", "cd"]);
});

operations("characters that browsers do not encode match encoded and unencoded", async () => {
  const path = "/v1/a|b[c]^d/é";
  for (const asked of [path, "/v1/a%7Cb%5Bc%5D%5ed/%c3%A9", "/v1/a%7cb[c]%5Ed/%C3%a9"]) {
    assert.is((await ask({ path }, asked)).response.status, 200, asked);
  }
  assert.is((await ask({ path: "/v1/a%2Fb" }, "/v1/a/b")).response.status, 404);
  assert.is((await ask({ path: "/v1/a%2Fb" }, "/v1/a%2fb")).response.status, 200);
});

/** Request headers that cannot come from a page of another origin. */
const OWN: readonly Record<string, string>[] = [
  {},
  { host: "localhost:8080", origin: "http://localhost:8080" },
  { host: "a.localhost:80", origin: "http://a.localhost" },
  // The service is behind a proxy that changes Host.
  { host: "127.0.0.1:8080", origin: "https://node.example", "sec-fetch-site": "same-origin" },
  { "sec-fetch-site": "none" },
];

const FOREIGN: readonly Record<string, string>[] = [
  { host: "localhost:8080", origin: "http://localhost:3000" },
  { host: "localhost:8080", origin: "null" },
  { host: "localhost:8080", origin: "http://evil.example" },
  { host: "localhost", origin: ORIGIN, "sec-fetch-site": "cross-site" },
  { host: "localhost", origin: "http://a.localhost", "sec-fetch-site": "same-site" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "anything" },
];

async function call(made: Partial<Operation>, headers: Record<string, string>) {
  let calls = 0;
  const handle = () => {
    calls++;
    return new Response();
  };
  const { method = "POST" } = made;
  const { response } = await ask({ ...made, method, handle }, "/v1/peers/a", { method, headers });
  return { calls, response };
}

operations("pages of other origins cannot make a change, whatever headers they send", async () => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
    for (const headers of FOREIGN) {
      const { calls, response } = await call({ method }, headers);
      assert.equal([calls, response.status], [0, 403], JSON.stringify(headers));
      assert.is(response.headers.get("access-control-allow-origin"), null);
      assert.is(response.headers.get("content-type"), JSON_TYPE);
    }
    for (const headers of OWN) {
      const { calls, response } = await call({ method }, headers);
      assert.equal([calls, response.status], [1, 200], JSON.stringify(headers));
    }
  }
});

operations(
  "a GET that a page of another origin could read gets 403, but a link is followed",
  async () => {
    const refused = await call({ method: "GET" }, { origin: ORIGIN });
    assert.equal([refused.calls, refused.response.status], [0, 403]);
    assert.is(refused.response.headers.get("access-control-allow-origin"), null);
    const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    const { calls, response } = await call({ method: "GET" }, link);
    assert.equal([calls, response.status], [1, 200]);
    assert.is(response.headers.get("access-control-allow-origin"), null);
    assert.is(response.headers.get("cross-origin-resource-policy"), "same-origin");
  },
);

operations("an operation with cors can be called by the origins that cors lists", async () => {
  for (const [cors, allowed] of [[[ORIGIN], ORIGIN], ["*", "*"]] as const) {
    for (const method of ["GET", "POST"] as const) {
      const headers = { host: "localhost", origin: ORIGIN, "sec-fetch-site": "cross-site" };
      const { calls, response } = await call({ cors, method }, headers);
      assert.equal([calls, response.status], [1, 200]);
      assert.is(response.headers.get("access-control-allow-origin"), allowed);
    }
  }
  for (const origin of ["https://evil.example", "null"]) {
    const { calls } = await call({ cors: [ORIGIN] }, { host: "localhost", origin });
    assert.is(calls, 0);
  }
});

operations(
  "origins in the service's cors may call all operations except those with an empty cors list",
  async () => {
    const handle = () => new Response("x");
    const made: Operation = { method: "POST", path: "/v1/a", operation, handle };
    const closed: Operation = { ...made, path: "/v1/b", cors: [] };
    const app = createNodeface({ cors: [ORIGIN], operations: [made, closed] });
    const init = { method: "POST", headers: { host: "localhost", origin: ORIGIN } };
    assert.is((await app.fetch(requestOf("/v1/a", init))).status, 200);
    assert.is((await app.fetch(requestOf("/v1/b", init))).status, 403);
  },
);

operations("a preflight response lists only the methods that the origin may use", async () => {
  const handle = () => new Response("x");
  const at = (method: Operation["method"], cors?: Operation["cors"]): Operation => ({
    ...{ method, path: "/v1/a", operation, handle },
    cors,
  });
  const app = createNodeface({
    operations: [
      at("GET", "*"),
      at("POST"),
      at("DELETE", [ORIGIN]),
      { ...at("POST"), path: "/v1/info" },
    ],
  });
  const allowed = async (path: string, method: string, origin = ORIGIN) => {
    const headers = { origin, "access-control-request-method": method };
    const response = await app.fetch(requestOf(path, { method: "OPTIONS", headers }));
    assert.is(response.status, 204);
    return response.headers.get("access-control-allow-methods");
  };
  assert.is(await allowed("/v1/a", "GET"), "GET, HEAD");
  assert.is(await allowed("/v1/a", "POST"), null);
  assert.is(await allowed("/v1/a", "DELETE"), "DELETE");
  assert.is(await allowed("/v1/a", "DELETE", "https://evil.example"), null);
  assert.is(await allowed("/v1/info", "GET"), "GET, HEAD");
  assert.is(await allowed("/v1/info", "POST"), null);
  for (const path of ["/v1/a", "/v1/info"]) {
    assert.not.match(await allowed(path, "PUT") ?? "", /POST|DELETE/, path);
  }
});

operations("pages of other origins cannot read the errors of operations", async () => {
  const fails = () => Promise.reject(new Error("x"));
  const headers = { "sec-fetch-site": "cross-site" };
  const { response } = await ask({ handle: fails }, "/v1/peers/a", { headers });
  assert.is(response.status, 500);
  assert.is(response.headers.get("access-control-allow-origin"), null);
});

async function describe(options: NodefaceOptions) {
  const app = createNodeface({ log() {}, ...options });
  const [json, yaml] = await Promise.all(["/spec.json", "/spec.yaml"].map(async (path) => {
    const response = await app.fetch(new Request(`http://localhost${path}`));
    assert.is(response.status, 200);
    return await response.text();
  }));
  const document = JSON.parse(json!);
  assert.equal(parse(yaml!), document);
  return document;
}

const handle = () => new Response();
const at = (path: string, object: OperationObject = {}): Operation => ({
  ...{ method: "GET", path, handle },
  operation: { ...operation, ...object },
});

operations(
  "if the host does not describe a path parameter, it is added to the description",
  async () => {
    const id = { $ref: "#/components/parameters/Id" };
    const key = { name: "key", in: "path", required: true, schema: { type: "string" } };
    const query = { name: "id", in: "query", schema: {} };
    const parameters = { Id: { ...key, name: "id", description: "Its address" } };
    const { paths } = await describe({
      document: { components: { parameters } },
      operations: [
        at("/v1/a/{key}", { parameters: [query] }),
        at("/v1/b/{id}/{key}", { parameters: [id] }),
      ],
    });
    const described = (path: string) => paths[path].get.parameters;
    assert.equal(described("/v1/a/{key}"), [query, key]);
    assert.equal(described("/v1/b/{id}/{key}"), [id, key]);
  },
);

operations("the operations are checked as a document, and one error lists all faults", () => {
  const schema = { $ref: "#/components/schemas/Pear" };
  const responses = { 200: { description: "", content: { "application/json": { schema } } } };
  const create = () =>
    createNodeface({
      document: { components: { schemas: { Peer: {}, "my peer": {} } } },
      operations: [
        at("/v1/a", { operationId: "a", responses }),
        at("/v1/b", { operationId: "a", security: [{ key: [] }] }),
      ],
    });
  const lines = [
    "invalid options:",
    "operations[0].operation.responses.200.content.application/json.schema.$ref is wrong: " +
    'the reference to "#/components/schemas/Pear" leads nowhere; did you mean Peer?',
    'operations[1].operation.security[0].key is wrong: the security scheme "key" is not declared',
    'document.components.schemas.my peer is wrong: "my peer" is not a valid name: ' +
    'use up to 400 letters, digits, ".", "-" and "_"',
    "operations[1].operation.operationId is wrong: " +
    'the operationId "a" is already used by GET /v1/a',
  ];
  let message = "";
  try {
    create();
  } catch (error) {
    message = (error as Error).message;
  }
  assert.equal(message.split("\n").map((line) => line.trim()), lines);
});

const DOCUMENT = {
  info: { title: "Mine", version: "7" },
  tags: [{ name: "Peers", description: "Who is there" }, { name: "Node", description: "Mine" }],
  externalDocs: { url: "https://docs.example" },
  components: {
    schemas: { Peer: { type: "object" }, Any: true },
    securitySchemes: { key: { type: "http", scheme: "bearer" } },
  },
} as const;

const PEER = at("/v1/peer", {
  tags: ["Peers"],
  security: [{ key: [] }],
  responses: {
    200: {
      description: "It",
      content: { "application/json": { schema: { $ref: "#/components/schemas/Peer" } } },
    },
  },
});

operations("the host's document sets the description's title, tags and components", async () => {
  const document = await describe({ document: DOCUMENT, operations: [PEER] });
  assert.equal(document.info, DOCUMENT.info);
  assert.equal(document.tags.slice(0, 2), DOCUMENT.tags);
  assert.is(document.tags.filter(({ name }: { name: string }) => name === "Node").length, 1);
  assert.equal(document.externalDocs, DOCUMENT.externalDocs);
  assert.equal(document.components.schemas.Peer, DOCUMENT.components.schemas.Peer);
  assert.is(document.components.schemas.Any, true);
  assert.ok(Object.keys(document.components.headers).length > 0);
  assert.equal(document.paths["/v1/peer"].get, PEER.operation);
  const page = await createNodeface({ document: DOCUMENT })
    .fetch(new Request("http://localhost/v1/spec"));
  assert.match(await page.text(), ">Mine<");
});

for (const size of ["small", "large"] as const) {
  operations(
    `the host's document is merged into a ${size} description of a node, with its components`,
    async () => {
      const theirs = { type: "string", description: size === "large" ? "x".repeat(70_000) : "" };
      const description = {
        openapi: "3.1.1",
        info: { title: "Theirs", version: "1" },
        tags: [{ name: "Blocks" }],
        components: {
          schemas: { Peer: theirs },
          securitySchemes: { key: { type: "apiKey", in: "header", name: "k" } },
        },
        paths: { "/theirs": { get: { responses: operation.responses } } },
      };
      const document = await describe({ description, document: DOCUMENT, operations: [PEER] });
      assert.equal(document.info, DOCUMENT.info);
      assert.equal(
        document.tags.map(({ name }: { name: string }) => name),
        ["Peers", "Node", "Blocks", "About this service"],
      );
      const { schemas, securitySchemes } = document.components;
      assert.equal([schemas.Peer, schemas.Peer2], [theirs, DOCUMENT.components.schemas.Peer]);
      assert.equal(securitySchemes.key2, DOCUMENT.components.securitySchemes.key);
      const { responses, security, servers } = document.paths["/v1/peer"].get;
      assert.match(JSON.stringify(responses), '"#/components/schemas/Peer2"');
      assert.equal(security, [{ key2: [] }]);
      assert.is(servers[0].url, ".");
    },
  );
}

async function describedAt(path: string, options: NodefaceOptions): Promise<string[] | undefined> {
  const app = createNodeface({ ...options, log: () => {} });
  const found: (string[] | undefined)[] = [];
  for (const form of ["spec.json", "spec.yaml"]) {
    const response = await app.fetch(new Request(`http://localhost/${form}`));
    const { paths } = parse(await response.text());
    found.push(paths[path] && Object.keys(paths[path]).filter((key) => key !== "summary"));
  }
  await app.close();
  assert.equal(found[0], found[1]);
  return found[0];
}

const BESIDE = { text: 'openapi: 3.1.1\ninfo: { title: a, version: "1" }\npaths: {}\n' };

for (const path of ["/v1/events", "/v1/history"]) {
  for (
    const [name, more] of [["alone", {}], ["with a node", { description: BESIDE }]] as const
  ) {
    operations(`a host's ${path} replaces the service's own ${path}, ${name}`, async () => {
      const handle = () => Response.json("mine");
      const mine = { path, operation: { ...operation, operationId: "mine" }, handle };
      assert.equal(await describedAt(path, more), ["get"]);
      for (const method of ["GET", "POST"] as const) {
        const options = { ...more, operations: [{ ...mine, method }] };
        assert.equal(await describedAt(path, options), [method.toLowerCase()]);
        const told: string[] = [];
        const app = createNodeface({ ...options, log: (message) => told.push(message) });
        const spec = await app.fetch(new Request("http://localhost/spec.json"));
        const { paths } = await spec.json();
        assert.is(paths[path][method.toLowerCase()].operationId, "mine");
        const response = await app.fetch(requestOf(path, { method }));
        assert.is(await response.json(), "mine");
        assert.match(told.join(), `an operation of the host replaces the service's ${path}`);
        await app.close();
      }
    });
  }
}

operations("a path template that matches /v1/events and /v1/history replaces both", async () => {
  const handle = (_: Request, { name }: { name: string }) => Response.json(name);
  const mine = { method: "GET", path: "/v1/{name}", operation, handle } as const;
  const told: string[] = [];
  const app = createNodeface({ operations: [mine], log: (message) => told.push(message) });
  for (const name of ["events", "history"]) {
    const path = `/v1/${name}`;
    assert.is(await (await app.fetch(requestOf(path, {}))).json(), name);
    assert.is(await describedAt(path, { operations: [mine] }), undefined);
    assert.match(told.join(), `an operation of the host replaces the service's ${path}`);
  }
  assert.is((await app.fetch(requestOf("/v1/ready", {}))).status, 200);
  await app.close();
});

operations("if the history is switched off, it is not described", async () => {
  for (const more of [{}, { description: BESIDE }]) {
    const off = { ...more, info: { history: "off" } } as const;
    assert.is(await describedAt("/v1/history", off), undefined);
    assert.equal(await describedAt("/v1/events", off), ["get"]);
    assert.equal(await describedAt("/v1/history", more), ["get"]);
  }
});

operations.run();
