/**
 * Tests the handling of invalid descriptions: the omitted parts and the reported diagnostics. On
 * Deno and Bun, only a sample of the random descriptions is tested.
 */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { formatDiagnostic } from "../src/openapi/diagnostics.ts";
import { isObject, type JsonObject, setMember } from "../src/json/values.ts";
import { ROOT } from "./_paths.ts";
import { draws } from "./_runtime.ts";
import { validatePart } from "../src/openapi/resolve.ts";
import { load, parseYaml } from "./description/_load.ts";

const invalid = suite("invalid OpenAPI");

const GOOD = "responses: { 200: { description: Good } }";
const operation = (more: string) => `paths: { /a: { get: { ${more}, ${GOOD} } } }`;
const schema = (more: string) => `paths: {}\ncomponents: { schemas: { A: { ${more} } } }`;
const components = (more: string) => `paths: {}\ncomponents: { ${more} }`;

/** `place` is a path in the served description, and `served` is the expected value at this path. */
type Case = readonly [text: string, place: string, served: unknown, ...diagnostics: string[]];

const PARAMETER = { name: "p", in: "query", schema: {} };
const P = "{ name: p, in: query, schema: {} }";

const CASES: Readonly<Record<string, readonly Case[]>> = {
  "3.0.4": [
    [
      operation("parameters: {}"),
      "paths /a get parameters",
      undefined,
      '3:35 error "parameters" must be a list; it is omitted',
    ],
    [
      operation(`parameters: [null, text, ${P}]`),
      "paths /a get parameters",
      [PARAMETER],
      "3:36 note an item must be an object: a parameter; it is omitted",
      "3:42 error an item must be an object: a parameter; it is omitted",
    ],
    [operation(`parameters: [{ in: query, schema: {} }, ${P}]`), "paths /a get parameters", [
      PARAMETER,
    ], '3:36 error an item needs "name" (a string) to be a parameter; it is omitted'],
    [
      operation(`parameters: [{ name: p, in: body, schema: {} }]`),
      "paths /a get parameters",
      [],
      '3:36 error an item needs "in" (one of query, header, path, cookie) to be a parameter; it is omitted',
    ],
    [
      operation(`parameters: [${P}, ${P}]`),
      "paths /a get parameters",
      [PARAMETER, PARAMETER],
      '3:72 error the query parameter "p" is a duplicate',
    ],
    [
      `paths: { "/a/{b}": { parameters: [{ name: b, in: path, schema: {} }], get: { ${GOOD} } } }`,
      "paths /a/{b} parameters",
      [{ name: "b", in: "path", schema: {} }],
      '3:35 note the path parameter "b" needs "required: true"',
    ],
    [
      operation(`parameters: [{ name: b, in: path, required: true, schema: {} }]`),
      "paths /a get parameters",
      [{ name: "b", in: "path", required: true, schema: {} }],
      '3:36 error the path parameter "b" is not in the path "/a"',
    ],
    [
      `paths: { "/a/{b}": { get: { ${GOOD} } } }`,
      "paths /a/{b} get parameters",
      undefined,
      '3:27 note the parameters do not include "b" of the path "/a/{b}"',
    ],
    [
      "paths: { /a: { get: { responses: [] } } }",
      "paths /a get responses",
      undefined,
      '3:34 note "responses" must be an object; it is omitted',
    ],
    [
      "paths: { /a: { get: {} } }",
      "paths /a get",
      {},
      '3:21 note an operation needs "responses"',
    ],
    [
      "paths: { /a: { get: { responses: { 2xx: { description: Good } } } } }",
      "paths /a get responses",
      {},
      '3:41 error "2xx" must be a status, such as "200", "4XX" or "default"; it is omitted',
    ],
    [
      "paths: { /a: { get: { responses: { 200: {} } } } }",
      "paths /a get responses 200",
      {},
      '3:41 note a response needs "description"',
    ],
    [
      "paths: {}\ncomponents: { parameters: { A: { name: a, in: query } } }",
      "components parameters A",
      { name: "a", in: "query" },
      '4:32 note a parameter needs "schema" or "content"',
    ],
    [
      "paths: {}\ncomponents: { headers: { A: { schema: {}, example: 1, examples: {} } } }",
      "components headers A",
      { schema: {}, example: 1, examples: {} },
      '4:65 note a header must not have both "example" and "examples"',
    ],
    [
      "paths: { /a: text, /b: {} }",
      "paths /a",
      undefined,
      '3:14 error "/a" must be an object: a path item; it is omitted',
    ],
    [
      "paths: { a: {}, /b: {} }",
      "paths a",
      undefined,
      '3:13 error "a" must begin with /, and must have at most 8,192 characters and 100 parameters; ' +
      "it is omitted",
    ],
    [
      `paths: { "/${"{a}".repeat(101)}": {}, /b: {} }`,
      `paths /${"{a}".repeat(101)}`,
      undefined,
      `3:318 error "/${"{a}".repeat(26)}…" must begin with /, and must have at most 8,192 ` +
      "characters and 100 parameters; it is omitted",
    ],
    ["paths: []", "paths", {}, '3:8 note "paths" must be an object; it is omitted'],
    [
      components("schemas: []"),
      "components schemas",
      undefined,
      '4:24 note "schemas" must be an object; it is omitted',
    ],
    [
      "paths: {}\ntags: [text, { name: t }]",
      "tags",
      [{ name: "t" }],
      "4:8 error an item must be an object: a tag; it is omitted",
    ],
    [
      schema("properties: { b: text, c: {} }"),
      "components schemas A properties",
      { c: {} },
      '4:48 error "b" must be an object: a schema; it is omitted',
    ],
    [
      schema("type: strng"),
      "components schemas A",
      { type: "strng" },
      '4:37 error "type" must be one of array, boolean, integer, number, object, string',
    ],
    [
      schema("const: 1"),
      "components schemas A",
      { const: 1 },
      '4:38 note OpenAPI 3.0 has no "const" in a schema',
    ],
    [
      "paths: {}\nsecurity: { a: [] }",
      "security",
      undefined,
      '4:11 error "security" must be a list; it is omitted',
    ],
    [
      "paths: {}\nservers: { url: / }",
      "servers 0 url",
      "./v1/node",
      '4:10 error "servers" must be a list; it is omitted',
    ],
    [
      "paths: {}\nwebhooks: {}",
      "webhooks",
      undefined,
      '4:11 note OpenAPI 3.0 has no "webhooks" in a document; it is omitted',
    ],
    [
      `paths: { /a: { get: { operationId: a, ${GOOD} }, put: { operationId: a, ${GOOD} } } }`,
      "paths /a put operationId",
      undefined,
      '3:104 note the operationId "a" is already used by GET /a; it is omitted here',
    ],
    [
      components("parameters: { P: { name: p } }"),
      "components parameters",
      {},
      '4:32 error "P" needs "in" (one of query, header, path, cookie) to be a parameter; it is omitted',
    ],
  ],
  "3.1.2": [
    [
      "jsonSchemaDialect: ['https://hugo:S3cret@a.example']\npaths: {}",
      "jsonSchemaDialect",
      undefined,
      '3:20 error "jsonSchemaDialect" must be a string; it is omitted',
    ],
    [
      operation("parmeters: []"),
      "paths /a get parmeters",
      [],
      '3:34 note OpenAPI 3.1 has no "parmeters" in an operation; did you mean parameters?',
    ],
    [
      operation(
        "security: [{ known: [], lost: [] }, {}], servers: [{ url: 'https://a.example' }]",
      ) +
      "\ncomponents: { securitySchemes: { known: { type: http, scheme: basic } } }",
      "paths /a get security",
      [{ known: [], lost: [] }, {}],
      '3:53 error the security scheme "lost" is not declared',
    ],
    [
      "security: [{ 'x-lost': [] }]\npaths: {}",
      "security",
      [{ "x-lost": [] }],
      '3:24 error the security scheme "x-lost" is not declared',
    ],
    [
      "externalDocs: { url: 'https://hugo:S3cret@a.example/' }\npaths: {}",
      "externalDocs",
      { url: "https://a.example/" },
      "3:22 note the user and password in a URL are omitted, since the description is public",
    ],
    [
      `paths: { /a: { get: {}, query: {}, additionalOperations: { COPY: {} } } }`,
      "paths /a",
      { get: {} },
      '3:32 note OpenAPI 3.1 has no "query" in a path item; it is omitted',
      '3:58 note OpenAPI 3.1 has no "additionalOperations" in a path item; it is omitted',
    ],
    [
      schema("type: [string, 'null', text]"),
      "components schemas A",
      { type: ["string", "null", "text"] },
      '4:37 error "type" must be one of array, boolean, integer, number, object, string, null',
    ],
    [schema("const: 1, properties: { b: true, c: 1 }"), "components schemas A", {
      const: 1,
      properties: { b: true },
    }, '4:67 error "c" must be an object: a schema; it is omitted'],
  ],
  "3.2.0": [
    [
      "security: [{ '#/components/securitySchemes/a': [] }, { lost: [] }]\npaths: {}",
      "security 1",
      { lost: [] },
      '3:62 error the security scheme "lost" is not declared',
    ],
    [
      `paths: { /a: { query: { ${GOOD} }, additionalOperations: { GET: {}, COPY: {} } } }`,
      "paths /a additionalOperations",
      { COPY: {} },
      '3:99 error "GET" must be an HTTP method such as COPY, but not one with a key of its own, such as GET; it is omitted',
    ],
  ],
};

