/** Tests custom kinds, their restrictions, and the kind files that the command prints. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { stringify } from "yaml";
import { LightSignal } from "../src/abort-signal.ts";
import { ConfigError } from "../src/settings/schema.ts";
import { readConfig } from "./_config.ts";
import { formatKindFile } from "../src/cli/kinds.ts";
import { loadInterface } from "../src/description/known-interface.ts";
import { KINDS } from "../src/generated/kinds.js";
import { createNodeface } from "../src/index.ts";
import { detectKind } from "../src/info/detect-kind.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { assertPrinted } from "./_printed-kinds.ts";
import { contextFor, play, playedBy } from "./_sources.ts";

const own = suite("custom kinds");

/**
 * Without arguments, `text` is the configuration. With arguments, `text` is the content of the
 * `--kind` file.
 */
const read = (text: string, args: string[] = []) =>
  readConfig(args, {}, {
    read: () => Promise.resolve(text),
    readBytes: () => Promise.reject(new Error("no such file")),
    find: () => Promise.resolve(),
    isThere: () => Promise.resolve(args.length === 0),
  });

const readOwn = async (kind: object) => await read(stringify({ kinds: [kind] }));

async function wrongOf(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work;
    return [];
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as ConfigError).problems;
  }
}

const METHOD = {
  name: "hardhat_mine",
  summary: "Mine blocks",
  paramStructure: "by-position",
  params: [{ name: "blocks", schema: { type: "string" } }],
  result: { name: "done", schema: { type: "boolean" } },
  "x-access": "write",
};

const HARDHAT = { name: "hardhat", extends: "ethereum", openrpc: { methods: [METHOD] } };

own("a kind can extend a built-in kind, both in the `kinds` list and in its own file", async () => {
  const before = await loadInterface("ethereum");
  const { name, ...file } = { ...HARDHAT, detect: { "client#": "^HardhatNetwork/" } };
  const ways = [
    await readOwn({ ...file, name }),
    await read(stringify(file), ["--kind", "hardhat.yaml"]),
  ];
  for (const { kinds } of ways) {
    const { openrpc, ...kind } = kinds.hardhat!;
    assert.equal(openrpc!.methods.slice(0, -1), before.openrpc!.methods);
    assert.equal(openrpc!.methods.at(-1), METHOD);
    assert.equal(kind.detect, { ...KINDS.ethereum!.detect, "client#": "^HardhatNetwork/" });
    assert.equal(kind.fields, KINDS.ethereum!.fields);
  }
  const unnamed = await readOwn({ ...HARDHAT, name: undefined });
  assert.equal(
    Object.keys(unnamed.kinds),
    ["ethereum"],
    "without a name, the kind replaces the extended kind",
  );
});

own("a kind without fields tells whether its node responds", async () => {
  const kind: Kind = {
    title: "Mine",
    url: "http://127.0.0.1:1",
    detect: { "it#/it": "^it$" },
    sources: { it: { get: "/it" } },
    fields: {},
    health: { ok: "it responds" },
  };
  const ruled: Kind = {
    ...kind,
    health: {
      ...kind.health,
      rules: [{ when: { "it#/full": "^true$" }, code: "alarm", reason: "is full" }],
    },
  };
  const node = await play((_, response) => response.end('{"it":"it","full":true}'));
  const statusOf = async (url: string, mine: Kind) => {
    const app = createNodeface({ node: { url, kind: "mine" }, kinds: { mine }, log: () => {} });
    const { status, status_code } = await (await app.fetch(
      new Request("http://localhost/v1/info"),
    )).json();
    await app.close();
    return [status, status_code];
  };
  const statusInTime = async (mine: Kind) => {
    let found = await statusOf(node.url, mine);
    while (found[1] === "timeout") found = await statusOf(node.url, mine);
    return found;
  };
  assert.equal(await statusInTime(kind), ["ok", undefined]);
  assert.equal(await statusInTime(ruled), ["degraded", "alarm"]);
  await node.close();
  assert.equal(await statusOf(node.url, kind), ["unreachable", "connection_refused"]);
});

