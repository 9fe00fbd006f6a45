/**
 * Tests the matcher for regular expressions, and that no expression stops the service, wherever an
 * expression of a configuration or kind file meets a text of the node. With an engine that
 * backtracks, the tests of hostile expressions would not finish.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LightSignal } from "../src/abort-signal.ts";
import { KnownKind } from "../src/description/known-interface.ts";
import { detectKind } from "../src/info/detect-kind.ts";
import { convert } from "../src/info/fields.ts";
import { createNodeface } from "../src/index.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { looksLike } from "../src/node/rejection.ts";
import { readSecret } from "../src/node/secrets.ts";
import { findAll, findFirst, type Match, mistakeInExpression } from "../src/regular-expression.ts";
import { createRandom } from "./_random.ts";
import { sampleSize } from "./_runtime.ts";
import { contextFor, failure, kindsRefusing } from "./_sources.ts";

const expressions = suite("regular expressions");

const allOf = (text: string, source: string, hasLines = false): Match[] =>
  [...findAll(text, source, hasLines)].filter((found) => found !== undefined);

const SIMPLE = [
  ...String.raw`a b a b ab . [ab] [^a] [^] [] [a\-b] \w \S \d ^ $ \b \B`.split(" "),
  ...String.raw`\- \/ \x61 \u0062 \n , { } ]`.split(" "),
  "",
];
const QUANTIFIERS = "* + ? {2} {0} {0,2} {1,} {1,3} {,2}".split(" ");

/** Creates an expression that uses all syntax that Nodeface supports. */
function createExpression(random: () => number): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const join = (count: number, make: () => string, separator: string) =>
    Array.from({ length: count }, make).join(separator);
  let names = 0;
  const choice = (depth: number): string => join(pick([1, 1, 2, 3]), () => sequence(depth), "|");
  const sequence = (depth: number): string => join(pick([0, 1, 2, 3]), () => part(depth), "");
  const part = (depth: number): string => {
    const quantifier = random() < 0.5 ? pick(QUANTIFIERS) + pick(["", "", "?"]) : "";
    if (depth === 0 || random() < 0.6) return pick(SIMPLE) + quantifier;
    return `${pick(["(", "(?:", `(?<n${names++}>`])}${choice(depth - 1)})${quantifier}`;
  };
  return choice(3);
}

expressions("an expression has the same results as in JavaScript", () => {
  const random = createRandom(1);
  const letters = [..."aabb\n -1é"];
  const letter = () => letters[Math.floor(random() * letters.length)]!;
  const text = () => Array.from({ length: Math.floor(random() * 9) }, letter).join("");
  let compared = 0;
  for (let count = 0; count < sampleSize(4000); count++) {
    const source = createExpression(random);
    if (mistakeInExpression(source) !== undefined) continue;
    for (const searched of [text(), text(), text()]) {
      const about = `${JSON.stringify(source)} in ${JSON.stringify(searched)}`;
      const [whole, group] = new RegExp(source).exec(searched) ?? [];
      const first = findFirst(searched, source);
      assert.equal([first?.whole, first?.group], [whole, group], about);
      for (const flags of ["g", "gm"]) {
        const expected = [...searched.matchAll(new RegExp(source, flags))];
        const found = allOf(searched, source, flags === "gm");
        assert.equal(
          found.map(({ whole, group }) => [whole, group]),
          expected.map(([whole, group]) => [whole, group]),
          about,
        );
      }
      compared++;
    }
  }
  assert.ok(compared > sampleSize(5000), String(compared));
});

const MISTAKES: Readonly<Record<string, readonly string[]>> = {
  "a regular expression": ["(", "a{2,1}", "*", "[b-a]"],
  "a regular expression without lookahead and lookbehind": [
    ...["^(?!ok$)", "a(?=b)", "(?<=a)b", "(?<!a)b"],
  ],
  "a regular expression without back references": [String.raw`(a)\1`, String.raw`(?<a>b)\k<a>`],
  [
    String
      .raw`a regular expression without escapes other than \d \s \w \b \f \n \r \t \v \0 \xHH \uHHHH`
  ]: [String.raw`\p{L}+`, String.raw`[\p{L}]`, String.raw`\u{61}`, String.raw`\Aa\z`],
  "a regular expression of at most 1000 characters": ["a".repeat(1001)],
  "a regular expression with fewer repetitions": [
    ...["((a{0,100}){0,100}){0,100}", "(?:(?:a|){1000}){1000}", "(?:a{1000}){1000}"],
    ...["a{2147483647}", "(a{0,40}){0,40}b", "a{3900}|b{3900}|c"],
  ],
};

