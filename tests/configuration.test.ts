import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readFileSync } from "node:fs";
import { fileSchema } from "../src/build/json-schema.ts";
import { listKinds, printKind } from "../src/cli/kinds.ts";
import { readConfig } from "../src/cli/configuration.ts";
import { parseFile } from "../src/cli/configuration-file.ts";
import { ConfigError } from "../src/cli/configuration-error.ts";
import { makePlan } from "../src/info/query-plan.ts";
import { KINDS } from "../src/kinds/index.ts";

const config = suite("config");

/** Everything that is wrong with a file. */
function problems(text: string): readonly string[] {
  try {
    parseFile(text, "nodeface.yaml");
    return [];
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as ConfigError).problems;
  }
}

const read = (args: string[], env = {}, file = "") =>
  readConfig(args, env, () => Promise.resolve(file));

config("the example of every key is right", () => {
  const text = `
listen: "[::1]:8080"
log: json
description: openapi.yaml
node:
  public_url: https://node.example/rpc
  url: http://127.0.0.1:9332
  kind: bitcoin
  auth: { basic_file: ~/.litecoin/.cookie }
  timeout: 2s
info:
  ttl: 1s
  stale: 60s
  static: { name: my-node }
  hide: [peers]
  sources:
    chain: { jsonrpc: getblockchaininfo }
    net: { jsonrpc: getnetworkinfo, params: [], path: /rpc, timeout: 500ms }
    id: { get: /api/v0/id, accept: application/json }
    next: { get: "id#/link" }
    hook: { post: /hook, json: { a: 1 } }
    disk: { command: [df, --output=avail, /data], ttl: 60s }
    build: { file: /etc/node/build.json, optional: true }
  fields:
    version: net#/subversion
    height: { from: [chain#/blocks, net#/x], as: sum }
    synced: { from: chain#/initialblockdownload, as: not }
    chain_id: { from: net#/magic, as: hex, unless: net#/hidden }
    members: { from: net#/a, as: { count: /up } }
`;
  assert.equal(problems(text), []);
  assert.equal(parseFile(text, "").listen, { host: "::1", port: 8080 });
  assert.equal(parseFile(JSON.stringify({ log: "text" }), ""), { log: "text" });
  assert.equal(parseFile("", ""), {});
});

config("everything that is wrong is said at once, with its place and what would be right", () => {
  const text = `prot: 1
listen: 127.0.0.1
node: { url: ftp://x, kind: bitcion, timeout: fast }
info:
  ttl: 5
  sources:
    a: { get: nope }
    b: { jsonrpc: 5, foo: 1 }
    c: {}
  fields:
    Height: a#/y
    version: a/subversion
    q: { from: "a#/~3", as: { match: "(" } }
`;
  const found = problems(text);
  for (
    const [place, what] of [
      ["1:1", "prot is no key here; there are listen, log, hosts, cors, description, node, info"],
      ["2:9", "listen must be an address and a port, as in 127.0.0.1:8080"],
      ["3:14", "node.url must be a URL such as"],
      ["3:29", "node.kind must be one of"],
      ["3:47", 'node.timeout must be a duration such as "2s", "500ms" or "1m", not "fast"'],
      ["5:8", 'info.ttl must be a duration such as "2s", "500ms" or "1m", not 5'],
      ["7:15", "info.sources.a.get must be a path"],
      ["8:19", "info.sources.b.jsonrpc must be"],
      ["8:22", "info.sources.b.foo is no key here; there are jsonrpc, params"],
      ["9:5", "info.sources.c must have one of jsonrpc, get, post, file, command"],
      ["11:5", "info.fields.Height must be a key in snake_case"],
      ["12:14", "info.fields.version must be a source, # and a JSON Pointer"],
      ["13:16", "info.fields.q.from must be"],
      ["13:38", "info.fields.q.as.match must be a regular expression"],
    ]
  ) {
    assert.ok(
      found.some((line) => line.startsWith(`nodeface.yaml:${place}: ${what}`)),
      `${place} ${what} is not in\n${found.join("\n")}`,
    );
  }
  assert.is(found.length, 14);
});

config(
  "a description of a file stands beside it, one of a flag where the command runs",
  async () => {
    const of = async (args: string[], file: string) =>
      (await read(["--config", "etc/nodeface.yaml", ...args], { HOME: "/home/a" }, file))
        .description;
    assert.is(await of([], "description: api/openapi.yaml"), "etc/api/openapi.yaml");
    assert.is(await of([], "description: /api/openapi.yaml"), "/api/openapi.yaml");
    assert.is(await of([], "description: ~/openapi.yaml"), "/home/a/openapi.yaml");
    assert.is(await of([], "description: http://a.example/x"), "http://a.example/x");
    assert.is(await of(["--spec", "my.yaml"], "description: api.yaml"), "my.yaml");
    assert.is(await of([], ""), undefined);
    assert.match(
      problems("description: 'http://['")[0]!,
      "1:14: description must be a path or a URL",
    );
  },
);

config("what is not YAML is said with its place", () => {
  assert.match(problems("a: [1\nb: }")[0]!, /^nodeface\.yaml:2:1: /);
});

config("a field that names no source is wrong", () => {
  const wrong = (kind: string) => `node: { kind: ${kind} }\ninfo: { fields: { a: block# } }`;
  assert.equal(problems(wrong("ethereum")), []);
  assert.match(problems(wrong("none"))[0]!, 'nodeface.yaml:2:22: info.fields.a names the source "');
});

