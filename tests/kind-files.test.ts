/**
 * Tests the kind files, and the error messages for invalid kind files. On Deno and Bun, the kind
 * files are not compared with the generated files.
 */
import Ajv2020 from "ajv/dist/2020.js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { WRITTEN } from "../src/build/write-documents.ts";
import { ConfigError } from "../src/settings/schema.ts";
import { KINDS_WITH_INTERFACE, parseKind } from "./_kinds.ts";
import { readConfig } from "./_config.ts";
import { formatKinds } from "../src/cli/kinds.ts";
import { KIND_ALIASES, KIND_NAMES } from "../src/generated/kind-names.js";
import { KINDS } from "../src/generated/kinds.js";
import { loadInterface } from "../src/description/known-interface.ts";
import { examplesIn } from "../src/settings/kind-interface.ts";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";
import { testOnNode } from "./_runtime.ts";
import { operationsOf } from "./nodes/_interface.ts";

const kinds = suite("kind files");

const FOLDER = new URL("../spec/kinds/", import.meta.url);
const textOf = (name: string) => readFileSync(new URL(`${name}.yaml`, FOLDER), "utf8");
const FILES = readdirSync(FOLDER).sort().map((file) => file.replace(/\.yaml$/, ""));

kinds("each kind is a file that begins with the URLs of its sources", () => {
  assert.equal(FILES, [...KIND_NAMES]);
  assert.equal(Object.keys(KINDS), [...KIND_NAMES]);
  for (const name of FILES) {
    assert.match(textOf(name), /^(# .*\n)*# .*https?:\/\/.*\n(# .*\n)*title: /);
  }
});

kinds(
  "a summary has at most 60 characters, and a response description is more than a placeholder",
  () => {
    for (const name of FILES) {
      const text = textOf(name);
      for (const [, summary] of text.matchAll(/^ *(?:- )?summary: "?(.*?)"?$/gm)) {
        assert.ok(summary!.length <= 60, `${name}: ${summary}`);
      }
      const empty =
        /description: "?(?:The (?:answer|result)|It (?:is|was not) done)\.?"?(?:$| \})/m;
      assert.not.match(text, empty, name);
    }
  },
);

testOnNode(kinds, "the kinds built into the service equal the kinds in the files", async () => {
  // Three kinds are enough, because the build processes all kind files in the same way.
  for (const name of ["aptos", "bitcoin", "etcd"]) {
    const { openrpc, openapi, ...kind } = parseKind(textOf(name), `${name}.yaml`);
    const { examples, ...known } = KINDS[name]!;
    assert.equal(kind, known, name);
    const marked = examplesIn({ openrpc, openapi }).map(({ place }) => place);
    assert.equal(Object.keys(examples ?? {}), [...new Set(marked)], name);
    const parts = { ...openrpc && { openrpc }, ...openapi && { openapi } };
    assert.equal(await loadInterface(name), parts, name);
  }
});

kinds("the example file of a custom kind is valid", () => {
  const example = new URL("../examples/kinds/aria2.yaml", import.meta.url);
  const { openrpc } = parseKind(readFileSync(example, "utf8"), "aria2.yaml");
  assert.is(openrpc?.methods.length, 6);
});

kinds("an alias maps to exactly one kind and is not itself the name of a kind", () => {
  for (const [alias, kind] of Object.entries(KIND_ALIASES)) {
    assert.ok(KINDS[kind]?.aliases?.includes(alias), alias);
    assert.not.ok(KIND_NAMES.includes(alias), alias);
  }
  const given = Object.values(KINDS).flatMap(({ aliases = [] }) => aliases);
  assert.equal([...given].sort(), Object.keys(KIND_ALIASES).sort());
});

kinds("the condition for ok and every reason are clauses without a final period", () => {
  for (const [name, { health: { ok, rules = [] } }] of Object.entries(KINDS)) {
    assert.match(ok, /^its? .*[^.]$/, name);
    for (const { reason } of rules) assert.match(reason, /^[a-z].*[^.]$/, name);
  }
});

kinds("a healthy chain appears stalled less than once in ten years", () => {
  // The mean time between two blocks of proof-of-work chains, in seconds. The actual time between
  // two blocks is random.
  const MEAN: Readonly<Record<string, number>> = { bitcoin: 600, ergo: 120, monero: 120 };
  for (const [name, mean] of Object.entries(MEAN)) {
    for (const { quiet } of Object.values(KINDS[name]!.health.networks!)) {
      if (quiet === undefined) continue;
      const seconds = Number.parseInt(quiet) * 3600;
      const blocks = 10 * 365.25 * 86_400 / mean;
      assert.ok(quiet.endsWith("h") && blocks * Math.exp(-seconds / mean) < 1, name);
    }
  }
});

kinds("secret files are searched for only if the node's refusal identifies its kind", () => {
  const refusals = Object.values(KINDS).flatMap(({ auth }) => auth?.refusal ? [auth] : []);
  const textOf = ({ refusal }: typeof refusals[number]) => JSON.stringify(refusal);
  const texts = refusals.map(textOf);
  for (const auth of refusals) {
    const count = texts.filter((text) => text === textOf(auth)).length;
    assert.ok(count === 1 || !auth.files, textOf(auth));
  }
  for (const [name, { auth }] of Object.entries(KINDS)) {
    assert.ok(!auth?.files || auth.refusal, name);
    assert.ok(!(auth?.files || auth?.refusal) || auth.example, name);
  }
});

const GOOD = `
title: Good
url: http://127.0.0.1:9000
detect: { "info#/software": ^good$ }
sources: { info: { get: /info, keep_errors: true }, a: { get: /a } }
fields:
  height: { from: info#/height, as: number }
  version: a#/version
health: { ok: it answers, target: info#/best }
`;

function problems(text: string): readonly string[] {
  try {
    parseKind(text, "mine.yaml");
    return [];
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as ConfigError).problems;
  }
}