own("a method that only a client may call can be called only with its token", async () => {
  const { kinds: { hardhat } } = await readOwn(HARDHAT);
  const tokenFile = join(mkdtempSync(join(tmpdir(), "nodeface-")), "token");
  const token = "0123456789abcdef0123456789abcdef";
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const called: string[] = [];
  const node = await play((request, response) => {
    let body = "";
    request.on("data", (part) => body += part).on("end", () => {
      const { id, method } = JSON.parse(body || "{}");
      if (method === "hardhat_mine") called.push(body);
      response.setHeader("content-type", "application/json").end(`{"id":${id ?? 0},"result":true}`);
    });
  });
  const { extends: _, ...whole } = hardhat!;
  const app = createNodeface({
    node: { url: node.url, kind: "hardhat" },
    kinds: { hardhat: whole },
    forward: {
      open: ["reads"],
      clients: [{ name: "app", allow: ["hardhat_mine"], token_file: tokenFile }],
    },
    log: () => {},
  });
  await app.refresh();
  const mine = (headers: Record<string, string>) =>
    app.fetch(
      new Request("http://localhost/v1/rpc/hardhat_mine", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: '{"blocks":"0x3"}',
      }),
    );
  assert.is((await mine({})).status, 401);
  assert.equal(called, []);
  const done = await mine({ authorization: `Bearer ${token}` });
  assert.equal([done.status, await done.text()], [200, "true"]);
  assert.equal(called.map((body) => JSON.parse(body).params), [["0x3"]]);
  await app.close();
  await node.close();
  // The library accepts only complete kinds, without `extends`.
  assert.throws(
    () => createNodeface({ kinds: { hardhat: HARDHAT as unknown as Kind } }),
    /kinds.hardhat.extends is only allowed in an operator's files/,
  );
});

own("an extending kind can add or replace sources, fields, rules and components", async () => {
  const { kinds } = await readOwn({
    ...{ name: "mine", extends: "bitcoin", title: "Mine" },
    sources: { fee: { jsonrpc: "estimatefee", params: [6] } },
    fields: { fee: "fee#" },
    health: {
      rules: [{ when: { "fee#": null }, code: "alarm", reason: "has no fee" }],
      networks: { mine: { quiet: "1h", peers: 2 } },
    },
    openrpc: {
      methods: [{
        ...METHOD,
        result: { name: "x", schema: { $ref: "#/components/schemas/Hash" } },
      }],
      components: { schemas: { Mine: { type: "string" } } },
    },
  });
  const { title, sources, fields, health, openrpc, tried } = kinds.mine!;
  assert.equal([title, tried], ["Mine", undefined], "the extending kind has not been tested");
  assert.equal(sources.net, KINDS.bitcoin!.sources.net);
  assert.equal(Object.keys(fields), [...Object.keys(KINDS.bitcoin!.fields), "fee"]);
  assert.is(health.ok, KINDS.bitcoin!.health.ok);
  assert.is(health.rules![0]!.reason, "has no fee");
  assert.equal(health.networks, {
    ...KINDS.bitcoin!.health.networks,
    mine: { quiet: "1h", peers: 2 },
  });
  assert.ok(openrpc!.components!.schemas!.Hash && openrpc!.components!.schemas!.Mine);
});

own("an extension replaces the tag of the same name", async () => {
  const { kinds } = await readOwn({
    ...{ name: "mine", extends: "syncthing" },
    openapi: {
      tags: [{ name: "System", description: "Mine" }],
      paths: {
        "/rest/mine": {
          get: {
            operationId: "mine",
            summary: "Mine",
            tags: ["System"],
            "x-access": "read",
            responses: { "200": { description: "Mine" } },
          },
        },
      },
    },
  });
  const tags = kinds.mine!.openapi!.tags as readonly { name: string; description?: string }[];
  const names = tags.map(({ name }) => name);
  assert.equal(names, [...new Set(names)]);
  assert.is(tags.find(({ name }) => name === "System")!.description, "Mine");
});