config("a secret in a wrong place is not repeated", () => {
  const text = "node: { url: 'http://user:hunter2@x', auth: hunter2 }";
  const found = problems(text).join("\n");
  assert.match(found, "node.url names a secret");
  assert.match(found, "node.auth must have one of");
  assert.not.match(found, "hunter2");
});

config("hosts and origins are lists, or * for any", async () => {
  const file = "{ hosts: [node.example, Other_1], cors: ['https://a.example', 'http://b:8080'] }";
  const { hosts, cors } = await read(["--config", "x"], {}, file);
  assert.equal(hosts, ["node.example", "Other_1"]);
  assert.equal(cors, ["https://a.example", "http://b:8080"]);
  const any = await read(["--config", "x"], {}, "{ hosts: '*', cors: [] }");
  assert.equal([any.hosts, any.cors], ["*", []]);
  for (
    const wrong of [
      "{ hosts: ['a:80'] }",
      "{ hosts: b }",
      "{ cors: ['https://a/b'] }",
      "{ cors: ['https://a:99999'] }",
      "{ cors: ['https://*.a'] }",
      "{ cors: x }",
    ]
  ) {
    await read(["--config", "x"], {}, wrong).then(
      () => assert.unreachable(wrong),
      (error) => assert.match(error.message, /must be/),
    );
  }
});

config("flags win over the environment, that over the file, that over the defaults", async () => {
  const file = "{ listen: 'h:1', log: text, node: { url: 'http://f', kind: etcd } }";
  const env = { PORT: "2", NODEFACE_KIND: "nats", NODEFACE_CONFIG: "x" };
  const found = await read(["http://a", "--port", "3"], env, file);
  assert.equal(found, {
    command: "serve",
    host: "h",
    port: 3,
    log: "text",
    hosts: [],
    cors: "*",
    node: { url: "http://a", kind: "nats" },
    info: {},
  });
  const { host, port, log } = await read([]);
  assert.equal([host, port, log], ["127.0.0.1", 8080, "off"]);
});

config("wrong arguments, environment and file are all reported together", async () => {
  try {
    await read(["--prot", "1", "x", "--port=70000", "--config", "f"], { HOST: "a b" }, "y: 1");
    assert.unreachable();
  } catch (error) {
    const lines = (error as ConfigError).problems;
    for (const part of ["--prot", "NODE_URL", "--port must be", "HOST must be", "f:1:1: y is no"]) {
      assert.ok(lines.some((line) => line.includes(part)), `${part} in ${lines.join("\n")}`);
    }
  }
});

config("commands come first, and take what they take", async () => {
  assert.equal((await read(["check", "http://a"])).command, "check");
  const kinds = await read(["kinds", "ethereum"]);
  assert.equal([kinds.command, kinds.topic], ["kinds", "ethereum"]);
  assert.is((await read(["check", "--help"])).command, "help");
});

config("--help, --version and kinds are there whatever else is wrong", async () => {
  const env = { PORT: "http", HOST: "a b", NODEFACE_CONFIG: "/none" };
  const wrong = ["--port", "http", "--bogus", "x"];
  assert.is((await read(["--help", ...wrong], env)).command, "help");
  assert.is((await read([...wrong, "--version"], env)).command, "version");
  assert.is((await read(["--help", "--version"], env)).command, "help");
  assert.is((await read(["kinds", "etcd"], env)).topic, "etcd");
});

config("what follows -- is no option", async () => {
  assert.is((await read(["--port", "1", "--", "http://a"])).node.url, "http://a");
  assert.is((await read(["check", "--", "http://a"])).command, "check");
  await read(["--", "--port"]).then(
    () => assert.unreachable(),
    (error) => assert.match(error.message, "NODE_URL must be a URL"),
  );
});

config("a URL that cannot be is not repeated: it may hold a secret", async () => {
  for (const url of ["https://rpc.example/?apikey=hidden", "http://user:hidden@host/?x"]) {
    await read([], { NODEFACE_URL: url }).then(
      () => assert.unreachable(url),
      (error) => assert.not.match(error.message, "hidden"),
    );
  }
});

config("an IPv6 address to listen on may stand in brackets", async () => {
  assert.is((await read(["--host", "[::1]"])).host, "::1");
  assert.is((await read([], { HOST: "[::1]" })).host, "::1");
  assert.is((await read([], { HOST: "::1" })).host, "::1");
  assert.is((await read(["--config", "x"], {}, "listen: '[::1]:1'")).host, "::1");
  for (const host of ["[::1", "::1]", "[]", "[a b]", "[::1]:80"]) {
    await read(["--host", host]).then(
      () => assert.unreachable(host),
      (error) => assert.match(error.message, "--host must be a host name or an address"),
    );
  }
});

for (const [name, kind] of Object.entries(KINDS)) {
  config(`nodeface kinds ${name} prints a configuration that means the same`, () => {
    const { node, info } = parseFile(printKind(name)!, "");
    assert.equal(node, { url: kind.url, kind: name });
    assert.equal(makePlan(undefined, info!), makePlan(kind, {}));
    assert.match(listKinds(), new RegExp(`^${name} +${kind.title.replaceAll(/[()]/g, ".")}`, "m"));
  });
}

config("the JSON Schema that is shipped is current", () => {
  const shipped = readFileSync(new URL("../spec/nodeface.schema.json", import.meta.url), "utf8");
  assert.is(shipped, fileSchema(), "npm run schema writes it");
});

config.run();