const at = (document: unknown, place: string): unknown =>
  place.split(" ").reduce<unknown>(
    (value, key) => (value as JsonObject | undefined)?.[key],
    document,
  );

for (const [version, cases] of Object.entries(CASES)) {
  for (const [text, place, served, ...diagnostics] of cases) {
    const [first = ""] = diagnostics;
    invalid(`in ${version}, ${first.replace(/^\S+ \S+ /, "")}`, async () => {
      const head = `openapi: ${version}\ninfo: { title: a, version: "1" }\n`;
      const loaded = await load({ text: head + text }, undefined, "paths: {}");
      assert.equal(
        loaded.diagnostics.map((finding) =>
          formatDiagnostic({ ...finding, message: `${finding.level} ${finding.message}` })
        ),
        diagnostics.map((finding) => `openapi.yaml:${finding}`),
      );
      assert.equal(at(JSON.parse(loaded.json, withoutCallNotes), place), served);
    });
  }
}

/** Leaves out what each operation of a node says about calls. */
function withoutCallNotes(_: string, value: JsonObject): JsonObject {
  const { "x-badges": badges, description, ...others } = isObject(value) ? value : {};
  return badges && `${description}`.startsWith("Calls are switched off.") ? others : value;
}

const VERSIONS = [
  ["openapi: 3.1", "3.1.2"],
  ["openapi: 3.0", "3.0.4"],
  ["openapi: '3.2'", "3.2.0"],
  ["swagger: 2.0", "3.0.4"],
] as const;

