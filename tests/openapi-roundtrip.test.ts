/**
 * Tests that random descriptions keep their content when they are written and parsed again. On Deno
 * and Bun, fewer descriptions are tested.
 */
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse, parseDocument, stringify } from "yaml";
import { formatJson, parseJson } from "../src/json/lossless.ts";
import { withScalarExtensions } from "../src/explorer/scalar-extensions.ts";
import { withServiceOperations } from "../src/openapi/merge.ts";
import { withServers } from "../src/openapi/servers.ts";
import { isEqual, type JsonObject } from "../src/json/values.ts";
import { writeYaml } from "../src/openapi/write.ts";
import { draws } from "./_runtime.ts";
import { load, parseYaml } from "./description/_load.ts";

const roundTrip = suite("random descriptions");

const text = fc.oneof(
  fc.constantFrom(
    ..."yes|no|~|null|0x1F|1e3|.inf|12345678901234567890|2020-01-01|<<|- a|a: b|a #b|# a|---|..."
      .split("|"),
    ...[
      "",
      " ",
      "\n",
      "a\n\n  b\n",
      " a\nb",
      "a\n",
      "a\n\n",
      "\ttab",
      "'",
      '"',
      "{",
      "*a",
      "&a",
      "!t",
    ],
    ...[
      "%",
      "@",
      "`",
      "a: |\n  b",
      "paths:\n  /a:\n",
      'key: "\n"',
      "é\u2028x",
      "\\n",
      "a\r\nb",
      "\u0085",
    ],
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.lorem({ maxCount: 30 }),
);
const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value === 0 ? 0 : value),
  fc.boolean(),
  fc.constant(null),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 200n }),
);
const name = fc.oneof(text, fc.constantFrom("__proto__", "constructor", "200", "type"));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const object = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });
const path = fc.oneof(
  fc.constantFrom("/v1/info", "/v1/spec", "/a/b", "/x: y", "/#"),
  fc.string({ maxLength: 8 }).map((name) => `/${name.replaceAll(/[{}]/g, "")}`),
);
const operation = fc.record({
  summary: text,
  description: text,
  responses: fc.constant({ 200: { description: "OK" } }),
  "x-more": object,
}, { requiredKeys: ["responses"] });
const server = fc.record({
  url: fc.constantFrom("/", "/v1/", "https://{a}.example", "x"),
  description: text,
}, {
  requiredKeys: ["url"],
});
const parts = {
  schemas: { default: value, example: value, description: text },
  responses: { description: text, "x-more": value },
  headers: { schema: fc.record({ default: value }), "x-more": value },
  examples: { value, summary: text },
};
const description = fc.record({
  openapi: fc.constantFrom("3.0.3", "3.1.0", "3.2.0"),
  info: fc.record({ title: text, version: text }),
  servers: fc.array(server, { maxLength: 2 }),
  tags: fc.uniqueArray(fc.record({ name: text }), { maxLength: 2, selector: ({ name }) => name }),
  components: fc.record(
    Object.fromEntries(
      Object.entries(parts).map(([section, members]) => [
        section,
        fc.dictionary(
          fc.constantFrom("NodefaceInfo", "NodefaceETag", "A", "b-c"),
          fc.record(members as Record<string, fc.Arbitrary<unknown>>),
          { maxKeys: 2 },
        ),
      ]),
    ),
    { requiredKeys: [] },
  ),
  paths: fc.dictionary(
    path,
    fc.record({ get: operation, post: operation, summary: text }, { requiredKeys: [] }),
    { maxKeys: 3 },
  ),
  "x-more": value,
}, { requiredKeys: ["openapi", "info", "paths"] });

/** A short version of the service's own description, so that the tests run faster. */
const OWN = `
paths:
  /v1/info: { get: { operationId: getInfo, responses: { "200": { $ref: "#/components/responses/Info" } } } }
  /v1/spec: { get: { operationId: getExplorer, responses: {} } }
components:
  responses: { Info: { description: "", headers: { ETag: { $ref: "#/components/headers/ETag" } } } }
  headers: { ETag: { description: "One\\n\\nvalidator\\n" } }
  schemas: { Info: {} }
`;

