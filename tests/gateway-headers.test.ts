/** Tests which request headers a description can make the service forward to the node. */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { lintUnsent } from "../src/gateway/lint-settings.ts";
import { resolveForward } from "../src/gateway/policy.ts";
import type { NodefaceOptions } from "../src/index.ts";
import { listNodeOperations } from "../src/openapi/callable-operations.ts";
import { withHomes } from "../src/openapi/home.ts";
import { forwarding, json, nodeOf, type PlayedAnswer, result, RPC, TOKEN } from "./_gateway.ts";
import { readForms } from "./nodes/_forms.ts";

const headers = suite("the headers of a call");

const node = nodeOf(headers);

/** Proxies in front of the service may add these headers, or a client may pretend that one has. */
const CLAIMS = [
  ...[
    "Forwarded",
    "Via",
    "X-Forwarded",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-User",
  ],
  ...[
    "X-Forwarded-Email",
    "X-Forwarded-Groups",
    "X-Forwarded-Client-Cert",
    "X-Real-IP",
  ],
  ...[
    "Client-IP",
    "X-Client-IP",
    "X-Cluster-Client-IP",
    "True-Client-IP",
    "Fastly-Client-IP",
  ],
  ...[
    "CF-Connecting-IP",
    "Cf-Access-Jwt-Assertion",
    "Cf-Access-Authenticated-User-Email",
  ],
  ...[
    "X-Auth-Request-User",
    "X-Auth-Request-Email",
    "X-Auth-User",
    "Remote-User",
    "Remote-Groups",
  ],
  ...[
    "X-Remote-User",
    "X-Remote-Group",
    "X-Remote-Extra-Scopes",
    "X-WebAuth-User",
    "X-WebAuth",
  ],
  ...["X-Amzn-Oidc-Data", "X-Amzn-Oidc-Identity", "X-Goog-IAP-JWT-Assertion"],
  ...[
    "X-Goog-Authenticated-User-Email",
    "X-Ms-Client-Principal",
    "X-Ms-Client-Principal-Name",
  ],
  ...[
    "X-Ms-Token-Aad-Id-Token",
    "X-Pomerium-Jwt-Assertion",
    "X-Pomerium-Claim-Email",
  ],
  ...[
    "Tailscale-User-Login",
    "Tailscale-User-Name",
    "X-Original-URL",
    "X-Original-Host",
  ],
  ...[
    "X-Rewrite-URL",
    "X-Envoy-External-Address",
    "X-Envoy-Original-Path",
    "X-Vouch-User",
  ],
  ...[
    "X-Authentik-Username",
    "X-Authentik-Groups",
    "X-Token-Subject",
    "X-User",
    "X-User-Id",
  ],
  ...[
    "X-Userinfo",
    "X-Consumer-Username",
    "X-Credential-Identifier",
    "OIDC_CLAIM_sub",
  ],
  ...[
    "X-SSL-Client-S-DN",
    "Client-Cert",
    "Impersonate-User",
    "X-Host",
    "X-HTTP-Host-Override",
  ],
  ...[
    "X-Nodeface",
  ],
  ...["x-real-ip", "X_Forwarded_User", "REMOTE_USER", "x_auth_request_user"],
  ...[
    "Authorization",
    "Proxy-Authorization",
    "Cookie",
  ],
];

const ok = { responses: { 200: { description: "" } } };
const inHeader = (name: string, required = false) => ({
  ...{ name, in: "header", required, schema: { type: "string" } },
});
const HARMLESS = ["X-Cursor", "Eth-Consensus-Version", "X-Access-Token", "X-Api-Key", "api_key"];
const HOSTILE = {
  openapi: "3.1.1",
  info: { title: "A node", version: "1" },
  paths: {
    "/claims": {
      get: {
        "x-access": "read",
        ...ok,
        parameters: [...CLAIMS, ...HARMLESS].map((n) => inHeader(n)),
      },
    },
    "/named": {
      get: { "x-access": "read", ...ok, parameters: ["Path", "Query"].map((n) => inHeader(n)) },
    },
    "/needs/user": {
      get: {
        "x-access": "read",
        ...ok,
        parameters: [inHeader("X_Forwarded_User", true)],
      },
    },
    "/needs/key": {
      get: {
        "x-access": "read",
        ...ok,
        parameters: [inHeader("X-Auth-Token", true)],
      },
    },
  },
};