for (const [head, version] of VERSIONS) {
  invalid(`an incomplete OpenAPI version is completed: ${head}`, async () => {
    const { document } = await load({ text: `${head}\npaths: {}\n` });
    assert.is(document?.openapi, version);
  });
}

invalid("a part of a document is validated like a whole document", () => {
  const operation = { parameters: {}, responses: { 200: { $ref: "#/components/responses/None" } } };
  const paths = { "/a/{b}": { get: operation } };
  const found = validatePart({ paths }, { openapi: "3.1.1" });
  assert.equal(found.map(({ place, fault }) => `${place.join(" ")}: ${fault}`), [
    'paths /a/{b} get parameters: "parameters" must be a list',
    'paths /a/{b} get responses 200 $ref: the reference to "#/components/responses/None" leads nowhere',
    'paths /a/{b} get: the parameters do not include "b" of the path "/a/{b}"',
  ]);
  const methods = [{ name: "m", params: [{ name: "p", schema: { $ref: "#/none" } }, {}] }];
  assert.equal(
    validatePart({ methods }, { openrpc: "1.3.2" }).map(({ place }) => place.join(" ")),
    [
      "methods 0 params 1",
      "methods 0 params 0 schema $ref",
    ],
  );
});

invalid("members beside a dangling $ref in a section of components are validated", async () => {
  const { document } = await load({
    text: `openapi: 3.0.4
info: { title: a, version: "1" }
paths: {}
components:
  schemas: { $ref: "none.yaml", Pet: { type: object }, Toy: null }
`,
  });
  const { schemas } = document?.components as Record<string, JsonObject>;
  assert.equal(schemas!.Pet, { type: "object" });
  assert.not.ok("Toy" in schemas! || "$ref" in schemas!);
});

