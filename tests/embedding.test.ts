import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { passTime } from "./_clock.ts";
import { createNodeface, type Nodeface, type Operation, problem } from "../src/index.ts";
import { nextTurn } from "../src/slices.ts";

const embedding = suite("in a host's server");

const peer: Operation = {
  method: "GET",
  path: "/v1/peers/{id}",
  operation: { operationId: "getPeer", responses: { 200: { description: "The peer" } } },
  handle: (request, { id }) => Response.json({ id, accept: request.headers.get("accept") }),
};
const ban: Operation = {
  method: "POST",
  path: "/v1/peers/{id}",
  operation: { operationId: "banPeer", responses: { 200: { description: "Done" } } },
  handle: async (request) => new Response(`banned for ${await request.text()}`),
};

let height = 0;
const host = createNodeface({
  prefix: "/a/node",
  info: () => ({ software: "exampled", height: ++height }),
  operations: [peer, ban],
  cors: ["https://app.example"],
});

const ask = async (path: string, init: RequestInit = {}, app: Nodeface = host) =>
  await app.fetch(new Request(`http://localhost${path}`, init));

embedding(
  "the host's own function provides the info, and is called once for concurrent requests",
  async () => {
    const [first, second] = await Promise.all([ask("/a/node/v1/info"), ask("/a/node/v1/info")]);
    const info = await first.json();
    assert.is(info.software, "exampled");
    assert.is(info.api.software, "nodeface");
    assert.is(info.height, height);
    assert.equal(await second.json(), info);
  },
);

embedding("many services may have one function for the info, which takes its time", async () => {
  const info = async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { height: 7 };
  };
  const apps = Array.from({ length: 6 }, () => createNodeface({ info, log: () => {} }));
  const states = await Promise.all(apps.map((app) => ask("/v1/health", {}, app)));
  assert.equal(states.map(({ status }) => status), Array(6).fill(200));
});

embedding("the log names each value of the info that has the wrong type", async () => {
  const said: string[] = [];
  const info = () => ({ height: 7, synced: "no", peers: "3 peers", software: null }) as never;
  const app = createNodeface({ info, log: (message) => said.push(message) });
  assert.is((await (await ask("/v1/info", {}, app)).json()).height, 7);
  const omitted = said.filter((line) => line.includes("has the wrong type")).join();
  for (const key of ["/synced", "/peers"]) assert.match(omitted, key);
  assert.not.match(omitted, "/software");
});

