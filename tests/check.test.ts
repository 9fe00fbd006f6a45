import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { check as checkConfig, checkOffline } from "../src/cli/check.ts";
import { checkFile, parseConfiguration } from "../src/cli/configuration-file.ts";
import type { Config } from "../src/cli/read-config.ts";
import { KINDS } from "../src/generated/kinds.js";
import { resolveForward } from "../src/gateway/policy.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { extendKind } from "../src/settings/kind-extension.ts";
import { serveFetch } from "./nodes/_played-server.ts";
import { play, RECORDINGS } from "./nodes/_recorded.ts";

const check = suite("nodeface check");

const NOWHERE = "http://127.0.0.1:9";
const DESCRIPTION = new URL("../spec/openapi.yaml", import.meta.url).href;
const MINE: Kind = {
  title: "Mine",
  url: NOWHERE,
  detect: { "info#": "." },
  sources: { info: { get: "/info" } },
  fields: {},
  health: { ok: "it answers" },
};

const configOf = (config: Partial<Config>): Config => ({
  remarks: [],
  host: "127.0.0.1",
  port: 0,
  accessLog: "off",
  logCalls: "failed",
  node: {},
  kinds: {},
  info: {},
  ...config,
});

const checked = (config: Partial<Config>) => checkConfig(configOf(config));

const report = async (config: Partial<Config>) => (await checked(config)).report;

check(
  "if nodes of a kind serve a description, check requests it and reports its URL",
  async () => {
    const found = await report({ node: { url: NOWHERE, kind: "algorand" } });
    assert.match(found, `There is no description of the node at ${NOWHERE}/swagger.json: `);
  },
);

check("check reports each custom field without a value whose source has responded", async () => {
  await using node = await serveFetch(() => Promise.resolve(Response.json({ version: "1.2" })));
  const info = {
    sources: { about: { get: "/about" } },
    fields: { version: "about#/version", peers: "about#/nothing", height: "about#/version" },
  } as const;
  const config = { node: { url: node.url, kind: "none" }, info };
  const found = await report(config);
  for (const [key, from] of [["peers", "about#/nothing"], ["height", "about#/version"]]) {
    assert.match(found, `\nnote  ${key} has no value: ${from} is missing or of another type\n`);
  }
  assert.not.match(found, "version has no value");
  const hidden = await report({ ...config, info: { ...info, hide: ["peers", "height"] } });
  assert.not.match(hidden, "has no value");
});

check("check does not miss synced in the report of a node that is not well", async () => {
  const head = { height: 5, synced: true, head: 1_700_000_000 };
  await using node = await serveFetch(() => Promise.resolve(Response.json(head)));
  const info = {
    sources: { state: { get: "/state" } },
    fields: {
      height: "state#/height",
      synced: "state#/synced",
      head_at: { from: "state#/head", as: "time" },
    },
    stalled_after: "10s",
  } as const;
  const found = await report({ node: { url: node.url, kind: "none" }, info });
  assert.match(found, "no new block");
  assert.not.match(found, "has no value");
});

check("check ignores missing fields of the kind, since not every node has them", async () => {
  await using node = await serveFetch(() => Promise.resolve(Response.json({ etcdserver: "3.6" })));
  const own = { extends: "etcd", fields: { peers: "version#/nothing" } };
  const mine = extendKind(KINDS.etcd!, own) as unknown as Kind;
  const found = await report({ node: { url: node.url, kind: "mine" }, kinds: { mine } });
  assert.equal(found.match(/\S+ has no value/g), ["peers has no value"]);
});

check("if there is no description to read, the report has no section about it", async () => {
  const kinds = { mine: MINE };
  const nodes = [
    { node: {}, file: "nodeface.yaml" },
    { node: { url: NOWHERE, kind: "none" } },
    { node: { kind: "mine" }, kinds },
    { node: { url: NOWHERE, kind: "mine" }, kinds },
    { node: { url: NOWHERE, kind: "algorand" }, description: "none" },
  ];
  for (const config of nodes) assert.not.match(await report(config), "# Description");
});

check("the verdict says that a node is still syncing, or that no node is configured", async () => {
  for (
    const [recording, verdict] of [
      ["anvil", "All is well"],
      [
        "ethereum-syncing",
        "All is well with the configuration; the node is syncing: it is 20,999,744 blocks behind its peers",
      ],
    ] as const
  ) {
    await using node = await serveFetch(play(RECORDINGS.get(recording)!));
    const kind = "ethereum";
    const text = await report({ node: { url: node.url, kind }, description: "none" });
    assert.match(text, `# Verdict\n${verdict}\n`);
  }
  assert.match(
    await report({ file: "nodeface.yaml" }),
    "All is well; no node is configured, so none was queried\n",
  );
  await report({}).then(
    () => assert.unreachable(),
    ({ message }) => assert.match(message, "name a node"),
  );
});