own("extending a kind of one's own, or an unknown one, is one error", async () => {
  const wrong = await wrongOf(read(`kinds:
  - { name: mine, extends: other }
  - { name: other, extends: ethereum }
`));
  assert.equal(wrong, [
    'nodeface.yaml:2:28: kinds[0].extends must be a known kind (see nodeface kinds), not "other"',
  ]);
});

own("errors are reported at their position, even if they depend on the extended kind", async () => {
  const wrong = await wrongOf(read(`kinds:
  - extends: etherium
  - extends: geth
  - { name: a, extends: ethereum, fields: { x: chian#/a }, colour: blue }
  - { name: b, extends: ethereum, openrpc: { path: /rpc, methods: [{ name: x }] } }
  - { name: c, extends: etcd, openapi: { servers: [{ url: /v1 }], paths: {} } }
  - {}
  - { name: d, title: Mine }
`));
  for (
    const line of [
      '2:14: kinds[0].extends must be a known kind (see nodeface kinds), not "etherium"; did you mean ethereum?',
      '3:14: kinds[1].extends must be a known kind (see nodeface kinds), not "geth"; did you mean ethereum?',
      'kinds[2].fields.x names the source "chian", which does not exist; did you mean chain?',
      "kinds[2].colour is an unknown key",
      "kinds[3].openrpc.path is inherited from ethereum; remove it",
      "kinds[3].openrpc.methods[0] needs x-access",
      "7:5: kinds[5] must be a file such as mine.yaml, or an object with name or extends",
      "8:5: kinds[6] needs url",
    ]
  ) {
    assert.ok(wrong.some((one) => one.includes(line)), `${line}\n${wrong.join("\n")}`);
  }
});

own("x-access may become stricter, but looser only if loosen lists the method", async () => {
  const { openrpc } = await loadInterface("ethereum");
  const [read, write] = ["eth_getBalance", "eth_sendTransaction"].map((name) =>
    openrpc!.methods.find((method) => method.name === name)!
  );
  const of = (method: object, more: object = {}) =>
    readOwn({ name: "mine", extends: "ethereum", openrpc: { methods: [method] }, ...more });
  const stricter = await of({ ...read!, "x-access": "write" });
  const marks = (kind: Kind) => kind.openrpc!.methods.find(({ name }) => name === read!.name)!;
  assert.is(marks(stricter.kinds.mine!)["x-access"], "write");
  assert.equal(await wrongOf(of({ ...read!, summary: "Another" })), []);

  const looser = { ...write!, "x-access": "read" };
  const [message] = await wrongOf(of(looser));
  assert.match(
    message!,
    'methods[0] is marked "read", but the known kind marks such calls as write; if that is intended, write loosen: [eth_sendTransaction]',
  );
  const { kinds, remarks } = await of(looser, { loosen: ["eth_sendTransaction"] });
  assert.is(kinds.mine!.extends, "ethereum");
  assert.match(
    remarks.map(({ message }) => message).join("\n"),
    'in the kind mine, eth_sendTransaction is marked "read", but the known kind marks such calls as write',
  );
  const others = { ...read!, params: [] };
  assert.match(
    (await wrongOf(of(others)))[0]!,
    'is marked "read", but its parameters differ from those in the base kind',
  );
  const unused = await wrongOf(of(read!, { loosen: ["eth_call"] }));
  assert.match(
    unused[0]!,
    'loosen[0] is "eth_call", but this kind does not make that operation less restricted',
  );
  const bare = { ...read!, "x-access": undefined };
  assert.match((await wrongOf(of(bare)))[0]!, "needs x-access");
});