kinds("all errors in a file are reported together, each with its position and a correction", () => {
  const found = problems(`title: Mine
url: 127.0.0.1:9000
detct: {}
detect: { "inf#/software": "(" }
sources:
  info: { get: /info, tll: 1s }
  a: { get: "b#/x" }
  b: { get: "a#/x" }
fields: { version: ifo#/version, height: { from: [info#/a, imfo#/b], unless: x#/c } }
auth: { files: [ { basic_fil: x } ] }
health:
  rules:
    - when: { "info#/x": 5, "nfo#": null }
      code: bad
      reason: "x {nfo#/a} {b}"
    - when: {}
      code: no_leader
      reason: none
  target: infox#/best
  complete: 1
  lag: -1
  warming_up: [x]
  networks: { main: { quiet: 3d, peers: 0 } }
`);
  const expected: [place: string, message: string][] = [
    ["2:6", "url must begin with http:// or https://; did you mean http://127.0.0.1:9000?"],
    ["3:1", "detct is an unknown key; did you mean detect?"],
    ["4:11", 'names the source "inf", which does not exist; did you mean info?'],
    ["4:28", 'must be a regular expression, not "("'],
    ["6:23", "sources.info.tll is an unknown key; did you mean ttl?"],
    ["7:13", "sources.a.get leads back to itself"],
    ["8:13", "sources.b.get leads back to itself"],
    ["9:20", 'fields.version names the source "ifo", which does not exist; did you mean info?'],
    ["9:34", 'fields.height names the source "imfo", which does not exist; did you mean info?'],
    ["9:34", 'fields.height names the source "x", which does not exist; did you mean a?'],
    ["10:9", "auth.files needs auth.refusal"],
    [
      "10:18",
      'must have one of basic_file, bearer_file, digest_file, header_file, but has "basic_fil"',
    ],
    ["11:1", "health needs ok"],
    [
      "13:26",
      "must be a regular expression, null, { not: EXPRESSION }, { above: NUMBER } or { below: NUMBER }, not 5",
    ],
    ["13:29", 'when.nfo# names the source "nfo", which does not exist; did you mean info?'],
    ["14:13", "must be one of warming_up, syncing, no_leader, alarm, no_peers, stalled"],
    [
      "15:15",
      "reason must be a line of text, with places in braces such as {net#/version}, not",
    ],
    ["15:15", 'reason names the source "nfo"'],
    ["16:7", "must be places, each with a test"],
    ["19:11", 'health.target names the source "infox"'],
    ["20:3", "health.complete needs the field progress"],
    ["21:8", "health.lag must be a whole number of at least 0, not -1"],
    ["22:16", "health.warming_up[0] must be a whole number, not"],
    ["23:15", "health.networks.main needs the field chain_id or network"],
    ["23:30", "health.networks.main.quiet must be a duration"],
    ["23:34", "health.networks.main.peers needs the field peers"],
    ["23:41", "health.networks.main.peers must be a whole number of at least 1, not 0"],
  ];
  for (const [at, [place, message]] of expected.entries()) {
    assert.ok(found[at]?.startsWith(`mine.yaml:${place}: `), `${place} ${message}\n${found[at]}`);
    assert.ok(found[at]!.includes(message), `${message}\n${found[at]}`);
  }
  assert.is(found.length, expected.length, found.join("\n"));
});

