import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readOutline } from "../src/explorer/read-outline.ts";
import { renderContent, renderParts } from "../src/explorer/render-content.ts";
import { annotateCalls } from "../src/gateway/annotate-operations.ts";
import { Gateway } from "../src/gateway/gateway.ts";
import { type Forward, resolveForward } from "../src/gateway/policy.ts";
import { openNode } from "../src/info/open-node.ts";
import { type JsonObject, objectOf } from "../src/json/values.ts";
import { createNodeface } from "../src/index.ts";
import { listNodeOperations } from "../src/openapi/callable-operations.ts";
import { withHomes } from "../src/openapi/home.ts";
import { withMarks, withMarksOfMethods } from "../src/openapi/kind-document.ts";
import { json, optionsFor, playNode, REST, until } from "./_gateway.ts";
import { load } from "./description/_load.ts";

const described = suite("what a description says about calls");

const DOCUMENT: JsonObject = {
  openapi: "3.1.1",
  info: { title: "A node", version: "1" },
  servers: [{ url: "./v1/node" }],
  security: [{ key: [] }],
  paths: {
    "/read": { get: { description: "Reads.", "x-access": "read" } },
    "/asked": {
      get: {
        "x-access": "read",
        parameters: [
          { name: "first", in: "query", required: true, schema: { type: "string" } },
          { name: "second", in: "query", required: true },
          { name: "third", in: "query" },
          { name: "$(run)", in: "query", required: true },
        ],
      },
    },
    "/write": { post: { description: "Writes.", "x-access": "write", security: [{ user: [] }] } },
    "/secret": { get: { "x-access": "secret" } },
    "/unknown": { get: { "x-call": "open" } },
    "/stream": { get: { "x-access": "read", "x-streaming": true } },
    "/elsewhere": { get: { "x-call": "open", servers: [{ url: "https://other.example" }] } },
    "/v1/rpc/call": {
      servers: [{ url: "." }],
      get: { summary: "Call", "x-access": "read" },
      post: { summary: "Call", "x-access": "read" },
    },
    "/v1/rpc/give": {
      servers: [{ url: "." }],
      post: {
        "x-access": "read",
        requestBody: {
          content: {
            "application/json": {
              schema: { properties: { to: { type: "object" }, by: {} }, required: ["to"] },
            },
          },
        },
      },
    },
    "/v1/info": { get: { servers: [{ url: "." }], security: [] } },
  },
  components: {
    securitySchemes: {
      key: { type: "apiKey", in: "header", name: "X-API-Key" },
      user: { type: "http", scheme: "basic" },
      other: { type: "http", scheme: "bearer" },
    },
  },
};

const TOKEN: Forward = {
  open: ["reads"],
  clients: [{ name: "app", allow: ["POST /write"], token_file: "token" }],
};

async function say(forward: Forward, document: JsonObject = DOCUMENT): Promise<JsonObject> {
  const own = await withHomes(structuredClone(document));
  return (await annotateCalls(own, resolveForward(forward), "operator")).document;
}

const operation = (document: JsonObject, path: string, method = "get"): JsonObject =>
  objectOf(objectOf(objectOf(document.paths)[path])[method]);

described(
  "each operation says if it is public, needs the token or is refused, and why",
  async () => {
    const document = await say(TOKEN);
    const table = [
      ["/read", "get", "open", "Reads.", []],
      ["/v1/rpc/call", "get", "open", undefined, []],
      ["/v1/rpc/call", "post", "open", undefined, []],
      ["/write", "post", "token", "Needs a client's token, which the operator gives.\n\nWrites.", [{
        NodefaceToken: [],
      }]],
      ["/secret", "get", "refused", /^Not forwarded: it reveals sensitive data/, []],
      ["/unknown", "get", "refused", /^Not forwarded: it has no access mark/, []],
      ["/stream", "get", "refused", /^Not forwarded: the response is a stream/, []],
    ] as const;
    for (const [path, method, right, description, security] of table) {
      const found = operation(document, path, method);
      assert.equal([found["x-call"], found.security], [right, security], path);
      if (description instanceof RegExp) assert.match(String(found.description), description);
      else assert.is(found.description, description);
    }
    const { NodefaceToken: scheme } = objectOf(objectOf(document.components).securitySchemes);
    assert.equal([objectOf(scheme).type, objectOf(scheme).scheme], ["http", "bearer"]);
  },
);