own("an extension cannot add software or versions to a read of its base", async () => {
  const { openrpc } = await loadInterface("bitcoin");
  const method = openrpc!.methods.find(({ name }) => name === "createmultisig")!;
  const of = (marks: object) =>
    wrongOf(readOwn({
      name: "mine",
      extends: "bitcoin",
      openrpc: { methods: [{ ...method, ...marks }] },
    }));
  assert.equal(await of({ summary: "Another" }), []);
  for (const earlier of [undefined, "0.16", "0"]) {
    assert.match((await of({ "x-since": earlier }))[0]!, "but of earlier versions than");
  }
  for (const others of [undefined, ["dogecoin"], ["satoshi", "dogecoin"]]) {
    assert.match((await of({ "x-software": others }))[0]!, "but also of other software than");
  }
  for (const less of [{ "x-since": "0.18" }, { "x-since": "1" }, { "x-software": ["satoshi"] }]) {
    assert.equal(await of(less), []);
  }
  assert.equal(await of({ "x-software": undefined, "x-access": "write" }), []);
});

own("x-cost and x-streaming of an extended kind cannot be removed", async () => {
  const { openapi } = await loadInterface("activitypub");
  for (const mark of ["x-cost", "x-streaming"]) {
    const found = Object.entries(openapi!.paths).find(([, item]) =>
      (item.get as Record<string, unknown> | undefined)?.[mark] !== undefined
    );
    if (!found) continue;
    const [path, item] = found;
    const get = { ...item.get as object, [mark]: undefined };
    const kind = { name: "mine", extends: "activitypub", openapi: { paths: { [path]: { get } } } };
    assert.match((await wrongOf(readOwn(kind)))[0]!, `no longer has ${mark}`, path);
  }
});

own(
  "a new path must not allow more than a path that it overlaps, unless loosen lists the operation",
  async () => {
    const extend = (base: string, path: string, method: string, more: object = {}) => {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const parameters = names.map((name) => ({
        name,
        in: "path",
        required: true,
        schema: { type: "string" },
      }));
      const operation = {
        ...{ operationId: "mine", summary: "Mine", "x-access": "read", parameters },
        responses: { 200: { description: "It is done" } },
      };
      const openapi = { paths: { [path]: { [method]: operation } } };
      return readOwn({ name: "mine", extends: base, openapi, ...more });
    };
    for (
      const [base, path, method, was] of [
        ["ergo", "/wallet/transactionsByScanId/7", "get", "secret"],
        ["syncthing", "/rest/config/folders/abc", "delete", "write"],
        ["syncthing", "/rest/config/folders/{id}/", "delete", "write"],
        ["syncthing", "/REST/config/%66olders/{x}", "delete", "write"],
        ["syncthing", "/rest/config/\uff46olders/{x}", "delete", "write"],
        // The path takes JSON-RPC.
        ["ethereum", "/", "post", "write"],
        ["bitcoin", "/wallet/a", "post", "write"],
        ["monero", "/json_rpc", "post", "write"],
        ["monero", "/{name}", "post", "write"],
      ] as const
    ) {
      const [message] = await wrongOf(extend(base, path, method));
      assert.match(
        message!,
        `is marked "read", but the known kind marks such calls as ${was}; if that is intended`,
        path,
      );
      const { kinds } = await extend(base, path, method, { loosen: ["mine"] });
      assert.ok(kinds.mine, path);
    }
    assert.equal(await wrongOf(extend("syncthing", "/rest/of-mine/{id}", "get")), []);
    assert.equal(await wrongOf(extend("monero", "/get_more", "post")), []);
    const deep = await wrongOf(extend("bee", "/bzz/{address}/a/b/c", "get"));
    assert.match(
      deep.join(),
      `is marked "read", but the known kind marks such calls as write`,
      "a parameter of the base spans segments",
    );
  },
);

