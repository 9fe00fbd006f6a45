import Ajv2020 from "ajv/dist/2020.js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Buffer } from "node:buffer";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { WRITTEN } from "../src/build/write-documents.ts";
import { formatKinds } from "../src/cli/kinds.ts";
import { files, readConfig as readConfigOf } from "../src/cli/read-config.ts";
import { Arguments } from "../src/cli/arguments.ts";
import { readConfig } from "./_config.ts";
import { usage } from "../src/cli/usage.ts";
import { checkFile, parseConfiguration } from "../src/cli/configuration-file.ts";
import { makePlan } from "../src/info/query-plan.ts";
import { KINDS } from "../src/generated/kinds.js";
import { KIND_ALIASES, KIND_NAMES } from "../src/generated/kind-names.js";
import { withDefaults } from "../src/options.ts";
import {
  aboutOf,
  ConfigError,
  partsOfSchema,
  readValue,
  type Schema,
} from "../src/settings/schema.ts";
import { configuration } from "../src/settings/configuration.ts";
import { kindSchema } from "../src/settings/kind-schema.ts";
import { CLI_OPTIONS, type CliOption } from "../src/settings/flags.ts";

const config = suite("config");

/** Checks a configuration without reading the files that it names. */
const readFile = (text: string, name: string) => checkFile(parseConfiguration(text, name));

function problems(text: string): readonly string[] {
  try {
    readFile(text, "nodeface.yaml");
    return [];
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as ConfigError).problems;
  }
}

const read = (args: string[], env = {}, file = "", place?: string, logo?: Uint8Array) =>
  readConfig(args, env, {
    read: () => Promise.resolve(file),
    readBytes: (path) =>
      logo ? Promise.resolve(logo) : Promise.reject(new Error(`${path}: no such file`)),
    find: () => Promise.resolve(),
    isThere: (path) => Promise.resolve(path === place),
  });

async function wrong(
  args: string[],
  env = {},
  file = "",
  logo?: Uint8Array,
): Promise<readonly string[]> {
  try {
    await read(args, env, file, undefined, logo);
    return [];
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as ConfigError).problems;
  }
}

config(
  "the path of a logo is relative to the configuration, and the logo's bytes decide its type",
  async () => {
    const file = "page:\n  title: Harbour 2\n  logo: art/logo.txt\n";
    const args = ["--config", "conf/node.yaml"];
    const bytes = Uint8Array.of(0x89, ...new TextEncoder().encode("PNG\r\n\u001a\n"));
    const { page } = await read(args, {}, file, undefined, bytes);
    assert.equal(page, { title: "Harbour 2", logo: bytes });
    const place = "conf/node.yaml:3:9: page.logo names conf/art/logo.txt:";
    assert.equal(await wrong(args, {}, file), [`${place} no such file`]);
    const types = "PNG, SVG, JPEG, WebP, GIF or ICO";
    assert.equal(await wrong(args, {}, file, new TextEncoder().encode("<html>")), [
      `${place} it must be an image of a type that browsers show: ${types}`,
    ]);
    const large = new Uint8Array(262_145);
    large.set(bytes);
    assert.equal(await wrong(args, {}, file, large), [`${place} it is larger than 256 KiB`]);
  },
);

config("a title must be one line, and must not be blank", () => {
  const right = "must be a line of text, at most 80 characters";
  for (const title of ["' '", "''", '"a\\nb"', "x".repeat(81)]) {
    assert.match(
      problems(`page: { title: ${title} }`)[0] ?? "",
      `nodeface.yaml:1:16: page.title ${right}`,
    );
  }
});

