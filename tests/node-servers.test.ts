import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { check as checkConfig } from "../src/cli/check.ts";
import { resolveForward } from "../src/gateway/policy.ts";
import { createNodeface } from "../src/index.ts";
import { formatDiagnostic } from "../src/openapi/diagnostics.ts";
import type { DescriptionWithBase } from "../src/options.ts";
import { type PlayedNode, playNode } from "./_gateway.ts";
import { load } from "./description/_load.ts";
import { serveFetch } from "./nodes/_played-server.ts";

const servers = suite("the servers of a node's description");

let node: PlayedNode;
servers.before(async () => {
  node = await playNode();
});
servers.after(() => node?.close());
servers.before.each(() => node.forget());

const responses = { 200: { description: "" } };
const info = { title: "A node", version: "1" };
const GET = { "x-access": "read", responses };

const describe = (servers?: readonly unknown[], more: object = {}) => ({
  ...{ openapi: "3.0.3", info, ...more, ...servers && { servers } },
  paths: {
    "/a": { get: GET },
    "/elsewhere": {
      get: { ...GET, servers: [{ url: "https://other.example" }] },
    },
    "/near": { get: { ...GET, servers: [{ url: "/near/v1" }] } },
  },
});

/**
 * Returns the URL that the node receives. The result is `undefined` if no operation has the path.
 */
async function arrives(
  path: string,
  from: object,
  { at = "", base }: { at?: string; base?: string } = {},
): Promise<string | undefined> {
  const app = createNodeface({
    node: { url: node.url + at, kind: "none" },
    forward: "reads",
    description: (base === undefined ? from : { from, base }) as DescriptionWithBase,
    log() {},
  });
  const { status } = await app.fetch(
    new Request(`http://localhost/v1/node${path}`),
  );
  assert.is(status, node.received.length > 0 ? 200 : 404);
  return node.received[0]?.url;
}

const PUBLIC = { url: "https://rpc.example/hub" };
const LOCAL = { url: "http://localhost:26657" };
const SWAGGER = { swagger: "2.0", info, paths: { "/a": { get: GET } } };
const TEMPLATE = {
  url: "https://{net}.example/{version}/",
  variables: {
    net: { default: "main", enum: ["main", "test"] },
    version: { default: "v2" },
  },
};

/**
 * `at` is the path in `node.url`. The client requests the path `called`, and the node must receive
 * the path `url`.
 */
const CALLED: readonly (readonly [
  name: string,
  from: object,
  at: string,
  called: string,
  url: string,
])[] = [
  [
    "one server with another origin",
    describe([PUBLIC]),
    "",
    "/hub/a",
    "/hub/a",
  ],
  ["no servers", describe(), "", "/a", "/a"],
  [
    "a server at another origin, and one at another port of this machine",
    describe([PUBLIC, LOCAL]),
    "",
    "/hub/a",
    "/hub/a",
  ],
  [
    "a server at another origin, and a relative one",
    describe([PUBLIC, { url: "/v1" }]),
    "",
    "/v1/a",
    "/v1/a",
  ],
  [
    "a server at another host, without a scheme",
    describe([{ url: "//rpc.example/v1/" }]),
    "",
    "/v1/a",
    "/v1/a",
  ],
  [
    "several servers with the same path",
    describe([{ url: "https://a.example/v1/" }, {
      url: "http://b.example/v1",
    }]),
    ...["", "/v1/a", "/v1/a"] as const,
  ],
  [
    "a server with variables that have default values",
    describe([TEMPLATE]),
    "",
    "/v2/a",
    "/v2/a",
  ],
  [
    "a server whose path differs from the path of node.url",
    describe([{ url: "/v1" }]),
    "/eth",
    "/v1/a",
    "/eth/v1/a",
  ],
  [
    "a server whose path is the end of node.url",
    describe([{ url: "https://a.example/v1" }]),
    "/eth/v1",
    "/a",
    "/eth/v1/a",
  ],
  [
    "a server whose path begins with the path of node.url",
    describe([{ url: "/eth/v1" }]),
    "/eth",
    "/v1/a",
    "/eth/v1/a",
  ],
  [
    "a relative server without a slash",
    describe([{ url: "v1" }]),
    "/eth/",
    "/v1/a",
    "/eth/v1/a",
  ],
  [
    "a WebSocket server, too",
    describe([{ url: "wss://a.example/ws" }, PUBLIC]),
    "",
    "/hub/a",
    "/hub/a",
  ],
  [
    "the host and basePath of Swagger",
    { ...SWAGGER, host: "api.example", basePath: "/v1", schemes: ["https"] },
    ...["", "/v1/a", "/v1/a"] as const,
  ],
  [
    "the host of Swagger, and an operation with its own schemes",
    {
      ...{ ...SWAGGER, host: "localhost", basePath: "/", schemes: ["http", "https"] },
      paths: { "/a": { get: { ...GET, schemes: ["https"] } } },
    },
    ...["", "/a", "/a"] as const,
  ],
  [
    "the same server in the document and in a path item",
    { ...describe([PUBLIC]), paths: { "/a": { servers: [PUBLIC], get: GET } } },
    ...["", "/hub/a", "/hub/a"] as const,
  ],
];

for (const [name, from, at, called, url] of CALLED) {
  servers(`calls go to the node if the description has ${name}`, async () => {
    assert.is(await arrives(called, from, { at }), url);
  });
}

