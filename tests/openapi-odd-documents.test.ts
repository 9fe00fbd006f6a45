import { suite } from "uvu";
import * as assert from "uvu/assert";
import { load, type Loaded, parseYaml } from "./description/_load.ts";

const odd = suite("an unusual description");

const INFO = 'openapi: 3.1.1\ninfo: { title: Odd, version: "1" }\n';
const FILLER = "x".repeat(5000);

const read = (text: string, name = "openapi.yaml") => load({ text, name });
const readJson = (more: unknown) =>
  read(
    JSON.stringify({ openapi: "3.1.1", info: { title: "Odd", version: "1" }, ...more as object }),
  );

function same({ json, yaml, document }: Loaded) {
  assert.ok(document);
  assert.equal(parseYaml(yaml), JSON.parse(json));
}

odd("a description is shown even if a server has variables in place of host and port", async () => {
  const variables = { host: { default: "a" }, port: { default: "1" } };
  const loaded = await readJson({
    servers: [{ url: "//{host}:{port}/v1", variables }, { url: "//" }],
    paths: {},
  });
  same(loaded);
});

odd("a description is shown even if its content begins on the same line as the ---", async () => {
  same(await read('--- {openapi: 3.1.1, info: {title: a, version: "1"}, paths: {}}\n'));
});

odd("a description is shown even if it contains text that must be quoted in YAML", async () => {
  const texts = [
    "\ud800a\nb",
    "\u0001a\nb",
    "\u0085a\nb",
    "\ufeffa\nb",
    "\u2028a\nb",
    " a\nb",
    "\ta\nb",
  ];
  for (const description of texts) {
    const loaded = await readJson({ paths: {}, components: { schemas: { A: { description } } } });
    same(loaded);
    // deno-lint-ignore no-control-regex -- the test asserts that these characters are absent
    assert.not.match(loaded.yaml, /[\x00-\x08\x85\ud800-\udfff\ufeff\u2028]/);
  }
});

odd("numbers are the same in both forms, even for parsers of YAML 1.1", async () => {
  const { json, yaml } = await readJson({ paths: {}, "x-small": 1e-8 });
  assert.is(JSON.parse(json)["x-small"], 1e-8);
  assert.match(yaml, "x-small: 1.0e-8\n");
  const hex = await read(`${INFO}paths: {}\nx-large: 0xFFFFFFFFFFFFFFFF\n`);
  assert.match(hex.json, '"x-large":18446744073709551615');
});

/** Without quotes, some YAML 1.1 parser would read each of these strings as another type. */
const LOOKALIKES =
  ("yes No on OFF y ~ null 1e3 1.0e+3 0777 0o17 0b11 0x1F 12:30 190:20:30.15 1_000 " +
    "2020-01-01 2020-01-01T00:00:00Z .inf .NaN + - = << !a &a *a %a @a `a ? : # [ { | >").split(
      " ",
    );

odd("strings that a parser of YAML 1.1 would misread are quoted", async () => {
  const { yaml } = await readJson({ paths: {}, "x-texts": [...LOOKALIKES, "a\tb"] });
  const lines = yaml.split("x-texts:\n")[1]!.trimEnd().split("\n").slice(0, LOOKALIKES.length + 1);
  const bare = lines.filter((line) => !/^ *- ["']/.test(line)).map((line) => line.trim());
  // Every parser reads `+` as a string.
  assert.equal(bare, ["- +"]);
});

odd("a number that is too large for JSON readers is served as a string, and reported", async () => {
  const [inJson, inYaml] = [
    '{"openapi":"3.1.1","info":{"title":"a","version":"1"},"paths":{},"x-n":1e999}',
    `${INFO}paths: {}\nx-n: 1e999\n`,
  ];
  for (const text of [inJson, inYaml]) {
    const loaded = await read(text);
    same(loaded);
    assert.is(JSON.parse(loaded.json)["x-n"], "1e999");
    const message = "is too large for most JSON parsers; it is served as a string";
    assert.match(loaded.diagnostics[0]?.message ?? "", message);
  }
});

odd("if a server variable has no default, only the values of its enum are used", async () => {
  const servers = [{ url: "https://{h}.example", variables: { h: { enum: ["a", "b"] } } }];
  const { origins } = await readJson({ paths: { "/a": { servers } } });
  assert.equal(origins, ["https://a.example", "https://b.example"]);
});

const SENSELESS = [
  [`${INFO}paths:\n  "/a\\q":\n    description: ${FILLER}\n`, "is not YAML"],
  [`${INFO}paths: {}\n--- {x: 1}\n`, "a second document begins here"],
  [
    "openapi: 30000000000000000000\ninfo: {}\npaths: {}\n",
    "unknown version 30000000000000000000",
  ],
  [
    JSON.stringify({
      swagger: "2.0",
      info: { title: "a", version: "1" },
      produces: Array.from({ length: 3000 }, (_, i) => `text/${i}`),
      paths: {},
      responses: { A: { description: "", schema: { enum: Array(1000).fill(1) } } },
    }),
    "cannot be shown",
  ],
] as const;

for (const [text, message] of SENSELESS) {
  odd(`a description that cannot be shown is reported: ${message}`, async () => {
    const { diagnostics, document } = await read(text);
    assert.is(document, undefined);
    const fatal = diagnostics.find(({ isFatal }) => isFatal);
    assert.ok(fatal?.message.startsWith(message), fatal?.message);
  });
}

odd.run();