check(
  "says that the node's own description is shown, and reports what is wrong in it",
  async () => {
    const info = { title: "Of the node", version: "1" };
    const own = { swagger: "2.0", info, paths: { "/v2/status": { get: {} } } };
    await using node = await serveFetch((url) => {
      const isOwn = String(url).endsWith("/swagger.json");
      return Promise.resolve(isOwn ? Response.json(own) : new Response(null, { status: 404 }));
    });
    const found = await report({ node: { url: node.url, kind: "algorand" } });
    assert.match(found, `The description is the node's own, at ${node.url}/swagger.json`);
    assert.match(found, /^note {2}swagger\.json:1:\d+ an operation needs "responses"$/m);
    assert.not.match(found, "There is no description");
  },
);

check("says that the kind's operations are shown if the node's own cannot be read", async () => {
  const text = await report({ node: { url: NOWHERE, kind: "bitcoin" } });
  assert.match(
    text,
    `There is no description of the node at ${NOWHERE} by getopenrpcinfo: the node `,
  );
  assert.match(
    text,
    "The description has the operations of the kind bitcoin; cannot tell what this node lacks",
  );
});

check(
  "check reads the configured description even if nodes of the kind serve their own",
  async () => {
    for (const node of [{}, { url: NOWHERE, kind: "algorand" }]) {
      const found = await report({ node, description: DESCRIPTION });
      assert.match(found, "The description can be shown");
      assert.not.match(found, "swagger.json");
    }
  },
);

check("check reports in plain words that a node cannot be reached", async () => {
  const text = await report({ node: { url: NOWHERE } });
  assert.match(text, "The kind of the node is not known: ");
  assert.not.match(text, /: it connection refused/);
  assert.match(text, "- the node is unreachable: ");
  const known = await report({ node: { url: NOWHERE, kind: "ethereum" } });
  assert.match(known, "by rpc.discover: the node cannot be reached: connection refused");
  assert.match(known, "what this node lacks: it cannot be reached: connection refused");
});

check("a description that a method returns may have more than a mebibyte", async () => {
  const about = { title: "Long", version: "1", description: "x".repeat(2 * 1024 * 1024) };
  const result = { openrpc: "1.3.2", info: about, methods: [] };
  await using node = await serveFetch((_, init) => {
    const { id, method } = JSON.parse(String(init?.body));
    const body = method === "rpc.discover" ? { result } : { error: { code: -32601, message: "" } };
    return Promise.resolve(Response.json({ jsonrpc: "2.0", id, ...body }));
  });
  const text = await report({ node: { url: node.url, kind: "ethereum" } });
  assert.match(text, "by rpc.discover\nThe description can be shown");
});

check("without a description, no name under forward is reported as unknown", async () => {
  const forward = resolveForward({
    clients: [{ name: "app", allow: ["eth_sendTransaction"], token_env: "TOKEN" }],
  });
  const text = await report({ node: { url: NOWHERE }, forward });
  assert.not.match(text, "has no such operation");
  assert.match(
    text,
    'the node\'s kind is unknown (see "Kind"); to list calls nevertheless, set node.kind or description',
  );
  assert.match(text, "connection refused; start the node, or correct its address (node.url)");
});

check(
  "names of no operation are errors with line and column, and each client has a line",
  async () => {
    await using node = await serveFetch(play(RECORDINGS.get("anvil")!));
    const text = `node: { url: ${node.url} }
forward:
  open:
    - eth_chainid
  clients:
    - { name: wallet, token_env: TOKEN, allow: [eth_chainId, eth_sendTransaction, eth_nothing] }
    - { name: dashboard, token_env: OTHER, allow: [reads] }
`;
    const { forward } = checkFile(parseConfiguration(text, "n.yaml"));
    const { report, json } = await checked({ node: { url: node.url, kind: "ethereum" }, forward });
    const unknown = "but the description has no such operation";
    const of = (place: string, list: string, name: string, meant: string) =>
      `error n.yaml:${place}: ${list} names "${name}", ${unknown}; did you mean ${meant}?`;
    assert.match(report, of("4:7", "forward.open", "eth_chainid", "eth_chainId"));
    assert.match(
      report,
      `error n.yaml:6:83: forward.clients wallet names "eth_nothing", ${unknown}`,
    );
    const lines = /# Clients\n([^#]*)\n/.exec(report)![1]!.split("\n");
    assert.is(
      lines[0],
      "wallet may call what everybody may, eth_sendTransaction (write), eth_chainId",
    );
    assert.match(lines[1]!, /^dashboard may call what everybody may, .*, \d+ more$/);
    const { clients: [wallet] } = JSON.parse(json);
    assert.equal(wallet, {
      name: "wallet",
      operations: ["eth_chainId", "eth_sendTransaction"],
      writes_and_secrets: ["eth_sendTransaction"],
    });
  },
);