const claiming = () => new Headers([...CLAIMS, ...HARMLESS].map((name) => [name, "claimed"]));

function seen(): string[] {
  const names = new Set(
    node.received.flatMap(({ headers }) => Object.keys(headers)),
  );
  return [...CLAIMS, ...HARMLESS].map((name) => name.toLowerCase())
    .filter((name) => names.has(name));
}

const describing: PlayedAnswer = (request, response) =>
  json(request.url === "/openapi.json" ? HOSTILE : {})(request, response);

const SOURCES: Readonly<Record<string, () => NodefaceOptions>> = {
  "the operator": () => ({ forward: "reads" }),
  "the node": () => ({
    description: `${node.url}/openapi.json`,
    forward: { open: ["GET /claims", "GET /needs/user", "GET /needs/key"] },
  }),
};

for (const [author, options] of Object.entries(SOURCES)) {
  headers(
    `the identity of a client is never forwarded, even if ${author} describes it`,
    async () => {
      node.answer = describing;
      const { ask, app } = forwarding(
        node.url,
        HOSTILE as never,
        "reads",
        options(),
      );
      assert.is(
        (await app.fetch(new Request("http://localhost/spec.json"))).status,
        200,
      );
      node.received = [];
      const { status } = await ask("/v1/node/claims", {
        headers: [...claiming(), ["x-nodeface", "1"]],
      });
      assert.is(status, 200);
      assert.is(node.received.length, 1);
      const passed = author === "the operator" ? HARMLESS : [];
      assert.equal(seen(), passed.map((name) => name.toLowerCase()));
      assert.not.match(
        JSON.stringify(Object.entries(node.received[0]!.headers)),
        /user(?!-agent","nodeface)|method/i,
      );
    },
  );

  headers(
    `an operation that requires such a header is refused if ${author} describes it`,
    async () => {
      node.answer = describing;
      const { ask } = forwarding(
        node.url,
        HOSTILE as never,
        "reads",
        options(),
      );
      const response = await ask("/v1/node/needs/user", {
        headers: { x_forwarded_user: "a" },
      });
      assert.is(response.status, 403);
      const { detail } = await response.json();
      assert.match(
        detail,
        'GET /needs/user is not forwarded: the header "X_Forwarded_User" is required, but never forwarded',
      );
      assert.is(
        node.received.filter(({ url }) => url.startsWith("/needs")).length,
        0,
      );
      // The service itself may send the node's credentials.
      assert.is((await ask("/v1/node/needs/key")).status, 200);
    },
  );
}

headers(
  "what a description from the network describes, but is never sent, is said and not asked for",
  async () => {
    const parameters = [
      ...[inHeader("X-Tenant", true), inHeader("Accept"), inHeader("If-Match")],
      ...["q", "token"].map((name) => ({ name, in: "query", schema: { type: "string" } })),
    ];
    const needed = [{ name: "access_token", in: "query", required: true, schema: {} }];
    const paths = {
      "/items": { get: { ...ok, parameters } },
      "/tokens": { get: { ...ok, parameters: needed } },
    };
    node.answer = (request, response) =>
      json(request.url === "/openapi.json" ? { ...HOSTILE, paths } : {})(request, response);
    const { ask, app } = forwarding(node.url, HOSTILE as never, "reads", {
      description: `${node.url}/openapi.json`,
      forward: { open: ["GET /items", "GET /tokens"] },
    });
    const { paths: shown } = await (await ask("/spec.json")).json();
    assert.is(shown["/items"].get["x-call"], "open");
    assert.is(shown["/items"].get.description, 'Never taken from a call: "X-Tenant", "token".');
    assert.equal(shown["/items"].get.parameters, parameters);
    assert.match(
      shown["/tokens"].get.description,
      'parameter "access_token" is required, but never',
    );
    const page = await (await app.fetch(new Request("http://localhost/v1/spec/simple"))).text();
    const form = readForms(page).forms.find(({ address }) => address.endsWith("/items"))!;
    assert.equal(form.fields.map(({ name }) => name), ["If-Match", "q"]);
    const { detail } = await (await ask("/v1/node/items?token=0xabc")).json();
    assert.match(detail, "The query parameter token is never sent to the node, because the");
    const document = { ...HOSTILE, servers: [{ url: "./v1/node" }], paths };
    const notes = lintUnsent(
      await listNodeOperations(await withHomes(document), "network"),
      resolveForward({ open: ["GET /items", "GET /tokens"] }),
    );
    assert.equal(notes.map(({ message }) => message), [
      'headers that only a description from the network describes are never taken from calls (x-tenant): "GET /items"',
      'query parameters for tokens in a description from the network are never sent to the node (token): "GET /items"',
    ]);
  },
);