for (const [mistake, sources] of Object.entries(MISTAKES)) {
  for (const source of sources) {
    expressions(`an expression must be ${mistake}: ${source.slice(0, 40)}`, () => {
      assert.is(mistakeInExpression(source), mistake);
    });
  }
}

expressions("only the first 1,000 characters of a text are searched", () => {
  assert.ok(findFirst(`${"a".repeat(999)}b`, "b"));
  assert.is(findFirst(`${"a".repeat(1000)}b`, "b"), undefined);
});

expressions("nothing may be repeated at will", () => {
  for (const nothing of ["(?:)", "()()", "(?:a{0})", "(?:(b){0})"]) {
    const found = findFirst("xaby", `a${nothing}{1000000000}b`);
    assert.is(found?.whole, "ab", nothing);
  }
});

/** With an engine that backtracks, these expressions take polynomial or exponential time. */
const HOSTILE = String.raw`
  ^(\w+\s?)*$ (a|a)*b (a|aa)+$ (x+x+)+y (a*)*b ^(a?){50}a{50}$ (a|b|ab)*c \s+$ ([a-z]*)9
  (.*)a(.*)b(.*)c(.*)d .*a.*b.*c.*d.*e (((((((a*)*)*)*)*)*)*)*b (\w{1,490}!) (?:a?a?a?){40}z
`.trim().split(/\s+/);

const bait = (length: number): string[] => [
  `y${"a".repeat(length - 2)}!`,
  "abcd".repeat(length / 4),
  "x".repeat(length),
  `${"a ".repeat(length / 2 - 1)}!`,
  `${" ".repeat(length - 1)}!`,
];

for (const source of HOSTILE) {
  expressions(`no text takes long to search with ${source}`, () => {
    for (const text of bait(2048)) {
      const found = findFirst(text, source);
      assert.ok(found === undefined || found.whole.length <= 1000);
    }
  });
}

/** Returns how often a search lets other work run. The work in between has a fixed amount. */
const pausesOf = (text: string, source: string): number =>
  [...findAll(text, source, false)].filter((found) => found === undefined).length;

expressions("a text of twice the length takes twice the work, in twice as many parts", () => {
  const text = "a".repeat(100_000);
  for (const source of [String.raw`^(\w+\s?)*$`, ".*a.*b.*c.*y", "(a|a)*b", "(x+x+)+y"]) {
    const [half, whole] = [pausesOf(text, source), pausesOf(text + text, source)];
    assert.ok(half >= 10 && whole <= 2 * half + 2, `${source}: ${half} pauses, then ${whole}`);
  }
});

expressions("a search that takes too long fails", () => {
  assert.throws(() => allOf("a".repeat(1_000_000), "a.*b|a"), /faster for this text/);
});

const SOURCE = String.raw`^(\w+\s?)*$`;
const [TEXT] = bait(1000) as [string];
const NODE = "http://127.0.0.1:1";
const KIND: Kind = {
  title: "Mine",
  url: NODE,
  detect: { "a#/x": SOURCE },
  sources: { a: { get: "/" } },
  fields: {
    software: { from: "a#/x", as: { match: SOURCE } },
    version: { from: "a#/x", as: { match: "^y" } },
  },
  health: {
    ok: "it answers",
    rules: [{ when: { "a#/x": SOURCE }, code: "alarm", reason: "matches" }],
  },
};

expressions(
  "hostile values of a node stop neither the detection of a kind nor a field",
  async () => {
    const fetch = () => Promise.resolve(Response.json({ x: TEXT }));
    const node = contextFor(NODE, { kinds: { mine: KIND }, fetch });
    assert.is((await detectKind(node, new LightSignal())).kind, undefined);
    assert.is(convert([TEXT], { match: SOURCE }, { receivedAt: 0 }), undefined);
  },
);