described("no security scheme is added if no operation needs the token", async () => {
  assert.not.match(JSON.stringify(await say("reads")), "NodefaceToken");
});

described("if calls are not forwarded, x-call marks in a description are removed", async () => {
  const document = await say("off");
  assert.not.match(JSON.stringify(document), /x-call|NodefaceToken|Not forwarded/);
  assert.is(operation(document, "/read").description, "Reads.");
});

described("the marks are removed if no operation is the node's, too", async () => {
  const paths = { "/elsewhere": objectOf(DOCUMENT.paths)["/elsewhere"] };
  for (const forward of ["off", TOKEN] as const) {
    const document = await say(forward, { ...DOCUMENT, paths });
    assert.not.match(JSON.stringify(document), "x-call");
    assert.equal(operation(document, "/elsewhere").security, [{ key: [] }]);
  }
});

for (const forward of ["off", TOKEN] as const) {
  const what = forward === "off" ? "not forwarded" : "forwarded";
  described(
    `if calls are ${what}, only operations of other servers need a node secret`,
    async () => {
      const document = await say(forward);
      assert.is(document.security, undefined);
      assert.equal(operation(document, "/elsewhere").security, [{ key: [] }]);
      assert.is(operation(document, "/elsewhere")["x-call"], undefined);
      assert.equal(operation(document, "/v1/info").security, []);
      for (const [path, method] of [["/read", "get"], ["/write", "post"]] as const) {
        assert.not.match(
          JSON.stringify(operation(document, path, method).security ?? []),
          /key|user/,
        );
      }
      const names = Object.keys(objectOf(objectOf(document.components).securitySchemes));
      assert.equal(names.filter((name) => !name.startsWith("Nodeface")), ["key", "other"]);
    },
  );
}

described("the security scheme of the token gets another name if its name is taken", async () => {
  const document = structuredClone(DOCUMENT);
  const { securitySchemes } = objectOf(document.components);
  objectOf(securitySchemes).NodefaceToken = { type: "http", scheme: "basic" };
  const said = await say(TOKEN, document);
  assert.equal(operation(said, "/write", "post").security, [{ NodefaceToken2: [] }]);
});

described("security schemes that callbacks and webhooks require are kept", async () => {
  const document = structuredClone(DOCUMENT);
  objectOf(operation(document, "/read")).callbacks = {
    done: { "{$url}": { post: { security: [{ user: [] }] } } },
  };
  document.webhooks = { event: { post: {} } };
  const said = await say("reads", document);
  assert.ok(objectOf(objectOf(said.components).securitySchemes).user);
  assert.equal(objectOf(objectOf(objectOf(said.webhooks).event).post).security, [{ key: [] }]);
});

described("a description without operations of the node is not changed", async () => {
  const document = { ...DOCUMENT, servers: [{ url: "https://other.example" }], paths: {} };
  const annotated = await annotateCalls(document, resolveForward("reads"), "operator");
  assert.is(annotated.document, document);
});

described("forwarded operations have one server, whatever the description lists", async () => {
  const text = JSON.stringify({
    ...DOCUMENT,
    servers: [{ url: "http://127.0.0.1:9000/api" }, { url: "https://public.example" }],
    paths: { "/read": { get: { responses: { 200: { description: "Done" } } } } },
  });
  const node = "http://127.0.0.1:9000";
  for (const forward of [undefined, resolveForward({ open: ["reads"] })]) {
    const { document } = await load({ text, name: "openapi.json" }, { node, forward });
    assert.equal(document!.servers, [{ url: "./v1/node/api" }]);
  }
});