headers("a client with a token may call an operation that has a parameter `token`", async () => {
  process.env.GATEWAY_HEADERS_TOKEN = TOKEN;
  const parameters = [{ name: "token", in: "query", schema: { type: "string" } }];
  const paths = { "/balance": { get: { ...ok, parameters } } };
  const { ask } = forwarding(node.url, { ...HOSTILE, paths } as never, {
    open: ["reads"],
    clients: [{ name: "app", allow: ["GET /balance"], token_env: "GATEWAY_HEADERS_TOKEN" }],
  });
  const authorization = { headers: { authorization: `Bearer ${TOKEN}` } };
  assert.is((await ask("/v1/node/balance?token=0xabc", authorization)).status, 200);
  assert.equal(node.received.map(({ url }) => url), ["/balance?token=0xabc"]);
  assert.is((await ask("/v1/node/balance?token=0xabc")).status, 401);
  assert.is((await ask(`/v1/node/balance?token=${TOKEN}`, authorization)).status, 400);
  assert.is(node.received.length, 1);
  const [method] = RPC.methods as unknown as [object];
  const balance = {
    ...{ ...method, name: "balance", "x-access": "read" },
    params: [{ name: "token", schema: { type: "string" } }],
  };
  const rpc = forwarding(node.url, { ...RPC, methods: [balance] } as never, {
    open: [],
    clients: [{ name: "app", allow: ["balance"], token_env: "GATEWAY_HEADERS_TOKEN" }],
  });
  node.answer = result('"7"');
  assert.is((await rpc.ask("/v1/rpc/balance?token=0xabc", authorization)).status, 200);
});

headers(
  "a client's token is not forwarded in a header of another name",
  async () => {
    process.env.GATEWAY_HEADERS_TOKEN = TOKEN;
    const settings = {
      open: ["reads"],
      clients: [{ name: "app", allow: ["send"], token_env: "GATEWAY_HEADERS_TOKEN" }],
    };
    const { ask } = forwarding(node.url, HOSTILE as never, settings);
    const forms = [
      TOKEN,
      `Bearer ${TOKEN}`,
      `Basic ${btoa(`:${TOKEN}`)}`,
      `Basic ${btoa(`user:${TOKEN}`)}`,
      btoa(`user:${TOKEN}`).replaceAll("=", ""),
      `a="${TOKEN}"`,
    ];
    for (const form of forms) {
      const response = await ask("/v1/node/claims", {
        headers: { "X-Cursor": form },
      });
      assert.is(response.status, 400, form);
      const { detail } = await response.json();
      assert.is(
        detail,
        "The header x-cursor contains a client's token, which is never forwarded",
      );
    }
    for (const name of ["path", "query"]) {
      const response = await ask("/v1/node/named", { headers: { [name]: TOKEN } });
      assert.is(response.status, 400, name);
      const { detail } = await response.json();
      assert.is(detail, `The header ${name} contains a client's token, which is never forwarded`);
    }
    assert.is(node.received.length, 0);
    const other = btoa(`user:${TOKEN.replace("a", "b")}`);
    assert.is(
      (await ask("/v1/node/claims", { headers: { "X-Cursor": other } })).status,
      200,
    );
  },
);

headers.run();