kinds("a listing must have either an expression or a tree", () => {
  const of = (more: string) =>
    problems(`title: Mine
url: http://127.0.0.1:9000
detect: { "info#/software": . }
sources: { info: { get: /info } }
fields: { software: info#/software }
health: { ok: it answers }
listing: { get: /all${more} }
`);
  const tree = "tree: { name: Name, children: Below }";
  assert.equal(of(`, ${tree}`), []);
  assert.equal(of(", names: '(.+)'"), []);
  for (const wrong of ["", `, ${tree}, names: '(.+)'`]) {
    const [first, ...others] = of(wrong);
    assert.is(first, 'mine.yaml:7:1: listing must have either "names" or "tree"');
    assert.equal(others, []);
  }
  assert.match(of(", tree: { name: Name }")[0]!, "needs children");
});

kinds("sources may depend on other sources, but not in a cycle", () => {
  const of = (sources: string) => problems(GOOD.replace(/^sources: .*$/m, `sources: ${sources}`));
  const head = "a: { jsonrpc: head, params: [{ from: info#/best }, true] }";
  assert.equal(of(`{ info: { get: /info }, ${head} }`), []);
  assert.match(of(`{ ${head} }`).join("\n"), 'sources.a.params names the source "info"');
  const circle = "info: { jsonrpc: info, params: [{ from: b#/x }] }, b: { get: a#/x }";
  const found = of(`{ ${circle}, ${head} }`).filter((line) =>
    line.includes("leads back to itself")
  );
  assert.equal(found.map((line) => line.split(" ")[1]), [
    "sources.info.params",
    "sources.b.get",
    "sources.a.params",
  ]);
});

kinds("a file that does not define a kind is reported", () => {
  assert.match(problems("- a\n")[0]!, "1:1: must be an object with keys such as title, url");
  assert.match(problems("").join("\n"), "needs title");
  assert.equal(problems("a: [b: {"), [
    'mine.yaml:1:9: a closing "}" is missing before this place',
    'mine.yaml:1:9: a closing "]" is missing before this place',
  ]);
  assert.equal(problems(GOOD), []);
});

kinds("relative paths in a kind file start from the folder of that file", () => {
  const text = `${GOOD}auth: { example: { basic_file: secret } }\n`;
  const { auth } = parseKind(text, "/etc/nodeface/mine.yaml");
  assert.equal(auth?.example, { basic_file: "/etc/nodeface/secret" });
});

const read = (args: string[], files: Record<string, string>) =>
  readConfig(args, {}, {
    read: (path) =>
      path in files
        ? Promise.resolve(files[path]!)
        : Promise.reject(new Error(`cannot read ${path}: no such file`)),
    readBytes: () => Promise.reject(new Error("no such file")),
    find: () => Promise.resolve(),
    isThere: (path) => Promise.resolve(path in files),
  });

async function wrong(args: string[], files: Record<string, string>): Promise<readonly string[]> {
  try {
    await read(args, files);
    return [];
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as ConfigError).problems;
  }
}