const anything = fc.constantFrom<unknown>(
  ...[null, true, 0, -1, 1.5, "", "text", "query", "path", [], [null], ["text"], {}, { a: 1 }, [
    {},
  ]],
  ...[{ $ref: "#/none" }, { $ref: 1 }, { description: 1 }, { type: "object" }],
  { $ref: "#/components/schemas/Pet" },
  { schema: {}, content: {}, example: 1, examples: {} },
);

function placesOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [path];
  return [
    path,
    ...Object.entries(value).flatMap(([key, member]) => placesOf(member, [...path, key])),
  ];
}

function put(value: unknown, path: readonly string[], member: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return member;
  if (Array.isArray(value)) {
    return value.map((item, i) => `${i}` === key ? put(item, rest, member) : item);
  }
  if (!isObject(value)) return member;
  const copied = { ...value };
  setMember(copied, key, put(value[key], rest, member));
  return copied;
}

const FILES = ["petstore-2.0.json", "petstore-3.0.yaml", "petstore-3.1.yaml", "petstore-3.2.yaml"];

invalid("a description with random values at random positions is shown in both forms", async () => {
  for (const file of FILES) {
    const good = parse(readFileSync(`${ROOT}tests/description/${file}`, "utf8")) as JsonObject;
    const { swagger, openapi } = good;
    const rich = swagger === undefined ? { ...good, ...enrich(good) } : good;
    const places = placesOf(rich).filter((path) =>
      path.length > 0 && path[0] !== "openapi" && path[0] !== "swagger"
    );
    const changes = fc.array(fc.tuple(fc.nat(places.length - 1), anything), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(changes, async (changes) => {
        const changed = changes.reduce<unknown>(
          (value, [place, member]) => put(value, places[place]!, member),
          rich,
        );
        const text = JSON.stringify(changed);
        const { json, yaml, diagnostics } = await load({ text, name: "a.json" });
        assert.ok(json !== "", `${openapi}: ${diagnostics.map(formatDiagnostic).join("\n")}`);
        assert.equal(parseYaml(yaml), JSON.parse(json));
      }),
      { ...draws(20), seed: 1 },
    );
  }
});

function enrich({ components }: JsonObject): JsonObject {
  const own = components as Record<string, JsonObject>;
  const content = { "application/json": { schema: {}, examples: { e: { value: 1 } } } };
  return {
    components: {
      ...own,
      schemas: {
        ...own.schemas,
        Any: { oneOf: [{ type: "string" }, { enum: [1] }], xml: { name: "x" } },
      },
      parameters: { ...own.parameters, Q: { name: "q", in: "query", content } },
      headers: { H: { schema: { type: "string" } } },
      links: { L: { operationId: "one", parameters: { a: "b" } } },
      callbacks: { C: { "{$url}": { post: { responses: { 200: { description: "" } } } } } },
      requestBodies: {
        B: { content: { "multipart/form-data": { encoding: { a: { style: "form" } } } } },
      },
      responses: {
        R: { description: "", headers: { A: { $ref: "#/components/headers/H" } }, content },
      },
      securitySchemes: {
        O: {
          type: "oauth2",
          flows: { implicit: { authorizationUrl: "https://a.example", scopes: { a: "b" } } },
        },
      },
    },
    servers: [{ url: "https://{a}.example", variables: { a: { default: "b", enum: ["b"] } } }],
    security: [{ O: ["a"] }],
    tags: [{ name: "t", externalDocs: { url: "https://a.example" } }],
  };
}