const many = (count: number) => {
  const wrong = Array.from(
    { length: count },
    (_, i) => `    S${i}: ${i === 0 ? "null" : "text"}\n`,
  );
  return `openapi: 3.1.1\ninfo: { title: a, version: "1" }\npaths: {}\ncomponents:\n  schemas:\n${
    wrong.join("")
  }`;
};

check("check lists all diagnostics for a description, with errors before notes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  try {
    const file = join(folder, "openapi.yaml");
    writeFileSync(file, many(40));
    const found = await report({ description: file });
    const levels = [...found.matchAll(/^(error|note) +openapi\.yaml:/gm)].map(([, level]) => level);
    assert.equal(levels.slice(0, 39), Array(39).fill("error"));
    assert.equal(levels.slice(39), ["note", "note"]);
    assert.match(found, "- errors in the description: 39");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

check(
  "faults in a description that the node serves are notes, since nobody here can mend them",
  async () => {
    const mine: Kind = { ...MINE, description: "/openapi.yaml" };
    await using node = await serveFetch((url) =>
      Promise.resolve(String(url).endsWith("/info") ? Response.json({}) : new Response(many(2)))
    );
    const description = `${node.url}/openapi.yaml`;
    for (
      const config of [
        { node: { url: node.url, kind: "mine" }, kinds: { mine } },
        { node: { url: node.url, kind: "none" }, description },
      ]
    ) {
      const { isWell, report, json } = await checked(config);
      assert.match(report, /\nerror openapi\.yaml:7:9 /);
      assert.match(report, /\nnote {2}errors in the description: 1; [^]*# Verdict\nAll is well/);
      const { ok, troubles, notes } = JSON.parse(json);
      assert.equal([isWell, ok, troubles], [true, true, []]);
      assert.match(
        notes.join("\n"),
        "errors in the description: 1; the description is the node's own",
      );
    }
    // A document elsewhere is the operator's choice.
    await using far = await serveFetch(() => Promise.resolve(new Response(many(2))));
    const elsewhere = { node: { url: node.url, kind: "none" }, description: `${far.url}/a.yaml` };
    const { isWell, json } = await checked(elsewhere);
    assert.equal([isWell, JSON.parse(json).troubles], [false, ["errors in the description: 1"]]);
  },
);

check("the JSON object contains kind, sources, findings, calls and info", async () => {
  await using node = await serveFetch(play(RECORDINGS.get("anvil")!));
  const config = {
    node: { url: node.url },
    forward: resolveForward({ open: ["reads"] }),
    file: "nodeface.yaml",
  };
  const { json, isWell } = await checked({ ...config, host: "0.0.0.0", hosts: ["node.example"] });
  const found = JSON.parse(json);
  const page = readFileSync(new URL("../docs/deployment.md", import.meta.url), "utf8");
  const [, table = ""] = /## Check from a program([^]*?)\n#/.exec(`${page}\n#`)!;
  const documented = [...table.matchAll(/^\| `(\w+)` /gm)].map(([, key]) => key);
  assert.equal(Object.keys(found), documented);
  assert.equal([found.ok, isWell, found.troubles], [true, true, []]);
  assert.match(found.notes.join(), "every client that reaches 0.0.0.0 may call");
  assert.equal([found.configuration, found.url], ["nodeface.yaml", node.url]);
  assert.is(found.kind.name, "ethereum");
  assert.type(found.kind.because, "string");
  const head = found.sources.find(({ name }: { name: string }) => name === "client");
  assert.equal([head.asks, Object.keys(head.gave)], ["web3_clientVersion", [""]]);
  assert.type(head.took_ms, "number");
  assert.is(found.description.shown, true);
  const call = found.calls.find(({ operation }: { operation: string }) =>
    operation === "eth_chainId"
  );
  assert.equal([call.mark, call.call], ["read", "allowed"]);
  assert.is(found.info.status, "ok");
});

check("the output contains no API key from a URL, so that the output can be shared", async () => {
  await using node = await serveFetch(() => Promise.resolve(new Response("no", { status: 500 })));
  const get = new URL("x?api_key=geheim&b=geheim", node.url).href;
  const config = {
    node: {},
    info: {
      sources: { far: { get }, near: { command: ["echo", get] } },
      fields: { a: "far#/a" },
    } as const,
    description: new URL("openapi.json?key=geheim", node.url).href,
  };
  const { report: found, json } = await checked(config);
  assert.not.match(found + json, "geheim");
  assert.match(found, "/x?api_key=***&b=***");
  assert.is(JSON.parse(json).sources[0].asks, `GET ${get.replaceAll("geheim", "***")}`);
});

check("the JSON object contains the position of each diagnostic", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  try {
    const file = join(folder, "openapi.yaml");
    writeFileSync(file, many(2));
    const { json, isWell } = await checked({ node: { url: NOWHERE }, description: file });
    const { ok, troubles, kind, info, description, calls } = JSON.parse(json);
    assert.equal([ok, isWell, calls], [false, false, undefined]);
    assert.match(
      troubles.join("\n"),
      /^the node is unreachable: .*\nerrors in the description: 1$/,
    );
    assert.is(kind.name, undefined);
    assert.is(info.status_code, "connection_refused");
    const { level, file: name, line, column, message } = description.findings[0];
    assert.equal([level, name, line, column], ["error", "openapi.yaml", 7, 9]);
    assert.type(message, "string");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

check(
  "check reports names that a remote description can move to another operation, and suggests safe names",
  async () => {
    const get = { operationId: "getStatus", responses: { 200: { description: "" } } };
    await using node = await serveFetch(() =>
      Promise.resolve(Response.json({
        openapi: "3.1.1",
        info: { title: "a", version: "1" },
        paths: { "/a": { get } },
      }))
    );
    const { json, isWell } = await checked({
      node: { url: node.url, kind: "none" },
      description: new URL("openapi.json", node.url).href,
      forward: resolveForward({ open: ["getStatus", "GET /*"] }),
    });
    const { troubles, calls } = JSON.parse(json);
    assert.is(isWell, false);
    assert.match(troubles[0], /"getStatus", an operationId that .*; write "GET \/a"$/);
    assert.match(troubles[1], /"GET \/\*", but \* does not match .*; write "GET \/a"$/);
    assert.equal([calls[0].operation, calls[0].call], ["GET /a", "refused"]);
  },
);

const operation = { responses: { 200: { description: "It is done" } } };
const read = { ...operation, "x-access": "read" };

/** @param paths the operations of a description in a file */
async function checkedFile(paths: object, config: Partial<Config> = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  const file = join(folder, "description.json");
  const head = { openapi: "3.1.0", info: { title: "A", version: "1" }, servers: [{ url: "/" }] };
  writeFileSync(file, JSON.stringify({ ...head, paths }));
  const node = { url: NOWHERE, kind: "none" };
  const forward = resolveForward("reads");
  const text = await report({ node, forward, description: file, ...config });
  rmSync(folder, { recursive: true });
  return text;
}

check("check suggests forward.open only for unmarked GETs that can be called", async () => {
  const item = { get: operation, put: operation, delete: operation, post: operation };
  const parameters = ["a", "b"].map((name) => ({
    ...{ name, in: "path", required: true, schema: { type: "string" } },
  }));
  const text = await checkedFile({
    "/marked": { get: read },
    "/zones": item,
    "/{a}{b}": { get: { ...operation, parameters } },
    "/responses?beta=true": { get: operation },
    "/events": { get: { ...operation, "x-streaming": true } },
  });
  assert.match(text, '    open:\n      - reads\n      - "GET /zones"\n');
  assert.not.match(text, /- "(?:PUT|POST|DELETE) |- ".*(?:beta|events|\{a\})/);
  assert.match(text, /GET \/responses\?beta=\*\*\* +- +refused +- +its path has a query/);
});

check("check suggests no lines for a description without marks", async () => {
  const text = await checkedFile({ "/keys": { get: operation }, "/zones": { get: operation } });
  assert.match(
    text,
    "2 operations have no access mark. Before you allow one, read what it returns",
  );
  assert.not.match(text, /- "GET/);
});

check("check says at which address each operation is called", async () => {
  const paths = {
    "/blocks": { get: read },
    "/v1/info": { get: read },
    "/keys": { get: operation },
  };
  const addresses = (text: string) =>
    [...text.matchAll(/^(?:GET )?(\/?\w\S*) +\S+ +(?:allowed|refused) +(\S+)/gm)]
      .map(([, name, address]) => `${name} ${address}`);
  const forward = { ...resolveForward("reads"), at_root: true };
  assert.equal(addresses(await checkedFile(paths, { forward })), [
    "/blocks /blocks",
    "/v1/info /v1/node/v1/info",
    "/keys -",
  ]);
  assert.equal(addresses(await checkedFile(paths)), [
    "/blocks /v1/node/blocks",
    "/v1/info /v1/node/v1/info",
    "/keys -",
  ]);
  const kind = (name: string) => ({ node: { url: NOWHERE, kind: name } });
  const first = async (name: string, of: Config["forward"] = forward) =>
    addresses(await report({ ...kind(name), forward: of })).filter((one) => !one.endsWith("-"))[0];
  assert.is(await first("ethereum"), "eth_chainId /");
  assert.is(await first("ethereum", resolveForward("reads")), "eth_chainId /v1/rpc");
  assert.match(await report({ ...kind("monero"), forward }), /get_block_count .* \/json_rpc /);
});

check(
  "one note names the described headers that are never sent, and their operations",
  async () => {
    const header = (name: string) => ({ name, in: "header", schema: { type: "string" } });
    const withHeaders = (...names: string[]) => ({ ...read, parameters: names.map(header) });
    const text = await checkedFile({
      "/sessions": { get: withHeaders("X-Forwarded-For", "X-Page") },
      "/users": { get: withHeaders("x-forwarded-for", "X_User_Id") },
      "/blocks": { get: withHeaders("X-Page") },
      "/keys": { get: { ...operation, parameters: [header("X-Real-IP")] } },
    });
    assert.equal(text.match(/^.*never sent.*$/gm), [
      "note  headers by which a client could claim an identity are never sent to the node " +
      '(x-forwarded-for, x_user_id): "GET /sessions", "GET /users"',
    ]);
  },
);

check("check lists the read-only operations that do not use the configured secret", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  const auth = { bearer_file: join(folder, "secret") };
  writeFileSync(auth.bearer_file, "a-secret");
  for (
    const [kind, isSaid] of [["activitypub", true], ["nostr", false]] as const
  ) {
    const { json } = await checked({
      node: { url: NOWHERE, kind, auth },
      forward: resolveForward({ open: ["reads"] }),
    });
    assert.is(JSON.parse(json).notes.join().includes("called without node.auth"), isSaid, kind);
  }
  rmSync(folder, { recursive: true });
});

check("check says how often the service itself queries the node", async () => {
  const node = { url: NOWHERE, kind: "bitcoin" };
  assert.match(
    await report({ node, info: { watch: "30s" } }),
    "The service queries the node every 30s, even without requests (info.watch)\n",
  );
  assert.match(
    await report({ node, info: { watch: "off" } }),
    "The service queries the node only when a client sends a request (info.watch: off)\n",
  );
});

check("says where clients can see when the node was down, and how to hide that", async () => {
  const node = { url: NOWHERE, kind: "bitcoin" };
  const notesOf = async (config: Partial<Config>) =>
    JSON.parse((await checked({ node, ...config })).json).notes;
  assert.equal(await notesOf({ host: "0.0.0.0" }), [
    "/v1/history shows the node's downtime to every client that can reach 0.0.0.0; " +
    "to disable it, set info.history: off",
  ]);
  assert.match(
    await report({ node, host: "0.0.0.0" }),
    "note  /v1/history shows the node's downtime to ",
  );
  assert.equal(await notesOf({ host: "0.0.0.0", info: { history: "off" } }), []);
  assert.equal(await notesOf({ host: "127.0.0.1" }), []);
});

check("the disk of a token that is away is no error of the configuration", async () => {
  const config = configOf({
    node: { url: NOWHERE },
    forward: resolveForward({
      open: [],
      clients: [{ name: "app", token_file: "/mnt/token", allow: ["reads"] }],
    }),
  });
  const promises = process.getBuiltinModule("node:fs/promises");
  const { stat } = promises;
  try {
    for (const [code, isWell] of [["ESTALE", true], ["EIO", true], ["ENOENT", false]] as const) {
      const reason = Object.assign(new Error(code), { code });
      promises.stat = (() => Promise.reject(reason)) as unknown as typeof stat;
      const found = checkOffline(config).then(
        ({ report }) => report,
        ({ message }: Error) => message,
      );
      assert.is((await found).includes("has no errors"), isWell, code);
      assert.match(await found, "the token of the client app");
    }
  } finally {
    promises.stat = stat;
  }
});

check.run();