kinds("a configuration may list kind files relative to the configuration's folder", async () => {
  const config = "kinds: [kinds/good.yaml]\nnode: { kind: good }\ninfo: { fields: { x: a#/x } }";
  const files = { "conf/c.yaml": config, "conf/kinds/good.yaml": GOOD };
  const { kinds, node } = await read(["--config", "conf/c.yaml"], files);
  assert.equal(Object.keys(kinds), ["good"]);
  assert.is(kinds.good!.title, "Good");
  assert.equal(node, { kind: "good" });
  assert.is((await read(["--config", "conf/c.yaml", "--kind", "good"], files)).node.kind, "good");
  const other = { ...files, "conf/c.yaml": config.replace(/info:.*/, "") };
  assert.is((await read(["--config", "conf/c.yaml", "--kind", "etcd"], other)).node.kind, "etcd");
});

kinds("errors in kind files are reported with the name of the file", async () => {
  const config = "kinds: [bad.yaml, none.yaml, gone.json, a/bad.yml]\nnode: { kind: gut }\n";
  const files = { "nodeface.yaml": config, "bad.yaml": `${GOOD}colour: blue\n`, "a/bad.yml": GOOD };
  const found = await wrong([], files);
  for (
    const message of [
      "bad.yaml:10:1: colour is an unknown key",
      "nodeface.yaml:1:30: kinds[2] names cannot read gone.json: no such file",
      "nodeface.yaml:1:19: kinds[1] must be a file such as mine.yaml, named after its kind",
      "nodeface.yaml:1:41: kinds[3] has the same name as kinds[0]: bad",
      "nodeface.yaml:2:15: node.kind must be a kind of node",
    ]
  ) {
    assert.ok(
      found.some((problem) => problem.startsWith(message)),
      `${message}\n${found.join("\n")}`,
    );
  }
  assert.is(found.length, 5, found.join("\n"));
});

kinds("--kind accepts a kind file, whose kind is then used for the configured node", async () => {
  for (const path of ["good.yaml", "./good.yml", "a/good.json"]) {
    const { kinds, node } = await read(["--kind", path, "http://a"], { [path]: GOOD });
    assert.equal(node, { url: "http://a", kind: "good" });
    assert.is(kinds.good!.title, "Good");
  }
  const flags = ["--kind", "new/good.yaml", "--config", "nodeface.yaml"];
  const both = { "new/good.yaml": GOOD.replace("Good", "New"), "old/good.yaml": GOOD };
  const file = "kinds: [old/good.yaml]\nnode: { url: http://a }\n";
  const { kinds } = await read(flags, { ...both, "nodeface.yaml": file });
  assert.is(kinds.good!.title, "New");
  assert.equal(await wrong(["--kind", "good.yaml"], {}), ["cannot read good.yaml: no such file"]);
  const misnamed = "--kind must be a file such as mine.yaml, named after its kind";
  for (const path of ["Good.yaml", "a/b", "none.yaml"]) {
    assert.equal(await wrong(["--kind", path], { [path]: GOOD }), [misnamed]);
  }
  assert.match((await wrong(["--kind", "etdc"], {}))[0]!, "did you mean etcd?");
});