/** Each text is written without quotes, so that YAML reads it as a value of another type. */
const UNQUOTED = `openapi: 3.0.3
info: { title: 0o17, version: 1.0, contact: { name: true, email: 12345678901234567890 } }
servers:
  - url: https://x.example:{p}
    variables: { p: { default: 0443, enum: [0443, 8443] } }
tags: [{ name: 1.0, description: 1e3 }]
paths:
  /a:
    get:
      operationId: 007
      tags: [1.0]
      summary: null
      parameters: [{ name: 1.50, in: query, description: [a], schema: { type: string } }]
      responses: { 200: { description: } }
`;

invalid("text that YAML reads as another type is served as it is spelled", async () => {
  const { document, diagnostics } = await load({ text: UNQUOTED, name: "x.yaml" }, {});
  assert.equal(diagnostics.map((one) => `${one.level} ${formatDiagnostic(one)}`), [
    'note x.yaml:2:16 "title" must be a string: write "0o17"',
    'note x.yaml:2:31 "version" must be a string: write "1.0"',
    'note x.yaml:2:53 "name" must be a string: write "true"',
    'note x.yaml:2:66 "email" must be a string: write "12345678901234567890"',
    'note x.yaml:5:32 "default" must be a string: write "0443"',
    'note x.yaml:5:44 "enum" must have strings: write "0443"',
    'note x.yaml:6:16 "name" must be a string: write "1.0"',
    'note x.yaml:6:34 "description" must be a string: write "1e3"',
    'note x.yaml:10:20 "operationId" must be a string: write "007"',
    'note x.yaml:11:13 "tags" must have strings: write "1.0"',
    'note x.yaml:12:16 "summary" must be a string; it is omitted',
    'note x.yaml:13:28 "name" must be a string: write "1.50"',
    'error x.yaml:13:58 "description" must be a string; it is omitted',
    'note x.yaml:14:27 "description" must be a string; it is served as ""',
  ]);
  const { info, servers, tags, paths } = document as Record<string, unknown>;
  assert.equal(info, {
    title: "0o17",
    version: "1.0",
    contact: { name: "true", email: "12345678901234567890" },
  });
  const variables = { p: { default: "0443", enum: ["0443", "8443"] } };
  assert.equal(servers, [{ url: "https://x.example:{p}", variables }]);
  assert.equal((tags as unknown[])[0], { name: "1.0", description: "1e3" });
  assert.equal((paths as Record<string, { get: JsonObject }>)["/a"]!.get, {
    operationId: "007",
    tags: ["1.0"],
    parameters: [{ name: "1.50", in: "query", schema: { type: "string" } }],
    responses: { 200: { description: "" } },
  });
});

invalid("a number where text belongs is text in JSON, too", async () => {
  const text = '{"openapi":"3.1.0","info":{"title":12e1,"version":1.0},"paths":{}}';
  const { document, diagnostics } = await load({ text, name: "x.json" });
  assert.equal(diagnostics.map(formatDiagnostic), [
    'x.json:1:36 "title" must be a string: write "12e1"',
    'x.json:1:51 "version" must be a string: write "1.0"',
  ]);
  assert.equal(document?.info, { title: "12e1", version: "1.0" });
});

invalid("a path with a query or a fragment is reported", async () => {
  const item = { get: { responses: { 200: { description: "" } } } };
  const paths = { "/a?b=c": item, "/a#b": item, "/a": item };
  const text = JSON.stringify({ openapi: "3.1.0", info: { title: "", version: "" }, paths });
  const { diagnostics } = await load({ text, name: "x.json" });
  assert.equal(diagnostics.map(({ level, message }) => `${level} ${message}`), [
    'note the path "/a?b=c" has a query, which OpenAPI does not allow; its operations cannot be ' +
    "called here",
    'note the path "/a#b" has a fragment, which OpenAPI does not allow; its operations cannot be ' +
    "called here",
  ]);
});

invalid.run();