described("the page shows each operation's permission and a working command", async () => {
  const outline = await readOutline(await say(TOKEN));
  const html = String((await renderContent(outline, true)).main).replaceAll("<wbr>", "");
  const article = (heading: string) =>
    html.split(/<article\b/).find((part) => part.includes(`>${heading}</h3>`)) ?? "";
  assert.match(article("/read"), `<span class="mark public">public</span>`);
  assert.match(
    article("/read"),
    `curl &quot;<var>$BASE_URL</var>/v1/node/read&quot;</code>`,
  );
  // The command for `/asked` is hidden, because required parameters have no example.
  assert.match(article("/asked"), `<div class="command" hidden>`);
  assert.match(
    article("give"),
    `/v1/rpc/give&quot; -H &#39;Content-Type: application/json&#39; --data-raw &#39;{&quot;to&quot;:{}}&#39;`,
  );
  assert.match(article("call"), `<var>$BASE_URL</var>/v1/rpc/call&quot;</code>`);
  assert.match(
    article("/write"),
    `<p class="call">Needs a client&#39;s token, which the operator gives.</p>`,
  );
  assert.match(article("/write"), "<p>Writes.</p>");
  assert.match(article("/write"), "-H &quot;Authorization: Bearer $NODEFACE_TOKEN&quot;");
  assert.match(article("/secret"), `<span class="mark not">not enabled</span>`);
  assert.match(article("/secret"), /<p class="call">Not forwarded: it reveals sensitive data/);
  assert.not.match(article("/secret"), "X-Nodeface");
  assert.not.match(article("/elsewhere"), /X-Nodeface|class="mark/);
  assert.not.match(html, "switched off");
});

described("the page header explains how to enable calls if they are not forwarded", async () => {
  const { calls, main } = await renderTexts(await say("off"), "kind");
  assert.match(
    calls,
    /Calls are switched off · .*Start with <code>--forward reads<\/code> to enable read-only operations \(\d of \d+\)\.<\/p>/,
  );
  assert.match(main, `<p class="call">Calls are switched off.</p>`);
  assert.match(main, "# nodeface.yaml\nforward:\n  open: [reads]</code>");
  assert.not.match(main, /X-Nodeface|Not forwarded:/);
});

described(
  "the page header shows the number of enabled operations and their URL, or how to enable some",
  async () => {
    const on = (await renderTexts(await say("reads"), "operator", "/v1/node")).calls;
    assert.match(on, /<summary>\d of \d+ operations enabled · enable more/);
    assert.match(on, "<code><var>…</var>/v1/node</code> <button");
    const paths = { "/a": { get: {} }, "/b": { get: {}, post: {} } };
    const servers = [{ url: "./v1/node" }];
    const unmarked = { openapi: "3.1.1", info: { title: "A", version: "1" }, paths, servers };
    for (const forward of [undefined, resolveForward("reads")]) {
      for (const by of ["operator", "network"] as const) {
        const { document } = await annotateCalls(await withHomes(unmarked), forward, by);
        const { calls } = await renderTexts(document, by);
        assert.match(
          calls,
          forward ? "None of 3 operations enabled" : "Calls are switched off",
        );
        assert.match(calls, "this description marks none");
        assert.match(calls, "Read what the operations return and change");
        assert.not.match(calls, "GET *");
      }
    }
    const { calls: own } = await renderTexts({
      openapi: "3.1.1",
      info: { title: "Nodeface" },
      paths: { "/v1/info": { get: {} } },
      servers: [{ url: "." }],
    });
    assert.match(own, "Start it beside one");
    assert.match(own, `<output data-call="/v1/info"`);
    assert.not.match(own, "enable more");
  },
);

described("the page itself begins no subscription", async () => {
  const responses = (type: string) => ({
    200: { description: "", content: { [type]: { schema: { type: "string" } } } },
  });
  const get = (type: string) => ({ "x-access": "read", responses: responses(type) });
  const document = {
    openapi: "3.1.1",
    info: { title: "A", version: "1" },
    paths: { "/a": { get: get("text/event-stream") }, "/b": { get: get("text/plain") } },
    servers: [{ url: "./v1/node" }],
  };
  const forward = resolveForward("reads");
  const { document: annotated } = await annotateCalls(
    await withHomes(document),
    forward,
    "operator",
  );
  const { calls } = await renderTexts(annotated, "operator");
  assert.match(calls, '<output data-call="/v1/node/b"');
});

described(
  "an operation of the host at a path of the node opens no other, and hides none",
  async () => {
    const node = await playNode();
    const ok = { 200: { description: "" } };
    const paths = {
      "/wallet/{id}": { get: { "x-access": "read", responses: ok } },
      "/wallet/seed": { get: { "x-access": "secret", operationId: "getSeed", responses: ok } },
      "/transactions": { get: { "x-access": "read", responses: ok } },
    };
    const info = { title: "A node", version: "1" };
    const security = [{ ApiKey: [] }];
    const components = {
      securitySchemes: { ApiKey: { type: "apiKey", in: "header", name: "key" } },
    };
    const text = JSON.stringify({ openapi: "3.1.1", info, security, components, paths });
    const handle = () => Response.json("host");
    const app = createNodeface({
      node: { url: node.url, kind: "none" },
      description: { name: "a.json", text } as never,
      forward: "reads",
      operations: [
        {
          method: "GET",
          path: "/wallet/seed",
          operation: { operationId: "getSeed", responses: ok },
          handle,
        },
        {
          method: "POST",
          path: "/transactions",
          operation: { operationId: "getHistory", responses: ok },
          handle,
        },
      ],
      log() {},
    });
    const ask = async (path: string) => await app.fetch(new Request(`http://localhost${path}`));
    assert.is((await ask("/v1/node/wallet/seed")).status, 403);
    assert.is((await ask("/v1/node/wallet/a1")).status, 200);
    assert.is((await ask("/v1/node/transactions")).status, 200);
    assert.is(await (await ask("/wallet/seed")).json(), "host");
    const document = await (await ask("/spec.json")).json();
    const all = Object.values<Record<string, { operationId?: string }>>(document.paths)
      .flatMap((item) => Object.values(item).flatMap(({ operationId }) => operationId ?? []));
    assert.is(new Set(all).size, all.length, all.join());
    assert.equal(document.paths["/seed"].servers, [{ url: "./v1/node/wallet" }]);
    assert.equal(document.paths["/wallet/seed"].get.security, []);
    const { servers, get } = document.paths["/v1/node/transactions"];
    assert.equal([servers, get.responses], [[{ url: "." }], ok]);
    const page = await (await ask("/v1/spec/simple")).text();
    assert.match(page, '<output data-call="/v1/node/transactions"');
    await app.close();
    await node.close();
  },
);

described("after a description is read, invalid names under forward are logged", async () => {
  const told: string[] = [];
  const says = (line: string) => line.includes("forward.");
  const nodeface = createNodeface({
    ...optionsFor("http://127.0.0.1:9", REST),
    forward: { open: ["reads", "GET /block/{height}", "send"] },
    log: (message, { level }) => told.push(`${level} ${message}`),
  });
  await nodeface.ready();
  await until(() => told.filter(says).length === 2);
  assert.equal(told.filter(says), [
    'error forward.open names "GET /block/{height}", but the description has no such ' +
    "operation; did you mean GET /blocks/{height}?",
    'error forward.open names "send", which is marked write; move it to forward.clients',
  ]);
  await nodeface.close();
});

described(
  "if a remote description moves a name to another operation, the other operation is not allowed",
  async () => {
    const node = await playNode();
    const elsewhere = await playNode();
    const get = { operationId: "getStatus", responses: { 200: { description: "" } } };
    const url = `http://127.0.0.1:${node.port}`;
    const give = (paths: JsonObject) =>
      elsewhere.answer = json({ openapi: "3.1.1", info: DOCUMENT.info, servers: [{ url }], paths });
    give({ "/status": { get }, "/next": { get: {} }, "/mine": { post: { operationId: "mine" } } });
    const told: string[] = [];
    const nodeface = createNodeface({
      node: { url, kind: "none" },
      description: `http://127.0.0.1:${elsewhere.port}/openapi.json`,
      forward: {
        open: ["getStatus", "GET /next", "GET /n*"],
        clients: [{ name: "app", allow: ["mine"], token_env: "NODEFACE_TEST_TOKEN" }],
      },
      log: (message, { level }) => message.includes("forward.") && told.push(`${level} ${message}`),
    });
    const status = async (path: string, method = "GET") =>
      (await nodeface.fetch(new Request(`http://localhost/v1/node${path}`, { method }))).status;
    const what = "an operationId that the author of the description can give to another operation";
    const star =
      'forward.open names "GET /n*", but * does not match operations in a description read over the network';
    await nodeface.ready();
    await until(() => told.length === 3);
    assert.equal(told.splice(0), [
      `error forward.open names "getStatus", ${what}; write "GET /status"`,
      `error ${star}; write "GET /next"`,
      `warn forward.clients app names "mine", ${what}; write "POST /mine"`,
    ]);
    assert.is(await status("/status"), 403);
    assert.is(await status("/next"), 200);
    assert.is(await status("/mine", "POST"), 401, "a client's token opens it");

    give({ "/wallet/send": { post: get }, "/next": { get: {} }, "/nothing": { get: {} } });
    await nodeface.refresh();
    await until(() => told.length === 5);
    assert.equal(told.splice(0), [
      `error forward.open names "getStatus", ${what}; write "POST /wallet/send"`,
      `error ${star}; write "GET /next", "GET /nothing"`,
      'error forward.clients app names "mine", but the description has no such operation',
      'warn forward.open names "getStatus", which now matches "POST /wallet/send"; before, it matched ' +
      '"GET /status"',
      'warn forward.open names "GET /n*", which now matches "GET /next", "GET /nothing"; before, it ' +
      'matched "GET /next"',
    ]);
    assert.is(await status("/wallet/send", "POST"), 403);
    assert.is(await status("/nothing"), 403);
    assert.equal(node.received.map(({ method, url }) => `${method} ${url}`), ["GET /next"]);

    give({
      "/wallet/send": { post: get },
      "/next": { get: {} },
      "/nothing": { get: {} },
      "/a": {},
    });
    await nodeface.refresh();
    assert.equal(told, [], "a diagnostic is not repeated");
    await nodeface.close();
    await node.close();
    await elsewhere.close();
  },
);

described(
  "a remote description cannot make a name match other paths",
  async () => {
    const path = "/wallet/{id}";
    const id = {
      name: "id",
      in: "path",
      schema: { type: "string" },
      "x-multi-segment": true,
    };
    const document = {
      servers: [{ url: "./v1/node" }],
      paths: { [path]: { get: { parameters: [id], responses: {} } } },
    };
    for (
      const [by, wanted] of [["network", undefined], [
        "operator",
        true,
      ]] as const
    ) {
      const [operation] = await listNodeOperations(await withHomes(document), by);
      assert.is(operation!.parameters![0]!.multiSegment, wanted, by);
    }
  },
);

described(
  "an operation that the kind marks as read also has the kind's limits of its parameters",
  async () => {
    const limited = (mark: JsonObject) => ({
      "x-access": "read",
      parameters: [{
        name: "id",
        in: "query",
        schema: { type: "string", ...mark },
      }],
    });
    const kind = {
      servers: [{ url: "./v1/node" }],
      paths: {
        "/cat": { get: limited({ "x-excludes": ["ipns/*.*"] }) },
        "/ls": { get: limited({}) },
        "/rm": { get: { ...limited({ "x-excludes": ["a"] }), "x-access": "secret" } },
      },
    };
    const own = {
      servers: [{ url: "./v1/node" }],
      paths: { "/cat": { get: {} }, "/ls": { get: {} }, "/rm": { get: {} } },
    };
    const { paths } = await withMarks(own, kind) as {
      paths: Record<string, { get: JsonObject }>;
    };
    assert.is(paths["/cat"]!.get["x-access"], undefined);
    assert.is(paths["/ls"]!.get["x-access"], "read");
    assert.is(paths["/rm"]!.get["x-access"], "secret", "the secret operation is not opened");
    const schema = {
      properties: { verbosity: { $ref: "#/components/schemas/Verbosity" } },
    };
    const components = { schemas: { Verbosity: { type: "integer", "x-heavy-from": 3 } } };
    const post = {
      "x-access": "read",
      requestBody: { content: { "application/json": { schema } } },
    };
    const { openrpc: { methods } } = withMarksOfMethods(
      {
        methods: [{
          name: "getblock",
          params: [{ name: "verbosity", schema: { type: "integer" } }],
        }],
      },
      { paths: { "/v1/rpc/getblock": { post } }, components },
    ) as unknown as { openrpc: { methods: JsonObject[] } };
    assert.equal(methods[0]!.params, [
      {
        name: "verbosity",
        schema: { allOf: [{ type: "integer" }], "x-heavy-from": 3 },
      },
    ]);
    assert.is(methods[0]!["x-access"], "read");
  },
);

described("the page of a service without a node says nothing about calls", async () => {
  const paths = { "/v1/info": { get: { servers: [{ url: "." }] } } };
  const { main } = await renderContent(await readOutline({ paths }), true);
  assert.not.match(String(main), "not forwarded");
});

described(
  "a node of another kind is called as its kind says, even if its description stays",
  async () => {
    const node = openNode({ url: "http://127.0.0.1:1", kind: "bitcoin" }, {});
    const current = { operations: [] };
    const gateway = new Gateway({
      isStandalone: true,
      forward: resolveForward("reads"),
      node,
      resources: {
        monitor: {
          findKind: () => Promise.resolve(node.kind),
          noteCall() {},
          identityCheck: { reasonAgainstCalls: () => Promise.resolve(undefined) },
        },
        description: () => Promise.resolve({ current }),
      },
      meters: undefined,
      log() {},
      logCalls: "failed",
    });
    const table = await gateway.table();
    assert.is(await gateway.table(), table);
    node.useKind("monero");
    const tables = await Promise.all(Array.from({ length: 100 }, () => gateway.table()));
    assert.is.not(tables[0], table);
    assert.is(new Set(tables).size, 1, "all that wait share one table");
    gateway.close();
  },
);

async function renderTexts(...described: Parameters<typeof renderParts>) {
  const { calls, content } = await renderParts(...described);
  return { calls: String(calls), main: String(content.main) };
}

described(
  "a method that a node lists takes no marks from an operation that it is named like",
  async () => {
    const secret = { "x-access": "secret", "x-streaming": true };
    const name = "GET /wallet/{x}";
    const kind = {
      servers: [{ url: "./v1/node" }],
      paths: {
        "/wallet/{id}": { get: secret },
        [`/v1/rpc/${encodeURIComponent(name)}`]: { servers: [{ url: "." }], post: {} },
      },
    };
    const own = { servers: [{ url: "./v1/node" }], paths: { "/wallet/{id}": { get: {} } } };
    const { paths } = await withMarks(own, kind) as { paths: Record<string, { get: JsonObject }> };
    assert.equal(paths["/wallet/{id}"]!.get, secret);
  },
);

described("a method and an operation of one name have their own permissions", async () => {
  const name = "GET /status";
  const document = await withHomes({
    ...DOCUMENT,
    paths: {
      "/status": { get: { "x-access": "read", responses: {} } },
      [`/v1/rpc/${encodeURIComponent(name)}`]: {
        servers: [{ url: "." }],
        post: { "x-access": "write", responses: {} },
      },
    },
  });
  const { document: annotated } = await annotateCalls(
    document,
    resolveForward("reads"),
    "operator",
  );
  const [status, method] = Object.values(objectOf(annotated.paths)).map(objectOf);
  assert.is(objectOf(status!.get)["x-call"], "open");
  assert.is(objectOf(method!.post)["x-call"], "refused");
});

described.run();