expressions("a hostile header of a node does not stop the search for its kind", () => {
  const kinds = kindsRefusing({
    mine: { refusal: { header: "www-authenticate", pattern: SOURCE } },
  });
  assert.is(looksLike(new Headers({ "www-authenticate": TEXT }), kinds), undefined);
});

expressions("a hostile file does not stop the search for a secret", async () => {
  const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
  const basic_file = join(folder, "secret");
  await writeFile(basic_file, "a".repeat(1_000_000));
  const reasonFor = async (match: string) => {
    const secret = await readSecret({ basic_file, match });
    return "reason" in secret && secret.reason;
  };
  assert.is(await reasonFor(SOURCE), "must have the form user:password");
  assert.is(await reasonFor("(a.*)*b"), "match finds nothing in it");
  assert.is(await reasonFor(String.raw`\w{1,490}!`), "takes too long to search with match");
  await rm(folder, { recursive: true });
});

async function namesOf(listed: string, names: string, except?: string): Promise<unknown> {
  const node = contextFor(NODE, { fetch: () => Promise.resolve(new Response(listed)) });
  const listing = { get: "/", names, except };
  return (await new KnownKind(node, "mine", { ...KIND, listing }).askOffer({})).names;
}

expressions("a hostile list of operations does not stop the search for names", async () => {
  const listed = `"first" "${"a".repeat(500_000)}" "last"`;
  assert.equal(await namesOf(listed, '"([^"]+)"', "^a*$"), ["first", "last"]);
  assert.is(await namesOf(listed, String.raw`^((?:\w+\s?)*)$`), undefined);
  const { message } = await failure(namesOf(listed, "(a.*z|a)"));
  assert.is(message, "sends a list that takes too long to search with listing.names");
});

expressions("names to omit are omitted from a tree, too", async () => {
  const listed = JSON.stringify({ of: [{ is: "get" }, { is: "set", of: [{ is: "all" }] }] });
  const node = contextFor(NODE, { fetch: () => Promise.resolve(new Response(listed)) });
  const listing = { get: "/", tree: { name: "is", children: "of" }, except: "^set$" };
  const { names } = await new KnownKind(node, "mine", { ...KIND, listing }).askOffer({});
  assert.equal(names, ["get", "set/all"]);
});

expressions("while a long list is searched, other work runs", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await namesOf("a".repeat(500_000), ".*a.*b.*c(.*)y");
  clearInterval(timer);
  assert.ok(turns > 0);
});

async function infoAndReady(kind: Kind, x: unknown): Promise<[info: Response, ready: Response]> {
  const server = createServer((_, response) => response.end(JSON.stringify({ x, v: "1" })));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service = createNodeface({ node: { url, kind: "mine" }, kinds: { mine: kind } });
  const ask = async (path: string) => await service.fetch(new Request(`http://localhost${path}`));
  try {
    return await Promise.all([ask("/v1/info"), ask("/v1/ready")]);
  } finally {
    await service[Symbol.asyncDispose]();
    server.close();
  }
}

expressions("while a hostile node is queried, the service responds", async () => {
  const [info, ready] = await infoAndReady(KIND, TEXT);
  assert.is(ready.status, 200);
  const { status, version, software } = await info.json();
  assert.equal([status, version, software], ["ok", "y", undefined]);
});

expressions(
  "{ not: EXPRESSION } is true for texts, numbers and booleans that do not match",
  async () => {
    const when = { "a#/x": { not: "^ok$" } } as const;
    const rules = [{ when, code: "alarm" as const, reason: "is {a#/x}" }];
    const kind: Kind = { ...KIND, fields: { version: "a#/v" }, health: { ok: "it is ok", rules } };
    const rows = [["ok", "ok"], ["bad", "degraded"], [5, "degraded"], [false, "degraded"]];
    for (const [x, expected] of [...rows, [{}, "ok"], [undefined, "ok"]]) {
      const [info] = await infoAndReady(kind, x);
      assert.is((await info.json()).status, expected, JSON.stringify(x));
    }
  },
);

expressions.run();