config("a file with all kinds of keys is valid, as are a JSON file and an empty file", () => {
  const text = `
listen: "[::1]:8080"
access_log: json
description: openapi.yaml
node:
  url: http://127.0.0.1:9332
  kind: bitcoin
  auth: { basic_file: ~/.litecoin/.cookie }
  timeout: 2s
info:
  ttl: 1s
  stale: 60s
  static: { name: my-node }
  hide: [peers, seconds_left]
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
  assert.equal(readFile(text, "").listen, { host: "::1", port: 8080 });
  assert.equal(readFile(JSON.stringify({ access_log: "text" }), ""), { access_log: "text" });
  assert.equal(readFile("", ""), {});
});

config(
  "the flag --forward is checked against the file, and the key forward against the flags",
  async () => {
    const flags = ["--config", "n.yaml", "--forward", "reads"];
    const anyHost = 'n.yaml:1:8: hosts cannot be "*" if calls are forwarded; list the host names';
    const noNode = "needs node.url, the node to call";
    const node = 'node: { url: "http://127.0.0.1:1" }';
    assert.equal(await wrong(flags, {}, `hosts: "*"\n${node}`), [anyHost]);
    assert.equal(await wrong(flags, {}, "{}"), [`--forward ${noNode}`]);
    assert.equal(await wrong(["--forward", "reads"]), [`--forward ${noNode}`]);
    assert.equal(await wrong([], { NODEFACE_FORWARD: "reads" }), [`NODEFACE_FORWARD ${noNode}`]);
    assert.equal(await wrong(["--forward", "reads", "http://127.0.0.1:1"]), []);
    const off = ["--config", "n.yaml", "--forward", "off"];
    assert.equal(await wrong(off, {}, `hosts: "*"\nforward: reads\n${node}`), []);
    const file = ["--config", "n.yaml"];
    assert.equal(await wrong(file, {}, "forward: reads"), [`n.yaml:1:10: forward ${noNode}`]);
    assert.equal(await wrong([...file, "http://127.0.0.1:1"], {}, "forward: reads"), []);
    const halfRight = await wrong(file, {}, "forward: reads\nnode: { url: nope }");
    assert.is(halfRight.length, 1, halfRight.join("\n"));
  },
);

config("all errors are reported at once, each with its position and a correction", () => {
  const text = `prot: 1
nod: {}
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
    r: minig#/difficulty
`;
  const found = problems(text);
  for (
    const [place, what] of [
      [
        "1:1",
        "prot is an unknown key; expected one of listen, access_log, log_calls, hosts, cors, description, forward, metrics, events, kinds, page, node, info",
      ],
      ["2:1", "nod is an unknown key; did you mean node?"],
      ["3:9", "listen must be an address and a port up to 65535, as in 127.0.0.1:8080"],
      ["4:14", "node.url must begin with http:// or https://, not ftp://"],
      [
        "4:29",
        'node.kind must be a kind of node (see "nodeface kinds") or none, not "bitcion"; did you mean bitcoin?',
      ],
      [
        "4:47",
        'node.timeout must be a duration such as "2s", "500ms" or "1m", from 1ms to 10s, not "fast"',
      ],
      ["6:8", 'info.ttl must be a duration such as "2s", "500ms" or "1m", at most 24h, not 5'],
      ["8:15", "info.sources.a.get must be a path"],
      ["9:19", "info.sources.b.jsonrpc must be"],
      ["9:22", "info.sources.b.foo is an unknown key; expected one of jsonrpc, params"],
      ["10:5", "info.sources.c must have one of jsonrpc, get, post, file, command"],
      ["12:5", "info.fields.Height must be a key in snake_case"],
      ["13:14", "info.fields.version must be a source name and a JSON Pointer joined by #"],
      ["14:16", "info.fields.q.from must be"],
      ["14:38", "info.fields.q.as.match must be a regular expression"],
      ["15:8", 'info.fields.r names the source "minig", which does not exist'],
    ]
  ) {
    assert.ok(
      found.some((line) => line.startsWith(`nodeface.yaml:${place}: ${what}`)),
      `${place} ${what} is not in\n${found.join("\n")}`,
    );
  }
  assert.is(found.length, 16, found.join("\n"));
});

config(
  "a description path is relative to the file, or to the working directory if a flag sets it",
  async () => {
    const of = async (args: string[], file: string) =>
      (await read(["--config", "etc/nodeface.yaml", ...args], {}, file))
        .description;
    assert.is(await of([], "description: api/openapi.yaml"), "etc/api/openapi.yaml");
    assert.is(await of([], "description: /api/openapi.yaml"), "/api/openapi.yaml");
    assert.is(await of([], "description: ~/openapi.yaml"), "~/openapi.yaml");
    assert.is(await of([], "description: http://a.example/x"), "http://a.example/x");
    assert.is(await of(["--spec", "my.yaml"], "description: api.yaml"), "my.yaml");
    assert.is(await of([], "description: { from: api.yaml }"), "etc/api.yaml");
    assert.is(await of(["--spec", "my.yaml"], "description: { from: api.yaml }"), "my.yaml");
    assert.is(await of([], ""), undefined);
    assert.match(
      problems("description: 'http://['")[0]!,
      "1:14: description must be the path of a file, or a valid URL",
    );
  },
);

config("invalid YAML is reported with line and column", () => {
  assert.match(problems("a: [1\nb: }")[0]!, /^nodeface\.yaml:2:1: /);
});

config("a field with an unknown source is an error", () => {
  const wrong = (kind: string) => `node: { kind: ${kind} }\ninfo: { fields: { a: block# } }`;
  assert.equal(problems(wrong("ethereum")), []);
  assert.match(problems(wrong("none"))[0]!, 'nodeface.yaml:2:22: info.fields.a names the source "');
});

config("a field may use a source of the kind that a flag or a variable sets", async () => {
  const fields = "info: { fields: { a: block# } }";
  const complaint =
    'x:1:22: info.fields.a names the source "block", which does not exist; expected one of ';
  const of = async (args: string[], file = fields) =>
    await wrong(["--config", "x", ...args], {}, file);
  assert.equal(await of(["--kind", "ethereum"]), []);
  assert.equal(await of(["http://127.0.0.1:1"]), []);
  assert.match((await of(["--kind", "etcd"]))[0]!, complaint);
  // With `--kind`, the kind in the file is ignored.
  assert.match(
    (await of(["--kind", "etcd"], `${fields}\nnode: { kind: ethereum }`))[0]!,
    complaint,
  );
  assert.equal(await of([]), [complaint.replace("; expected one of ", "")]);
});

config(
  "a reload reads a mended file, whatever was wrong with it at the reload before",
  async () => {
    const good = "kinds: [{ name: mine, extends: ethereum }]";
    const set = [["--kind", "mine"], {}] as const,
      inherited = [[], { NODEFACE_KIND: "mine" }] as const;
    for (const [kind, env] of [set, inherited]) {
      const args = new Arguments(["--config", "x", "http://127.0.0.1:1", ...kind], env);
      const problemsOf = (file: string) =>
        readConfigOf(args, { ...files, read: () => Promise.resolve(file) })
          .then(() => [], ({ problems }: ConfigError) => problems);
      assert.equal(await problemsOf(good), []);
      assert.match(
        (await problemsOf("kinds: []"))[0]!,
        /(--|NODEFACE_)kind must be a kind of node/i,
      );
      // Without the file, nobody knows whether the kind is in it.
      const unreadable = await problemsOf("kinds: [");
      assert.equal(unreadable.map((problem) => problem.slice(0, 4)), ["x:1:"]);
      assert.equal(await problemsOf(good), []);
    }
  },
);

config("a secret in the wrong place is not printed", () => {
  const text = "node: { url: 'http://user:hunter2@x', auth: hunter2 }";
  const found = problems(text).join("\n");
  assert.match(
    found,
    "node.url must not contain a user or a password; put them into a file, and name the file under node.auth",
  );
  assert.match(found, "node.auth must be an object with one of");
  assert.not.match(found, "hunter2");
  const withoutSpace = problems("node: { auth: { user:hunter2 } }").join("\n");
  assert.match(withoutSpace, "node.auth must have one of");
  assert.not.match(withoutSpace, "hunter2");
});

config("hosts and cors are lists, or * for any host or origin", async () => {
  const file = "{ hosts: [node.example., Other_1], cors: ['https://a.example', 'http://b:8080'] }";
  const { hosts, cors } = await read(["--config", "x"], {}, file);
  assert.equal(hosts, ["node.example", "other_1"]);
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

config("the order of precedence is flags, environment variables, file, defaults", async () => {
  const file = "{ listen: 'h:1', access_log: text, node: { url: 'http://f', kind: etcd } }";
  const env = { PORT: "2", NODEFACE_KIND: "nats", NODEFACE_CONFIG: "x" };
  const found = await read(["http://a", "--port", "3"], env, file);
  assert.equal(JSON.parse(JSON.stringify(found)), {
    file: "x",
    remarks: [],
    host: "h",
    port: 3,
    accessLog: "text",
    logCalls: "failed",
    node: { url: "http://a", kind: "nats" },
    kinds: {},
    info: { watch: "30s" },
  });
  const { host, port, accessLog } = await read([]);
  assert.equal([host, port, accessLog], ["127.0.0.1", 8080, "off"]);
});

config("errors in arguments, environment and file are reported together", async () => {
  try {
    const env = { NODEFACE_HOST: "a b" };
    await read(["--prot", "1", "a.b", "--port=70000", "--config", "f"], env, "y: 1");
    assert.unreachable();
  } catch (error) {
    const lines = (error as ConfigError).problems;
    for (
      const part of [
        "--prot",
        "NODE_URL",
        "--port must be",
        "NODEFACE_HOST must be",
        "f:1:1: y is an unknown key",
      ]
    ) {
      assert.ok(lines.some((line) => line.includes(part)), `${part} in ${lines.join("\n")}`);
    }
  }
});

const commandOf = (args: string[], env = {}) => new Arguments(args, env).command;

config("the first argument is the command, and the command's own arguments follow", () => {
  assert.equal(commandOf(["check", "http://a"]), "check");
  const kinds = new Arguments(["kinds", "ethereum"], {});
  assert.equal([kinds.command, kinds.kindToPrint], ["kinds", "ethereum"]);
  assert.is(commandOf(["check", "--help"]), "help");
});

config("--help, --version and kinds work even if everything else is invalid", () => {
  const env = { PORT: "http", NODEFACE_HOST: "a b", NODEFACE_CONFIG: "/none" };
  const wrong = ["--port", "http", "--bogus", "x"];
  assert.is(commandOf(["--help", ...wrong], env), "help");
  assert.is(commandOf([...wrong, "--version"], env), "version");
  assert.is(commandOf(["--help", "--version"], env), "help");
  assert.equal(new Arguments(["kinds", "etcd"], env).problems, []);
});

config("arguments after -- are not options", async () => {
  assert.is((await read(["--port", "1", "--", "http://a"])).node.url, "http://a");
  assert.is(commandOf(["check", "--", "http://a"]), "check");
  await read(["--", "--port"]).then(
    () => assert.unreachable(),
    (error) => assert.match(error.message, '"--port" is neither a command nor'),
  );
});

config("an invalid URL is not printed, since it may contain a secret", async () => {
  for (const url of ["https://rpc.example/?apikey=hidden", "http://user:hidden@host/?x"]) {
    await read([], { NODEFACE_URL: url }).then(
      () => assert.unreachable(url),
      (error) => assert.not.match(error.message, "hidden"),
    );
  }
});

config("an IPv6 address to listen on may be written in brackets", async () => {
  assert.is((await read(["--host", "[::1]"])).host, "::1");
  assert.is((await read([], { NODEFACE_HOST: "[::1]" })).host, "::1");
  assert.is((await read([], { NODEFACE_HOST: "::1" })).host, "::1");
  assert.is((await read(["--config", "x"], {}, "listen: '[::1]:1'")).host, "::1");
  // An interface may follow a link-local address, as --host takes it.
  const local = "fe80::1%eth0";
  assert.is((await read(["--host", local])).host, local);
  assert.is((await read(["--config", "x"], {}, `listen: '[${local}]:1'`)).host, local);
  for (const host of ["[::1", "::1]", "[]", "[a b]", "[::1]:80"]) {
    await read(["--host", host]).then(
      () => assert.unreachable(host),
      (error) => assert.match(error.message, "--host must be a host name or an address"),
    );
  }
});

for (const [name, kind] of Object.entries(KINDS)) {
  config(`nodeface kinds ${name} prints a configuration equivalent to the kind`, () => {
    const { node, info } = readFile(formatKinds(name), "");
    assert.equal(node, { url: kind.url, kind: name });
    const times = { ttl: 1000, timeout: 2000 };
    const { sources, fields, static: fixed } = makePlan(name, { ...kind, examples: {} }, {}, times);
    const told = makePlan(name, kind, info!, times);
    assert.equal([told.sources, told.fields, told.static], [sources, fields, fixed]);
    assert.match(
      formatKinds(),
      new RegExp(`^${name} +${kind.title.replaceAll(/[()]/g, ".")}`, "m"),
    );
  });
}

config("the files generated from settings and kinds are up to date", async () => {
  for (const [path, make] of Object.entries(WRITTEN)) {
    const shipped = readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
    assert.is(shipped, await make(), `${path}: npm run schema writes it`);
  }
});

config("with the schema, an editor finds the errors that the command reports", () => {
  const schema = JSON.parse(WRITTEN["spec/nodeface.schema.json"]());
  const validate = new Ajv2020.default({ code: { optimize: false }, allowUnionTypes: true })
    .compile(schema);
  for (
    const text of [
      "node:\ninfo: { static: , sources: , fields: { a: { from: [b#, c#/d] } } }",
      "{ hosts: '*', cors: [], node: { auth: { header_env: A, header: B } } }",
      "info: { sources: { a: { jsonrpc: m, params: { x: 1 }, ttl: 5s } } }",
      "kinds: [{ extends: ethereum, openrpc: { methods: [] }, health: { lag: 5 } }]",
    ]
  ) {
    assert.ok(validate(parse(text)), `${text} ${JSON.stringify(validate.errors)}`);
  }
  for (
    const text of [
      "nod: {}",
      "cors:",
      "node: { auth: { basic_env: A, match: B } }",
      "info: { sources: { a: { ttl: 5s } } }",
      "info: { fields: { a: { as: hex } } }",
      "info: { static: { Name: 1 } }",
      "kinds: [{ extends: 7 }]",
    ]
  ) {
    assert.not.ok(validate(parse(text)), text);
    assert.is.not(problems(text).length, 0, text);
  }
});

config("each key in the schemas for editors has the text of its setting", () => {
  const pairs: [Schema, object][] = [
    [configuration(), JSON.parse(WRITTEN["spec/nodeface.schema.json"]())],
    [kindSchema(), JSON.parse(WRITTEN["spec/kind.schema.json"]())],
  ];
  let count = 0;
  for (const [schema, json] of pairs) {
    const described = new Set<string>();
    JSON.stringify(json, (_, value) => {
      if (typeof value?.description === "string") described.add(value.description);
      return value;
    });
    for (const { text, default: usual } of settingsIn(schema)) {
      count++;
      assert.ok(described.has(usual === undefined ? text : `${text}. Default: ${usual}`), text);
    }
  }
  assert.ok(count > 100, `${count} keys`);
});

function* settingsIn(schema: Schema): Generator<ReturnType<typeof aboutOf>> {
  const { entries = {}, value, item, options = [] } = partsOfSchema(schema);
  for (const setting of Object.values(entries)) if (aboutOf(setting).text) yield aboutOf(setting);
  for (const each of [...Object.values(entries), value, item, ...options]) {
    if (each) yield* settingsIn(each);
  }
}

config("in an editor, a kind that extends another one needs no other key", () => {
  const schema = JSON.parse(WRITTEN["spec/kind.schema.json"]());
  const validate = new Ajv2020.default({ code: { optimize: false }, allowUnionTypes: true })
    .compile(schema);
  const rules = [{ when: { "fee#": null }, code: "alarm", reason: "has no fee" }];
  assert.ok(validate({ extends: "bitcoin", health: { rules } }), JSON.stringify(validate.errors));
  assert.not.ok(validate({ title: "A", url: "http://a", health: { rules } }));
  assert.not.ok(validate({ extends: "bitcoin", health: { unknown: 1 } }));
});

config("every example in the reference is a valid configuration", () => {
  const examples = [...WRITTEN["docs/configuration.md"]().matchAll(/^```yaml\n([^]*?)^```/gm)];
  assert.ok(examples.length >= 4);
  for (const [, yaml] of examples) readFile(yaml!, "docs/configuration.md");
  for (const [schema, example] of examplesIn(configuration())) {
    const { diagnostics } = readValue(parse(example), schema);
    assert.equal(diagnostics, [], example);
  }
});

function* examplesIn(schema: Schema): Generator<[Schema, string]> {
  const { example } = aboutOf(schema);
  if (example !== undefined) yield [schema, example];
  const { entries = {}, value, item, options = [] } = partsOfSchema(schema);
  for (const each of [...Object.values(entries), value, item, ...options]) {
    if (each) yield* examplesIn(each);
  }
}

config("the service uses the documented defaults of hosts and cors", () => {
  const { hosts, cors } = withDefaults({});
  const { entries } = partsOfSchema(configuration());
  const said = [entries!.hosts, entries!.cors].map((setting) => parse(aboutOf(setting!).default!));
  assert.equal(said, [hosts, cors]);
});

config("a key in the file has the same default, example and variables as its flag", () => {
  const { node, access_log: accessLog, description } = partsOfSchema(configuration()).entries!;
  const { url, kind } = partsOfSchema(node!).entries!;
  const keys = { url, kind, spec: description, accessLog };
  for (const [name, setting] of Object.entries(keys)) {
    const { text: _, ...about } = aboutOf(setting!);
    const { text: __, ...command } = CLI_OPTIONS[name as keyof typeof keys];
    assert.equal(about, command, name);
  }
});

config("--help lists every flag and variable, in lines of at most 100 characters", () => {
  const text = usage();
  for (const { flag, variables = [] } of Object.values<CliOption>(CLI_OPTIONS)) {
    if (flag) assert.match(text, new RegExp(`--${flag}(?: [A-Z]+)? {2}`));
    for (const variable of variables) assert.match(text, variable);
  }
  for (const line of text.split("\n")) assert.ok(line.length <= 100, line);
});

config("the list of kind names is complete, and every alias maps to an existing kind", () => {
  assert.equal(Object.keys(KINDS), [...KIND_NAMES]);
  for (const kind of Object.values(KIND_ALIASES)) assert.ok(KINDS[kind], kind);
});

config("sections may be empty", () => {
  assert.equal(problems("node:\ninfo:\n"), []);
  assert.equal(problems("info:\n  static:\n  sources:\n  fields:\n"), []);
  assert.match(problems("cors:\n")[0]!, "cors must be a list of origins");
});

config("a file that is not a configuration is reported", () => {
  const of = (text: string) => problems(text).join("\n");
  assert.match(of("- a\n"), "1:1: must be an object with keys such as listen");
  assert.match(of("- a\n"), "not a list");
  assert.match(of("# mine\n- a\n"), "2:1: must be an object");
  assert.match(of("metrics: true\n---\nmetrics: true\n"), "a second document begins here");
  assert.match(of("node: { url: http://a\ninfo:\n"), '"}" is missing before this');
  assert.match(of("hosts: [1]"), "nodeface.yaml:1:9: hosts[0] must be a host name");
});

config("a circular YAML alias is an error wherever it is used", () => {
  const circle = "&o { friends: [*o] }";
  assert.equal(problems(`info: { static: { owner: ${circle} } }`), [
    "nodeface.yaml:1:41: info.static.owner.friends[0] contains itself",
  ]);
  const source = `{ a: { jsonrpc: m, params: ${circle} }, b: { post: /x, json: ${circle} } }`;
  assert.is(problems(`info: { sources: ${source} }`).length, 2);
  assert.is(problems(`node: ${circle}`).length, 1);
});

config("whole numbers keep all of their digits", () => {
  const { info } = readFile("info: { static: { a: 12345678901234567890, b: 7, c: 1.5 } }", "");
  assert.equal(info!.static, { a: 12345678901234567890n, b: 7, c: 1.5 });
});

config("host names and origins are normalized as in browsers", async () => {
  const file = "{ hosts: [bücher.example, Node.Example], cors: ['HTTPS://App.example:443'] }";
  const { hosts, cors } = await read(["--config", "x"], {}, file);
  assert.equal([hosts, cors], [["xn--bcher-kva.example", "node.example"], ["https://app.example"]]);
});

config("an origin may be that of an extension or app, in any letter case", async () => {
  const origins = ["chrome-extension://abcdefghijklmnop", "tauri://localhost", "app://-"];
  const file = `{ cors: ['Chrome-Extension://ABCDEFGHIJKLMNOP', 'tauri://localhost', 'app://-'] }`;
  assert.equal((await read(["--config", "x"], {}, file)).cors, origins);
  for (const wrong of ["wss://app.example", "file://", "file://a", "tauri://", "ftp://a", "a:b"]) {
    assert.match(problems(`cors: ['${wrong}']`)[0]!, "must be an origin such as", wrong);
  }
});

config("the error for an invalid value gives the limit or the nearest valid name", () => {
  const of = (text: string) => problems(text).join("\n");
  assert.match(
    of("info: { hide: [status, links, pears] }"),
    "info.hide[0] must be a key in snake_case",
  );
  assert.match(of("info: { hide: [status, links, pears] }"), "did you mean peers?");
  assert.match(of("info: { fields: { a: { from: [] } } }"), "must not be empty");
  const mixed = "info: { sources: { b: { get: /b } }, fields: { a: { from: [b#/c, 7] } } }";
  assert.match(of(mixed), /^nodeface\.yaml:1:\d+: info\.fields\.a\.from\[1\] [^\n]*$/);
  assert.match(of("info: { fields: { a: { as: hex } } }"), "info.fields.a needs from");
  assert.match(of("info: { ttl: 25h }"), "at most 24h");
  assert.match(of("info: { stale: 99999999999h }"), "at most 24h");
  assert.match(of("node: { timeout: 11s }"), "from 1ms to 10s");
  const longest = "node: { timeout: 10s }\ninfo: { ttl: 24h, stale: 24h }\n";
  assert.equal(readFile(longest, "c.yaml"), parse(longest));
  assert.match(of("node: { timeout: 0s }"), "from 1ms to 10s");
  assert.match(
    of("info: { sources: { __proto__: { file: a } } }"),
    "info.sources.__proto__ is reserved; use another name",
  );
  assert.match(of("description: file:openapi.yaml"), "a URL that begins with file:///");
  const secret = of("info: { sources: { a: { get: 'http://u:hunter2@h/' } } }");
  assert.match(secret, "must not contain a user or a password");
  assert.not.match(secret, "hunter2");
  assert.match(
    of("node: { auth: { basic_fil: /x } }"),
    'but has "basic_fil"; did you mean basic_file?',
  );
  assert.match(
    of("node: { auth: { basic_file: /x, mach: y } }"),
    "node.auth.mach is an unknown key; did",
  );
  assert.match(of("listen: '*:9160'"), "use 0.0.0.0 for all IPv4 addresses, or :: for all");
  assert.match(of("info: { static: { a: .inf } }"), "must be a JSON value, not Infinity");
});

for (
  const [key, least, most, beyond] of [
    ["events.listeners", "1", "10000", ["0", "10001"]],
    ["events.per_address", "1", "10000", ["0", "10001"]],
    ["forward.per_minute", "1", "10000000", ["0", "10000001"]],
    ["forward.limit", "1KiB", "1GiB", ["1023B", "2GiB"]],
    ["forward.timeout", "100ms", "10m", ["99ms", "11m"]],
    ["info.history", "4m", "24h", ["3m", "25h"]],
    ["info.stalled_after", "10s", "24h", ["9s", "25h"]],
    ["node.timeout", "1ms", "10s", ["0ms", "10001ms"]],
  ] as const
) {
  config(`${key} is from ${least} to ${most}`, () => {
    const [section, name] = key.split(".") as [string, string];
    const of = (text: string) => problems(`${section}: { ${name}: ${text} }`);
    for (const text of [least, most]) {
      assert.equal(of(text).filter((problem) => problem.includes(key)), [], text);
    }
    for (const text of beyond) assert.match(of(text).join(), key, text);
  });
}

config("a path in a file is relative to that file, unless it begins with / or ~/", () => {
  const { node, info } = readFile(
    `node: { auth: { digest_file: secret }, tls: { ca_file: ca.pem } }
info:
  sources: { a: { file: a.json }, b: { file: /b.json }, c: { file: ~/c.json } }
  fields: { a: a#, b: b#, c: c# }
`,
    "etc/nodeface.yaml",
  );
  assert.equal(node!.auth, { digest_file: "etc/secret" });
  assert.equal(node!.tls, { ca_file: "etc/ca.pem" });
  const files = Object.values(info!.sources!).map((source) => "file" in source && source.file);
  assert.equal(files, ["etc/a.json", "/b.json", "~/c.json"]);
});

config("~/ also means the home directory in flags and variables", async () => {
  const env = { HOME: "/home/a", NODEFACE_SPEC: "~/openapi.yaml" };
  assert.is((await read([], env)).description, "~/openapi.yaml");
  assert.is((await read(["--config", "~/n.yaml"], env)).file, "~/n.yaml");
});

config("a flag that replaces an entire section of the file is reported", async () => {
  const file = "node: { url: http://127.0.0.1:1 }\nforward: { open: [reads, eth_call] }";
  const remarks = async (...flags: string[]) =>
    (await read(["--config", "n.yaml", ...flags], {}, file)).remarks.map(({ message }) => message);
  assert.equal(await remarks("--forward", "reads"), [
    '--forward replaces all of "forward" in n.yaml, including its clients',
  ]);
  assert.equal(await remarks(), []);
});

config("the file's secret is only for the node at the file's address", async () => {
  const url = "http://127.0.0.1:8332", auth = { basic_file: "/cookie" };
  const file = JSON.stringify({ node: { url, ws: "ws://127.0.0.1:1", auth } });
  for (const near of [`${url}/rpc`, "http://localhost:8332"]) {
    const same = await read(["--config", "n.yaml", near], {}, file);
    assert.equal([same.node.url, same.node.auth, same.remarks], [near, auth, []]);
  }
  const others = [
    ...[[["http://a.example"], {}], [[], { NODEFACE_URL: "http://a" }]],
    [["https://127.0.0.1:8332"], {}],
  ];
  for (const [args, env] of others) {
    const other = await read(["--config", "n.yaml", ...args as string[]], env as object, file);
    assert.equal([other.node.auth, other.node.ws], [undefined, undefined]);
    const name = "NODEFACE_URL" in env! ? "NODEFACE_URL" : "NODE_URL";
    assert.equal(
      other.remarks.map(({ message }) => message),
      ["auth", "ws"].map((key) =>
        `node.${key} in n.yaml is not used, since ${name} is another node than node.url`
      ),
    );
  }
  const alone = await read(
    ["--config", "n.yaml", "http://a"],
    {},
    JSON.stringify({ node: { auth } }),
  );
  assert.equal(alone.node.auth, auth);
});

config(
  "if no file is named, nodeface.yaml in the working directory is read, and a message says so",
  async () => {
    const found = await read([], {}, "access_log: json", "nodeface.yaml");
    assert.equal([found.accessLog, found.file], ["json", "nodeface.yaml"]);
    assert.match(found.remarks[0]!.message, "the configuration is nodeface.yaml");
    const none = await read([], {}, "access_log: json");
    assert.equal([none.accessLog, none.file, none.remarks], ["off", undefined, []]);
    const named = await read(["--config", "other.yaml"], {}, "access_log: json", "nodeface.yaml");
    assert.equal([named.file, named.remarks], ["other.yaml", []]);
  },
);

config("an existing file is found on every runtime", async () => {
  const path = fileURLToPath(import.meta.url);
  assert.equal([await files.isThere(path), await files.isThere(`${path}x`)], [true, false]);
});

config(
  "what has the name of the file, but is no file, is there, so that it is reported",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
    const link = join(folder, "link");
    symlinkSync("nowhere", link);
    assert.equal([await files.isThere(folder), await files.isThere(link)], [true, true]);
    rmSync(folder, { recursive: true });
  },
);

config("a file that is not UTF-8 is refused, with line and column", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeface-"));
  const path = join(folder, "n.yaml");
  const readAs = (encoding: BufferEncoding) => {
    writeFileSync(path, Buffer.from("\ufeffmetrics: true\npage: { title: Café }\n", encoding));
    return files.read(path).then((text) => text.slice(0, 7), ({ message }) => message);
  };
  assert.is(await readAs("utf8"), "metrics");
  const complaint = "is not UTF-8; save the file in this encoding";
  assert.is(await readAs("utf16le"), `${path}:1:1: ${complaint}`);
  writeFileSync(path, Buffer.from("metrics: true\npage: { title: Café }\n", "latin1"));
  assert.is(await files.read(path).catch(({ message }) => message), `${path}:2:19: ${complaint}`);
  rmSync(folder, { recursive: true });
});

config("an unknown variable NODEFACE_… is reported, with a similar known name", async () => {
  const env = {
    ...{ NODEFACE_PROT: "1", NODEFACE_SECRET: "x", NODEFACE_TOKEN: "y" },
    ...{ HOST: "evil", OTHER: "1" },
  };
  const { remarks, host } = await read(
    ["--config", "x"],
    env,
    `node: { url: "http://[::1]:1", auth: { basic_env: NODEFACE_SECRET } }
forward: { clients: [{ name: app, token_env: NODEFACE_TOKEN, allow: [reads] }] }`,
  );
  assert.is(host, "127.0.0.1");
  assert.equal(remarks, [{
    level: "warn",
    message: "unknown environment variable NODEFACE_PROT; did you mean NODEFACE_PORT?",
  }]);
});

config("the variables by which Kubernetes names a service are no settings", async () => {
  const links = {
    ...{ NODEFACE_PORT: "tcp://10.0.0.1:8080", NODEFACE_PORT_8080_TCP: "tcp://10.0.0.1:8080" },
    ...{ NODEFACE_SERVICE_HOST: "10.0.0.1", NODEFACE_SERVICE_PORT_HTTP: "8080" },
    ...{ NODEFACE_PORT_8080_TCP_PROTO: "tcp", NODEFACE_B_PORT: "udp://[fd00::1]:53" },
  };
  const { port, remarks } = await read([], links);
  assert.equal([port, remarks], [8080, []]);
  assert.is((await read([], { ...links, PORT: "9" })).port, 9);
  assert.is((await wrong([], { NODEFACE_URL: "tcp://127.0.0.1:26657" })).length, 1);
});

config("the largest port is 65535, wherever a port is set", async () => {
  const file = (port: number) => `listen: "[::1]:${port}"\nnode: { url: "http://[::1]:${port}" }\n`;
  assert.equal(problems(file(65535)), []);
  assert.is(problems(file(65536)).length, 2);
  assert.is((await read(["--port", "65535"])).port, 65535);
  assert.is((await wrong(["--port", "65536"])).length, 1);
});

config("NODEFACE_PORT overrides PORT", async () => {
  assert.is((await read([], { PORT: "1" })).port, 1);
  assert.is((await read([], { PORT: "1", NODEFACE_PORT: "2" })).port, 2);
});

config("a mistyped command, flag or kind gets a suggestion", async () => {
  const of = async (...args: string[]) => (await wrong(args)).join("\n");
  assert.is(await of("chek", "http://127.0.0.1:1"), 'unknown command "chek"; did you mean check?');
  assert.is(await of("help"), 'unknown command "help"; did you mean --help?');
  assert.match(await of("http"), "is neither a command nor the URL of a node; see nodeface --help");
  assert.is(await of("--prot", "1"), 'unknown option "--prot"; did you mean --port?');
  for (
    const [typed, meant] of [
      ["eth", "ethereum"],
      ["bitcon", "bitcoin"],
      ["Bitcoin", "bitcoin"],
      ["litecoin", "bitcoin"],
      ["hsd", "handshake"],
      ["geth", "ethereum"],
      ["IPFS", "kubo"],
      ["polkadot", "substrate"],
    ]
  ) {
    assert.match(await of("--kind", typed!), `did you mean ${meant}?`);
    assert.throws(() => formatKinds(typed), `did you mean ${meant}?`);
  }
  assert.not.match(await of("--kind", "xyzzyx"), "did you mean");
});

config("an error in the URL of the node is reported without secrets from that URL", async () => {
  const of = async (url: string) => (await wrong([url])).join("\n");
  for (
    const [url, complaint] of [
      ["http://127.0.0.1:99999", "must have a port up to 65535"],
      ["http://127.0.0.1:8545/?x=1", "must have no query"],
      [
        "127.0.0.1:8545",
        "must begin with http:// or https://; did you mean http://127.0.0.1:8545?",
      ],
      [
        "http://user:pass@host/",
        "must not contain a user or a password; put them into a file, and name the file under node.auth",
      ],
      ["ws://127.0.0.1:8546", "must begin with http:// or https://, not ws://"],
      ["http://", "must be a URL such as http://127.0.0.1:8545"],
      ["http://[::1/", "must be a URL such as http://127.0.0.1:8545"],
    ]
  ) {
    assert.is(
      (await of(url!)).replace(/: remove.*|; node\.auth.*/, ""),
      `NODE_URL ${complaint}`,
    );
  }
  assert.is((await read(["HTTP://127.0.0.1:1/@a"])).node.url, "http://127.0.0.1:1/@a");
});

const NO_FLAGS: Readonly<Record<string, string>> = {
  "--cors": "; it is a key of the configuration: cors",
  "--hosts": "; it is a key of the configuration: hosts",
  "--token-file": "; it is a key of the configuration: forward.clients[].token_file",
  "--timeout": "; it is a key of the configuration: forward.timeout, node.timeout",
  "--description": "; did you mean --spec?",
  "--listen": "; did you mean --host and --port?",
  "--url": "; the URL of the node needs no flag, as in nodeface http://127.0.0.1:8545",
  "--node": "; the URL of the node needs no flag, as in nodeface http://127.0.0.1:8545",
  "--prot": "; did you mean --port?",
  "--jsno": "; did you mean --json?",
  "-v": "; did you mean -V?",
  "-H": "; did you mean -h?",
  "-x": "; see nodeface --help",
};

config("for an unknown flag, the intended flag or key is suggested", async () => {
  for (const [flag, hint] of Object.entries(NO_FLAGS)) {
    const [message = ""] = await wrong([flag]);
    assert.ok(message.startsWith(`unknown option "${flag}"${hint}`), message);
  }
  for (const key of Object.keys(partsOfSchema(configuration()).entries!)) {
    const [message = ""] = await wrong([`--x-${key}`.replace("x-", "")]);
    const flags = Object.values<CliOption>(CLI_OPTIONS).map(({ flag }) => flag);
    if (!flags.includes(key)) assert.match(message, /did you mean --|key of the configuration|URL/);
  }
});

config("for a key in the wrong section, the right key is suggested", () => {
  for (
    const [text, complaint] of [
      ["url: http://127.0.0.1:1", "url is an unknown key; did you mean node.url?"],
      ["kind: etcd", "kind is an unknown key; did you mean node.kind?"],
      ["port: 80", "port is an unknown key; did you mean listen?"],
      ["host: a", "host is an unknown key; did you mean listen?"],
      ["spec: a.yaml", "spec is an unknown key; did you mean description?"],
      ["token_file: a", "token_file is an unknown key; expected one of"],
      ["fields: {}", "fields is an unknown key; did you mean info.fields?"],
      [
        "node: { basic_file: a }",
        "node.basic_file is an unknown key; did you mean auth.basic_file?",
      ],
      [
        "forward: true",
        'forward must be off, reads, or an object such as { open: [reads] }, not "true"; did you mean reads?',
      ],
      ["forward: false", 'not "false"; did you mean off?'],
      ["forward: red", 'not "red"; did you mean reads?'],
    ] as const
  ) assert.match(problems(text)[0]!, complaint, text);
});

config("a description file must exist, but a description URL may be unreachable", async () => {
  const of = (args: string[], text = "") =>
    readConfig(args, {}, { ...files, read: () => Promise.resolve(text) }).then(
      ({ description }) => description,
      ({ message }) => message,
    );
  const here = fileURLToPath(import.meta.url);
  assert.is(await of(["--spec", here]), here);
  assert.is(await of(["--spec", `${here}x`]), `--spec names ${here}x: no such file`);
  assert.is(
    await of(["--config", "/etc/n.yaml"], "description: none.yaml"),
    "/etc/n.yaml:1:14: description names /etc/none.yaml: no such file",
  );
  for (const place of ["http://127.0.0.1:9/x.yaml", "none"]) {
    assert.is(await of(["--spec", place]), place);
  }
});

config("-h means --help, and -V means --version", () => {
  assert.is(commandOf(["-h"]), "help");
  assert.is(commandOf(["check", "-V"]), "version");
});

config("--metrics needs no value, but its variable and key must be true or false", async () => {
  const of = async (...given: Parameters<typeof read>) => (await read(...given)).metrics;
  const file = ["--config", "a.yaml"];
  const variable = { NODEFACE_METRICS: "true" };
  assert.is(await of([]), undefined);
  assert.is(await of(["--metrics"]), true);
  assert.is(await of(["--metrics", "http://127.0.0.1:1"]), true);
  assert.is(await of(["--metrics=false"], variable), false);
  assert.is(await of([], variable), true);
  assert.is(await of(file, {}, "metrics: true\n"), true);
  assert.is(await of(file, { NODEFACE_METRICS: "false" }, "metrics: true\n"), false);
  assert.equal(await wrong([], { NODEFACE_METRICS: "1" }), [
    'NODEFACE_METRICS must be true or false, not "1"; did you mean true?',
  ]);
  assert.equal(await wrong(["--metrics", "--metrics="]), ["--metrics is given twice"]);
  assert.equal(await wrong(file, {}, "metrics: on\n"), [
    'a.yaml:1:10: metrics must be true or false, not "on"',
  ]);
  assert.match(usage(), "  --metrics  ");
});

config(
  "a flag, a variable or the file selects the calls to log; by default, failed calls are logged",
  async () => {
    const of = async (...given: Parameters<typeof read>) => (await read(...given)).logCalls;
    const file = ["--config", "a.yaml"];
    const variable = { NODEFACE_LOG_CALLS: "off" };
    assert.is(await of([]), "failed");
    assert.is(await of(file, {}, "log_calls: all\n"), "all");
    assert.is(await of(file, variable, "log_calls: all\n"), "off");
    assert.is(await of(["--log-calls", "failed", ...file], variable, "log_calls: all\n"), "failed");
    assert.equal(await wrong(file, {}, "log_calls: al\n"), [
      'a.yaml:1:12: log_calls must be one of failed, all, off, not "al"; did you mean all?',
    ]);
  },
);

config.run();