const layout = fc.record({
  indent: fc.integer({ min: 1, max: 5 }),
  indentSeq: fc.boolean(),
  lineWidth: fc.constantFrom(0, 40, 80),
  collectionStyle: fc.constantFrom("any", "block", "flow"),
  defaultStringType: fc.constantFrom("PLAIN", "QUOTE_DOUBLE", "QUOTE_SINGLE", "BLOCK_LITERAL"),
  blockQuote: fc.constantFrom(true, false, "folded"),
  isJson: fc.boolean(),
  isCommented: fc.boolean(),
  newline: fc.constantFrom("\n", "\r\n"),
});

roundTrip(
  "both forms have the merged content, however the description is written",
  async () => {
    const own = parseYaml(OWN);
    const where = {};
    const from = "file:///description/openapi.yaml";
    await fc.assert(
      fc.asyncProperty(description, layout, async (description, layout) => {
        // `parseJson` returns large integers as `bigint`s.
        const document = parseJson(formatJson(description)) as JsonObject;
        const { isJson, isCommented, newline, ...options } = layout;
        // Quotes the strings that YAML 1.1 misreads, and `<<`, which Nodeface reads as a merge key.
        const quoted = { aliasDuplicateObjects: false, compat: "yaml-1.1" };
        const yaml = stringify(document, { ...options, ...quoted } as object);
        const commented = isCommented
          ? `# First\n${yaml.replace(/^(?=paths:)/m, "# Paths\n")}`
          : yaml;
        const written = newline === "\n" || /\r/.test(yaml)
          ? commented
          : commented.replaceAll("\n", newline);
        // The YAML library writes some layouts incorrectly, so they are skipped.
        fc.pre(isJson || (isText(written) && isEqual(exactly(written), document)));
        const loaded = await load({ text: isJson ? formatJson(document) : written }, where, OWN);
        const merged = await withScalarExtensions(
          await withServiceOperations(own, await withServers(document, where, from)),
          {},
        );
        assert.ok(isEqual(parseJson(loaded.json), merged), "JSON");
        assert.ok(isEqual(exactly(loaded.yaml), merged), "YAML");
      }),
      draws(40),
    );
  },
);

const anyText = fc.oneof(text, fc.string({ unit: "binary", maxLength: 20 }));

roundTrip("both forms have the same content, even for parsers of YAML 1.1", async () => {
  const members = fc.dictionary(anyText, fc.oneof(anyText, value), { noNullPrototype: true });
  await fc.assert(
    fc.asyncProperty(members, async (document) => {
      const decode = (bytes: Uint8Array) =>
        new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      const json = parseJson(decode(new TextEncoder().encode(formatJson(document))));
      const yaml = decode((await writeYaml(document)).identity);
      assert.ok(isEqual(exactly(yaml), json), yaml);
      const old = parse(yaml, { version: "1.1", intAsBigInt: true }) as unknown;
      assert.ok(isEqual(parseJson(formatJson(old)), json), yaml);
    }),
    draws(200),
  );
});

roundTrip("a description that indentation would multiply stays small as YAML", async () => {
  const nested = (value: unknown, depth: number): unknown =>
    depth === 0 ? value : [nested(value, depth - 1)];
  const lines = "a\n".repeat(20_000);
  for (
    const document of [
      { deep: nested(Array(100_000).fill(0), 250) },
      { deep: nested(Array(100).fill(lines), 250), "not\u0085printed": "\u2028" },
      { ["long ".repeat(1000)]: Array(500).fill(0), deep: 1 },
    ]
  ) {
    const yaml = new TextDecoder().decode((await writeYaml(document)).identity);
    assert.ok(yaml.length < 33_600_000);
    assert.not.match(yaml, "\u2028");
    assert.equal(JSON.parse(yaml.startsWith("{") ? yaml : formatJson(parse(yaml))), document);
  }
});

/** Returns false if the YAML library split a surrogate pair when it folded a line. */
function isText(text: string): boolean {
  return new TextDecoder().decode(new TextEncoder().encode(text)) === text;
}

function exactly(yaml: string): unknown {
  const { errors } = parseDocument(yaml);
  if (errors.length > 0) return undefined;
  return parseJson(formatJson(parse(yaml, { intAsBigInt: true })));
}

roundTrip.run();