servers(
  "an operation is forwarded if its server is relative, but not if the server has another origin",
  async () => {
    const from = describe([PUBLIC]);
    assert.is(await arrives("/elsewhere", from), undefined);
    assert.is(await arrives("/hub/elsewhere", from), undefined);
    assert.is(await arrives("/near/v1/near", from), "/near/v1/near");
  },
);

servers("with base, every operation without its own server is below that path", async () => {
  const lists = [undefined, [PUBLIC], [LOCAL, { url: "/v2" }], [{ url: "wss://a.example/ws" }]];
  for (const list of lists) {
    assert.is(await arrives("/v1/a", describe(list), { base: "/v1" }), "/v1/a");
    node.forget();
    assert.is(await arrives("/v1/near/v1/near", describe(list), { base: "/v1" }), undefined);
    assert.is(await arrives("/near/v1/near", describe(list), { base: "/v1" }), "/near/v1/near");
    node.forget();
  }
  assert.is(await arrives("/a", describe([PUBLIC]), { base: "/" }), "/a");
  node.forget();
  const repeated = { ...describe([PUBLIC]), paths: { "/a": { servers: [PUBLIC], get: GET } } };
  assert.is(await arrives("/v1/a", repeated, { base: "/v1" }), "/v1/a");
});

servers(
  "if the servers have different paths, the first path is used unless base is set",
  async () => {
    const from = describe([PUBLIC, { url: "https://b.example/v1" }]);
    assert.is(await arrives("/v1/a", from), undefined);
    assert.is(await arrives("/hub/a", from), "/hub/a");
    node.forget();
    assert.is(await arrives("/hub/a", from, { base: "/v1" }), undefined);
    assert.is(await arrives("/v1/a", from, { base: "/v1" }), "/v1/a");
  },
);

servers("a server that is the node itself comes before public ones, and no note asks", async () => {
  const local = { url: node.url.replace("127.0.0.1", "localhost") };
  const own = [{ url: "https://rpc.example/far" }, { url: `${local.url}/near` }];
  const from = describe([PUBLIC, { url: "https://rpc.example/v1" }, local]);
  const paths = { ...from.paths, "/a": { servers: [PUBLIC, ...own], get: GET } };
  assert.is(await arrives("/near/a", { ...from, paths }), "/near/a");
  node.forget();
  assert.is(await arrives("/hub/b", { ...from, paths: { "/b": { get: GET } } }), undefined);
  assert.is(await arrives("/b", { ...from, paths: { "/b": { get: GET } } }), "/b");
  const { diagnostics } = await load({ text: JSON.stringify(from) }, { node: node.url });
  assert.equal(diagnostics.map(formatDiagnostic), []);
});

servers(
  "a relative server means the node, even in a description from another origin",
  async () => {
    await using other = await serveFetch(() =>
      Promise.resolve(Response.json(describe([{ url: "v1" }])))
    );
    const app = createNodeface({
      node: { url: node.url, kind: "none" },
      forward: { open: ["GET /v1/a"] },
      description: `${other.url}/docs/openapi.json`,
      log() {},
    });
    assert.is(
      (await app.fetch(new Request("http://localhost/v1/node/v1/a"))).status,
      200,
    );
    assert.is(node.received[0]?.url, "/v1/a");
  },
);

/** `said` is the message that `check` prints. */
const NOTHING: readonly (readonly [
  from: object | undefined,
  config: object,
  said: string,
])[] = [
  [
    { ...describe(), paths: { "/a": { servers: [PUBLIC], get: GET } } },
    {},
    `the description names servers other than the node:
  https://rpc.example/hub
These servers belong to single paths or operations. Remove them there, or replace them with:
  servers: [{ url: / }]
`,
  ],
  [
    describe([PUBLIC]),
    {},
    "Other operations are not forwarded: their servers are https://other.example\n",
  ],
  [{ ...describe(), paths: {} }, {}, "the description has no operations\n"],
  [{ openapi: 5 }, {}, "the description cannot be shown; see above\n"],
  [
    undefined,
    { description: "none" },
    'description is "none"; unset it, or name a description\n',
  ],
  [
    undefined,
    {},
    "the node has no description; set node.kind or description\n",
  ],
];

for (const [from, config, said] of NOTHING) {
  servers(
    `check explains why an operation cannot be called, and suggests a correction: ${
      said.split("\n").at(-2)
    }`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
      try {
        const description = join(folder, "openapi.json");
        if (from) writeFileSync(description, JSON.stringify(from));
        const { report } = await checkConfig({
          ...{
            command: "check",
            remarks: [],
            host: "127.0.0.1",
            port: 0,
            accessLog: "off",
            logCalls: "off",
          },
          ...{
            node: { url: node.url, kind: "none" },
            kinds: {},
            info: {},
            forward: resolveForward({ open: ["reads"] }),
          },
          ...from && { description },
          ...config,
        });
        const [, calls = ""] = /# Calls\n(?:note .*\n)*([^]*?)\n# Verdict/.exec(
          report,
        )!;
        const table = /^OPERATION[^]* allowed .*\n/.exec(calls)?.[0] ?? "";
        assert.is(
          calls.slice(table.length).replaceAll(description, "FILE"),
          table ? said : `Nothing can be called: ${said}`,
        );
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
}

servers.run();