embedding("an operation may be an object of a class with private fields", async () => {
  class ListPeers implements Operation {
    readonly method = "GET";
    readonly path = "/v1/peers";
    readonly operation = { responses: { 200: { description: "The peers" } } };
    #peers = ["b2"];
    handle(): Response {
      return Response.json(this.#peers);
    }
  }
  const app = createNodeface({ operations: [new ListPeers()] });
  assert.equal(await (await ask("/v1/peers", {}, app)).json(), ["b2"]);
});

embedding("the response of a handler is sent with the common headers", async () => {
  const headers = { accept: "application/json", origin: "https://app.example" };
  const response = await ask("/a/node/v1/peers/b2", { headers });
  assert.equal(await response.json(), { id: "b2", accept: "application/json" });
  assert.is(response.headers.get("x-content-type-options"), "nosniff");
  assert.is(response.headers.get("access-control-allow-origin"), "https://app.example");
  assert.is(response.headers.get("vary"), "Origin");
});

embedding("the handler of an operation can read the request body", async () => {
  const response = await ask("/a/node/v1/peers/b2", { method: "POST", body: "7 days" });
  assert.is(await response.text(), "banned for 7 days");
});

embedding("HEAD, OPTIONS and other methods also work at the path of an operation", async () => {
  const head = await ask("/a/node/v1/peers/b2", { method: "HEAD" });
  assert.is(head.status, 200);
  assert.is(await head.text(), "");
  const options = await ask("/a/node/v1/peers/b2", { method: "OPTIONS" });
  assert.is(options.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
  assert.is((await ask("/a/node/v1/peers/b2", { method: "PUT" })).status, 405);
});

embedding("the JSON and YAML descriptions have the added and original operations", async () => {
  const json = await (await ask("/a/node/spec.json")).json();
  assert.equal(parse(await (await ask("/a/node/spec.yaml")).text()), json);
  const parameters = [{ name: "id", in: "path", required: true, schema: { type: "string" } }];
  assert.equal(json.paths[peer.path], {
    get: { ...peer.operation, parameters },
    post: { ...ban.operation, parameters },
  });
  assert.ok(json.paths["/v1/info"].get);
});

embedding("a node's own description also lists the host's operations", async () => {
  const text = 'openapi: 3.1.1\ninfo: { title: A node, version: "1" }\npaths: {}\n';
  const app = createNodeface({
    description: { text },
    operations: [peer, ban],
    log() {},
  });
  const json = await (await ask("/spec.json", {}, app)).json();
  assert.equal(parse(await (await ask("/spec.yaml", {}, app)).text()), json);
  assert.is(json.info.title, "A node");
  const { get, post } = json.paths[peer.path];
  assert.is(get.operationId, "getPeer");
  assert.is(post.operationId, "banPeer");
  assert.is(get.servers[0].url, ".");
  assert.ok(json.paths["/v1/info"].get);
});

embedding(
  "a description given as an object is served like its text, and later changes have no effect",
  async () => {
    const document = {
      openapi: "3.1.1",
      info: { title: "A node", version: "1", "x-since": new Date(0), "x-none": undefined },
      paths: {},
      "x-large": 9007199254740993n,
    };
    const text = JSON.stringify({ ...document, "x-large": 0 }).replace(
      '"x-large":0',
      '"x-large":9007199254740993',
    );
    const [value, same] = [document, { text, name: "description.json" }].map((description) =>
      createNodeface({ description, log() {} })
    );
    document.info.title = "Another";
    for (const path of ["/spec.json", "/spec.yaml"]) {
      const [given, expected] = [await ask(path, {}, value), await ask(path, {}, same)];
      const content = await given.text();
      assert.is(content, await expected.text());
      assert.match(content, "9007199254740993");
      assert.match(content, "A node");
    }
  },
);

embedding(
  "one log gets the messages about the description, the node and errors, with level and code",
  async () => {
    const told: [code: string, level: string, message: string][] = [];
    const failing = { ...peer, handle: () => Promise.reject(new Error("the disk is full")) };
    const app = createNodeface({
      description: { text: 'openapi: 3.1.1\ninfo: { title: A, version: "1" }\npaths: 7\n' },
      // No server listens on this port, which belongs to the discard protocol.
      node: { url: "http://127.0.0.1:9", kind: "etcd" },
      operations: [failing],
      log: (message, { code, level }) => told.push([code, level, message]),
    });
    for (const path of ["/spec.json", "/v1/info", "/v1/peers/b2?token=hidden"]) {
      await ask(path, {}, app);
    }
    const find = (code: string) => told.find(([other]) => other === code)!;
    assert.match(find("description")[2], "paths");
    assert.is(find("status")[1], "error");
    assert.match(find("status")[2], "is unreachable");
    assert.is(find("error")[1], "error");
    assert.match(
      find("error")[2],
      "GET /v1/peers/b2 failed with 500: Error: the disk is full",
    );
    assert.not.match(JSON.stringify(told), "hidden");
  },
);

embedding("an operation that fails because its client has left is no error", async () => {
  const told: string[] = [];
  const leave = new AbortController();
  const app = createNodeface({
    operations: [{
      method: "GET",
      path: "/v1/slow",
      operation: { responses: { 200: { description: "It is done" } } },
      handle({ signal }) {
        leave.abort();
        throw signal.reason;
      },
    }],
    log: (_, { code }) => told.push(code),
  });
  const request = new Request("http://localhost/v1/slow", { signal: leave.signal });
  assert.is((await app.fetch(request)).status, 499);
  assert.not(told.includes("error"));
});

embedding("a Request is not modified, even if it has a property such as params", async () => {
  for (const path of ["/a/node/v1/info", "/a/node/v1/peers/b2", "/a/node/nope"]) {
    const request = new Request(`http://localhost${path}?a=b`);
    const names = ["params", "query", "route"];
    for (const name of names) Object.defineProperty(request, name, { get: () => "the host's" });
    const { status } = await host.fetch(request);
    assert.is(status, path.endsWith("nope") ? 404 : 200, path);
    for (const name of names) assert.is((request as never)[name], "the host's");
  }
});

embedding("every result of fetch is an ordinary Response", async () => {
  for (const path of ["/v1/info", "/v1/spec", "/v1/peers/b2", "/nope"]) {
    const response = await ask(`/a/node${path}`);
    assert.instance(response, Response);
    assert.is(
      Object.getPrototypeOf(response),
      Response.prototype,
      "other servers refuse subclasses",
    );
    const text = await response.clone().text();
    const wrapped = new Response(response.body, response);
    assert.is(wrapped.status, response.status);
    assert.is(wrapped.headers.get("content-type"), response.headers.get("content-type"));
    assert.is(wrapped.headers.get("x-content-type-options"), "nosniff");
    assert.is(await wrapped.text(), text);
    assert.ok(text.length > 0);
  }
});

embedding("problem() returns an ordinary Response", () => {
  assert.is(Object.getPrototypeOf(problem(409, "It is locked")), Response.prototype);
});

embedding(
  "a header with a line break is never sent, whatever the class of the response",
  async () => {
    const errors: unknown[] = [];
    const value = "a\r\nset-cookie: a=b";
    const { FastResponse } = await import("srvx/node");
    const handlers: Operation["handle"][] = [
      () => new FastResponse("own", { headers: { "x-own": value } }),
      () => problem(409, "It is locked", { "x-own": value }),
    ];
    for (const handle of handlers) {
      const app = createNodeface({
        operations: [{ ...peer, handle }],
        log: (_, event) => errors.push("error" in event && event.error),
      });
      const response = await ask("/v1/peers/b2", {}, app);
      assert.is(response.status, 500);
      assert.not.ok(response.headers.has("x-own"));
      assert.ok(response.headers.has("cross-origin-resource-policy"));
    }
    assert.is(errors.length, 2);
  },
);

embedding(
  "a path without parameters takes precedence, whatever the order of the operations",
  async () => {
    const operation = { responses: peer.operation.responses };
    const own = { ...peer, operation, path: "/v1/peers/own", handle: () => new Response("own") };
    const app = createNodeface({ operations: [peer, own] });
    assert.is(await (await ask("/v1/peers/own", {}, app)).text(), "own");
    assert.is((await (await ask("/v1/peers/b2", {}, app)).json()).id, "b2");
  },
);

embedding("if an operation fails, the client gets 500 and the host gets the error", async () => {
  const errors: unknown[] = [];
  const failing = { ...peer, handle: () => Promise.reject(new Error("the disk is full")) };
  const app = createNodeface({
    operations: [failing],
    log: (_, event) => errors.push("error" in event && event.error),
  });
  const response = await ask("/v1/peers/b2", {}, app);
  assert.is(response.status, 500);
  assert.not.match(await response.text(), "disk");
  assert.is(String(errors[0]), "Error: the disk is full");
});

embedding("a HEAD request for an operation that streams cancels the stream", async () => {
  const reasons: unknown[] = [];
  const stream = () => new ReadableStream({ cancel: (reason) => void reasons.push(reason) });
  const app = createNodeface({ operations: [{ ...peer, handle: () => new Response(stream()) }] });
  const response = await ask("/v1/peers/b2", { method: "HEAD" }, app);
  assert.is(response.status, 200);
  assert.is(response.body, null);
  assert.is(reasons.length, 1);
});

const throws = () => {
  throw new Error("the log is full");
};

const FAILING: readonly [how: string, callback: () => void][] = [
  ["throws", throws],
  ["rejects", () => Promise.reject(new Error("the log is full"))],
];

for (const [how, callback] of FAILING) {
  embedding(`a log that ${how} when an error is logged does not affect responses`, async () => {
    const app = createNodeface({ operations: [{ ...peer, handle: throws }], log: callback });
    for (let i = 0; i < 2; i++) assert.is((await ask("/v1/peers/b2", {}, app)).status, 500);
    assert.is((await ask("/v1/info", {}, app)).status, 200);
  });

  embedding(`a log that ${how} when a description is read does not affect responses`, async () => {
    const text = 'openapi: 3.1.1\ninfo: { title: A node, version: "1" }\npaths: 7\n';
    const app = createNodeface({
      description: { text },
      log: callback,
    });
    assert.is((await (await ask("/spec.json", {}, app)).json()).info.title, "A node");
    assert.is((await ask("/v1/spec", {}, app)).status, 200);
    await app.refresh();
  });

  embedding(`a log that ${how} when a node is unreachable does not affect responses`, async () => {
    const node = { url: "http://127.0.0.1:9", kind: "etcd" };
    const app = createNodeface({ node, log: callback, description: "none" });
    for (const path of ["/v1/info", "/v1/info", "/v1/spec"]) {
      assert.is((await ask(path, {}, app)).status, 200, path);
    }
    assert.is((await (await ask("/v1/info", {}, app)).json()).status, "unreachable");
    assert.is((await ask("/v1/health", {}, app)).status, 503);
  });

  embedding(`a host's info function is called again if it fails and the log ${how}`, async () => {
    let tries = 0;
    const info = () => {
      if (++tries === 1) throw new Error("not yet");
      return { height: 7 };
    };
    const app = createNodeface({ info, log: callback });
    const height = async () => (await (await ask("/v1/info", {}, app)).json()).height;
    const end = performance.now() + 20_000;
    while (await height() !== 7) {
      assert.ok(performance.now() < end, `${tries} tries`);
      await nextTurn();
    }
  });
}

embedding("an info function that hangs is called four times a minute at most", async () => {
  let calls = 0;
  await using app = createNodeface({
    info: () => {
      calls++;
      return new Promise(() => {});
    },
    node: { timeout: "100ms" },
    log() {},
  });
  for (let asked = 0; asked < 8; asked++) {
    const { status } = await (await ask("/v1/info", {}, app)).json();
    assert.is(status, "degraded");
    passTime(2000);
  }
  assert.is(calls, 4);
  passTime(60_000);
  await ask("/v1/info", {}, app);
  assert.is(calls, 5);
});

embedding("the streams of an address are limited if the server tells the address", async () => {
  const contexts = (address: string) => [
    { remoteAddr: { transport: "tcp", hostname: address, port: 1 } },
    { requestIP: () => ({ address, family: "IPv4", port: 1 }) },
  ];
  for (const at of [0, 1]) {
    await using app = createNodeface({ events: { per_address: 1 } });
    const statusFor = async (address: string) => {
      const request = new Request("http://localhost/v1/events");
      return (await app.fetch(request, contexts(address)[at])).status;
    };
    assert.is(await statusFor("192.0.2.1"), 200);
    assert.is(await statusFor("192.0.2.1"), 503);
    assert.is(await statusFor("192.0.2.2"), 200);
  }
});

embedding("an operation is refused if the service already has one at its path", () => {
  for (const path of ["/", "/v1/info", "/assets/scalar-{digest}/{file}"]) {
    assert.throws(
      () => createNodeface({ operations: [{ ...peer, path }] }),
      (error: Error) => error.message === `GET ${path} is served already`,
    );
  }
  assert.throws(
    () =>
      createNodeface({
        operations: [
          { ...peer, path: "/v1/info" },
          { ...ban, method: "GET", path: "/spec.json" },
        ],
      }),
    (error: Error) =>
      error.message === "GET /spec.json is served already\nGET /v1/info is served already",
  );
  assert.throws(() => createNodeface({ operations: [peer, peer] }), /is served already/);
});

embedding("a path with the same parameter twice is refused when the service is created", () => {
  assert.throws(
    () => createNodeface({ operations: [{ ...peer, path: "/v1/{id}/peers/{id}" }] }),
    (error: Error) =>
      error.message ===
        'operations[0].path must have each parameter once, not "/v1/{id}/peers/{id}"',
  );
});

embedding("path templates match as in OpenAPI, whatever characters they contain", async () => {
  const served: [template: string, path: string, params: Record<string, string>][] = [
    ["/v1/peers/{peer-id}", "/v1/peers/a1", { "peer-id": "a1" }],
    ["/v1/peers/{id}:kick", "/v1/peers/a1:kick", { id: "a1" }],
    ["/v1/café/{größe}", "/v1/caf%C3%A9/7", { größe: "7" }],
    ["/v1/v:version", "/v1/v:version", {}],
    ["/v1/a+(b)|c*.d", "/v1/a+(b)%7Cc*.d", {}],
    ["/v1/a b", "/v1/a%20b", {}],
    ["/v1/files/*", "/v1/files/*", {}],
    ["/v1/rest/{path+}", "/v1/rest/b", { "path+": "b" }],
    ["/v1/a|/etc", "/v1/a|/etc", {}],
    ["/v1/{a}-{b}.json", "/v1/x-y-z.json", { a: "x", b: "y-z" }],
  ];
  const handle: Operation["handle"] = (_request, params) => Response.json(params);
  const operation = { responses: {} };
  const operations = served.map(([path]): Operation => ({ ...peer, operation, path, handle }));
  const app = createNodeface({ operations });
  for (const [template, path, params] of served) {
    const response = await ask(path, {}, app);
    assert.is(response.status, 200, template);
    assert.equal(await response.json(), params);
  }
  for (const path of ["/v1/peers/a/kick", "/v1/v7", "/v1/aa", "/c", "/v1/x-y_json", "/etc"]) {
    assert.is((await ask(path, {}, app)).status, 404, path);
  }
  for (const path of ["/v1/files/a", "/v1/files/a/b", "/v1/rest/a/b", "/v1/rest", "/v1/a"]) {
    assert.is((await ask(path, {}, app)).status, 404, path);
  }
});

embedding("the service responds even if another class replaces Promise", async () => {
  const { Promise: native } = globalThis;
  const paths = ["/v1/info", "/v1/spec", "/v1/peers/b2", "/assets/a/b"];
  const app = createNodeface({ operations: [peer] });
  try {
    // Simulates zone.js, which replaces the global `Promise`, while `async` functions still return
    // native promises.
    const Other = function (executor: ConstructorParameters<PromiseConstructor>[0]) {
      return new native(executor);
    };
    for (const name of ["all", "race", "resolve", "reject"] as const) {
      Object.assign(Other, { [name]: native[name].bind(native) });
    }
    globalThis.Promise = Other as never;
    const statuses: number[] = [];
    for (const path of paths) statuses.push((await ask(path, {}, app)).status);
    assert.equal(statuses, [200, 200, 200, 404]);
  } finally {
    globalThis.Promise = native;
  }
});

embedding.run();