own(
  "a kind refers to no security scheme, so that clients' own keys never reach its node",
  async () => {
    const get = {
      ...{ operationId: "mine", summary: "Mine", "x-access": "read", responses: {} },
      security: [{ Key: [] }],
    };
    const components = { securitySchemes: { Key: { type: "apiKey", in: "header", name: "key" } } };
    const openapi = { paths: { "/mine": { get } }, components };
    const wrong = await wrongOf(readOwn({ name: "mine", extends: "etcd", openapi }));
    assert.match(wrong.join(), "security is an unknown key");
    for (const name of Object.keys(KINDS)) {
      const { openapi } = await loadInterface(name) ?? {};
      assert.is(openapi?.components?.securitySchemes, undefined, name);
    }
  },
);

own("parameters for all of a path's operations need loosen for those that are read", async () => {
  const parameters = [{ name: "subs", in: "query", schema: { type: "string" } }];
  const extend = (more: object = {}) => {
    const openapi = { paths: { "/subscriptionsz": { parameters } } };
    return readOwn({ name: "mine", extends: "nats", openapi, ...more });
  };
  assert.match(
    (await wrongOf(extend())).join(),
    'parameters is marked "read", but its parameters differ from those in the base kind',
  );
  assert.ok((await extend({ loosen: ["countSubscriptions"] })).kinds.mine);
});

own("a kind can extend only built-in kinds, not files or URLs", async () => {
  for (const base of ["./ethereum.yaml", "https://example.com/ethereum.yaml", "mine"]) {
    const messages = await wrongOf(readOwn({ name: "mine", extends: base }));
    assert.match(messages.join(), "extends must be a known kind", base);
  }
});

own("a component of the extended kind cannot be replaced, since operations use it", async () => {
  const { openapi } = await loadInterface("syncthing");
  const { page } = openapi!.components!.parameters as Record<string, object>;
  const get = {
    ...{ operationId: "mine", summary: "Mine", "x-access": "read" },
    responses: { 200: { description: "It is so" } },
  };
  const extend = (own: object) =>
    readOwn({
      ...{ name: "mine", extends: "syncthing" },
      openapi: { paths: { "/rest/of-mine": { get } }, components: { parameters: { page: own } } },
    });
  assert.equal(await wrongOf(extend(page!)), []);
  assert.match(
    (await wrongOf(extend({ ...page, name: "other" })))[0]!,
    "components.parameters.page is already in syncthing; choose another name",
  );
});

own(
  "a kind file cannot run programs, read or send files, or query other hosts",
  async () => {
    const kind = (source: object, auth?: object) => ({
      ...{
        title: "Mine",
        url: "http://127.0.0.1:9",
        detect: { "a#": "." },
        health: { ok: "it is" },
      },
      ...{ name: "mine", sources: { a: source }, fields: { software: "a#" }, ...auth && { auth } },
    });
    for (
      const source of [
        { command: ["sh", "-c", "id"] },
        { file: "/etc/passwd" },
        { get: "http://elsewhere.example/a" },
        { post: "https://elsewhere.example/a" },
        { jsonrpc: "a", path: "http://elsewhere.example/a" },
      ]
    ) {
      assert.is.not((await wrongOf(readOwn(kind(source)))).length, 0, JSON.stringify(source));
      const { name: _, ...whole } = kind(source);
      assert.throws(() => createNodeface({ kinds: { mine: whole as unknown as Kind } }));
    }
    const refusal = { header: "www-authenticate", pattern: "." };
    const files = [{ basic_file: "~/.ssh/id_rsa" }, { basic_file: "~/.other" }];
    const { kinds } = await readOwn(kind({ get: "/" }, { refusal, files }));
    assert.equal(kinds.mine!.auth, { example: files[0], refusal });
    const added = await readOwn({ name: "mine", extends: "bitcoin", auth: { refusal, files } });
    assert.is(added.kinds.mine!.auth!.files, undefined);
  },
);