function complaint(options: unknown): string {
  try {
    createNodeface(options as NodefaceOptions);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

kinds("a host program passes its own kinds as objects", () => {
  const good = parse(GOOD);
  assert.is(complaint({ kinds: { good }, node: { kind: "good" } }), "");
  assert.match(
    complaint({ kinds: { good: { ...good, detect: { "inf#": "x" } } } }),
    'kinds.good.detect.inf# names the source "inf", which does not exist; did you mean info?',
  );
  assert.match(complaint({ kinds: { good }, node: { kind: "god" } }), "did you mean good?");
  assert.match(
    complaint({ kinds: { Good: good } }),
    "kinds.Good must be a name of lower-case letters",
  );
  assert.match(complaint({ kinds: [good] }), "kinds must be an object");
  assert.match(complaint({ node: { kind: "good" } }), "node.kind must be a kind of node");
});

testOnNode(kinds, "the schema for editors rejects the files that the command rejects", () => {
  const schema = JSON.parse(WRITTEN["spec/kind.schema.json"]());
  const validate = new Ajv2020.default({ code: { optimize: false }, allowUnionTypes: true })
    .compile(schema);
  for (const name of FILES) {
    assert.ok(validate(parse(textOf(name))), `${name} ${JSON.stringify(validate.errors)}`);
  }
  const good = parse(GOOD);
  for (
    const wrong of [
      { ...good, colour: "blue" },
      { ...good, url: "a" },
      { ...good, health: {} },
      { ...good, health: { ok: "x", rules: [{ when: {}, code: "x", reason: "y" }] } },
      { ...good, health: { ok: "x", networks: { main: { peers: "1" } } } },
      { ...good, written_from: ["rpc/api.yaml"] },
      { ...good, written_from: [] },
      { ...good, tried: "" },
    ]
  ) {
    assert.not.ok(validate(wrong), JSON.stringify(wrong));
    assert.is.not(problems(JSON.stringify(wrong)).length, 0);
  }
});

kinds(
  "the reference lists each kind's condition for ok, and the kinds that cannot report their sync state",
  async () => {
    const [text, beside] = await Promise.all([
      WRITTEN["docs/kinds.md"](),
      WRITTEN["docs/beside-your-node.md"](),
    ]);
    for (const [name, { title, url, health }] of Object.entries(KINDS)) {
      const [, part = ""] = text.split(`\n## ${name}\n`);
      for (const fact of [title, health.ok]) assert.ok(part.includes(fact), `${name}: ${fact}`);
      const [, start = ""] = beside.split(`\n## ${name}\n`);
      assert.ok(start.includes(url), `${name}: ${url}`);
      for (const [network, rules] of Object.entries(health.networks ?? {})) {
        const { name = rules.private ? "private" : "", quiet = "" } = rules;
        const key = network === "*" ? "any" : `\`${network}\``;
        assert.match(part, `| ${key} | ${name} | ${quiet} |`);
      }
    }
    assert.match(text, /that never say so.*`nostr`.*`solana`/);
    const [, example = ""] = /^```yaml\n(# yaml-language[^]*?)^```/m.exec(text) ?? [];
    assert.is(parseKind(example, "aria2.yaml").title, "aria2 (JSON-RPC)");
  },
);

kinds(
  "the reference names the sources of each kind's operations, and the tested version",
  async () => {
    const text = await WRITTEN["docs/kinds.md"]();
    for (const name of KINDS_WITH_INTERFACE) {
      const { written_from: sources = [], tried } = KINDS[name]!;
      assert.ok(sources.length > 0, name);
      const count = operationsOf(await loadInterface(name)).length;
      const [, part = ""] = text.split(`\n## ${name}\n`);
      const trial = tried
        ? `\`read\` operations tested with ${tried}`
        : "not tested with a real node";
      assert.match(part, new RegExp(`^\\| operations \\| ${count} \\(.*\\), ${trial} \\|$`, "m"));
      for (const url of sources) {
        assert.match(url, /\/(blob|tree)\/([0-9a-f]{7,40}|v?[0-9][0-9.]*)(\/|$)|\/v\/[0-9.]+$/);
        assert.ok(formatKinds(name).includes(url), url);
      }
      assert.match(formatKinds(name), tried ?? "not tested with a real node");
    }
  },
);

kinds("README.md says which kinds were tested with a real node, and which were not", () => {
  const text = readFileSync(new URL("../README.md", import.meta.url), "utf8")
    .replaceAll(/\s+/g, " ");
  const [, tested = "", others = ""] =
    / - tested with a real node: (.*?); - not yet tested with one: (.*?)\. /.exec(text) ?? [];
  const named = `${tested}, ${others}`.split(/, | and /).length;
  assert.is(named, KIND_NAMES.length, "README's list of kinds, and their number in words");
  for (const name of KIND_NAMES) {
    const { title, tried } = KINDS[name]!;
    const [called = ""] = /^Ethereum \w+|^\w+/.exec(title) ?? [];
    assert.ok((tried ? tested : others).includes(called), name);
  }
});

kinds.run();