const nodeOf = (results: Readonly<Record<string, unknown>>, secret?: string) => {
  const seen: (string | null)[] = [];
  const client = playedBy((_, init) => {
    const authorization = new Headers(init?.headers).get("authorization");
    seen.push(authorization);
    if (secret !== undefined && authorization !== `Basic ${btoa(secret)}`) {
      const headers = { "www-authenticate": 'Basic realm="jsonrpc"' };
      return Promise.resolve(new Response("", { status: 401, headers }));
    }
    if (init?.method !== "POST") return Promise.resolve(new Response("", { status: 404 }));
    const text = String(init.body);
    const calls = [JSON.parse(text)].flat();
    const answers = calls.map(({ id, method }) =>
      method in results
        ? { id, result: results[method] }
        : { id, error: { code: -32601, message: "Method not found" } }
    );
    const body = JSON.stringify(text.startsWith("[") ? answers : answers[0]);
    return Promise.resolve(new Response(body, { headers: { "content-type": "application/json" } }));
  });
  return { client, seen };
};

own(
  "a node that matches an extending kind has that kind; other nodes have the built-in kind",
  async () => {
    const { kinds } = await readOwn({ ...HARDHAT, detect: { "client#": "^HardhatNetwork/" } });
    const kindOf = async (client: string) => {
      const played = nodeOf({ eth_chainId: "0x7a69", web3_clientVersion: client });
      const signal = new LightSignal();
      const all = { ...KINDS, ...kinds };
      const node = contextFor("http://127.0.0.1:1", { kinds: all, client: played.client });
      return (await detectKind(node, signal)).kind;
    };
    assert.is(await kindOf("HardhatNetwork/3.18.0"), "hardhat");
    assert.is(await kindOf("Geth/v1.16.0"), "ethereum");
  },
);

own(
  "a node of an extending kind gets the extended kind's secret if it refuses calls like that kind",
  async () => {
    const file = join(mkdtempSync(join(tmpdir(), "nodeface-")), "cookie");
    writeFileSync(file, "__cookie__:abc");
    const bitcoin = {
      ...KINDS.bitcoin!,
      auth: { ...KINDS.bitcoin!.auth, files: [{ basic_file: file }] },
    };
    const doge: Kind = {
      ...bitcoin,
      extends: "bitcoin",
      detect: { "net#/subversion": "^/Shibetoshi:" },
    };
    const kinds = { ...KINDS, bitcoin, doge };
    const of = async (subversion: string) => {
      const played = nodeOf({ getnetworkinfo: { subversion } }, "__cookie__:abc");
      const signal = new LightSignal();
      const node = contextFor("http://127.0.0.1:1", { kinds, client: played.client });
      return (await detectKind(node, signal)).kind;
    };
    assert.is(await of("/Shibetoshi:1.14.6/"), "doge");
    assert.is(await of("/Satoshi:30.0.0/"), "bitcoin");
    const played = nodeOf({ getnetworkinfo: {} }, "__cookie__:abc");
    const node = contextFor("http://127.0.0.1:1", { kind: "doge", kinds, client: played.client });
    await node.send(
      {
        ...{ method: "POST", url: new URL("http://127.0.0.1:1"), headers: {}, isSentOnce: false },
        body: new TextEncoder().encode('{"id":1,"method":"getnetworkinfo"}'),
        signal: new LightSignal(),
      },
      () => {},
    );
    assert.ok(played.seen.includes(`Basic ${btoa("__cookie__:abc")}`));
  },
);

own("the file that is printed for each kind is valid", async () => {
  // `own-kinds.slow.ts` tests all kinds.
  for (const name of Object.keys(KINDS).filter((_, at) => at % 5 === 0)) {
    await assertPrinted(name);
  }
  const [message] = await wrongOf(formatKindFile("etdc"));
  assert.match(message!, 'unknown kind "etdc"; did you mean etcd?');
  const [lonely] = await wrongOf(read("", ["kinds", "--file"]));
  assert.match(lonely!, "--file needs the name of a kind, as in nodeface kinds etcd --file");
});

own.run();
