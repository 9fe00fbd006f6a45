import { suite } from "uvu";
import * as assert from "uvu/assert";
import { makeExample } from "../src/explorer/schema-examples.ts";
import { readOutline } from "../src/explorer/read-outline.ts";
import { withScalarExtensions } from "../src/explorer/scalar-extensions.ts";
import { listNodeOperations } from "../src/openapi/callable-operations.ts";
import { locate } from "../src/openapi/diagnostics.ts";
import { withHomes } from "../src/openapi/home.ts";
import { openApiOfMethods } from "../src/openapi/openrpc.ts";
import { expandUrl } from "../src/openapi/server-url.ts";
import { withDropInPaths } from "../src/openapi/drop-in.ts";
import { upgradeSwagger } from "../src/openapi/upgrade.ts";
import type { JsonObject } from "../src/json/values.ts";
import { load } from "./description/_load.ts";

const hostile = suite("descriptions that refer to the same part many times");

const responses = { 200: { description: "" } };
const info = { title: "x", version: "1" };
const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const map = <T>(
  count: number,
  of: (i: number) => T,
  key = "a",
): Record<string, T> => Object.fromEntries(range(count).map((i) => [`${key}${i}`, of(i)]));
const A = { $ref: "#/components/schemas/A" };

function countObjects(value: unknown, seen = new Set<unknown>()): number {
  if (typeof value !== "object" || value === null || seen.has(value)) {
    return seen.size;
  }
  seen.add(value);
  for (const member of Object.values(value)) countObjects(member, seen);
  return seen.size;
}

function counted<T extends object>(
  object: T,
  member: string,
): { object: T; count: () => number } {
  let count = 0;
  const value = (object as Record<string, unknown>)[member];
  Object.defineProperty(object, member, {
    enumerable: true,
    get: () => (count++, value),
  });
  return { object, count: () => count };
}

hostile("a server with a long text in many places has no URL", () => {
  const url = "{a}".repeat(341);
  const variables = { a: { default: "x".repeat(1_500_000) } };
  assert.equal(expandUrl({ url, variables }), []);
  assert.equal(expandUrl({ url: "https://{a}.example", variables: { a: { default: "b" } } }), [
    "https://b.example",
  ]);
});

hostile("texts that operations repeat are short, and others are not copied", async () => {
  const long = "x".repeat(100_000);
  const parameter = {
    name: "a",
    in: "query",
    required: true,
    schema: { $ref: "#/components/schemas/S" },
  };
  const operation = {
    parameters: [{ $ref: "#/components/parameters/a" }, { $ref: "#/components/parameters/long" }],
    responses: { 200: { $ref: "#/components/responses/r" } },
    requestBody: {
      content: { "application/json": { schema: { $ref: "#/components/schemas/B" } } },
    },
  };
  const { document, diagnostics } = await load({
    name: "a.json",
    text: JSON.stringify({
      openapi: "3.1.1",
      info,
      servers: [{ url: "/{v}".repeat(10_000), variables: { v: { default: "", enum: ["", "1"] } } }],
      paths: map(50, () => ({
        servers: [{ url: "https://a.example", description: long }],
        post: operation,
      }), "/a"),
      components: {
        parameters: { a: parameter, long: { name: long, in: "query", schema: {} } },
        schemas: {
          S: { type: "string", enum: [long] },
          F: { type: "string", format: long },
          E: { type: "string", example: long },
          B: {
            type: "object",
            required: range(20).map((i) => `p${i}`),
            properties: map(20, () => ({ $ref: "#/components/schemas/E" }), "p"),
          },
        },
        responses: {
          r: {
            description: "",
            content: { "application/json": { schema: { $ref: "#/components/schemas/F" } } },
          },
        },
      },
    }),
  });
  const said = diagnostics.map(({ message }) => message).filter((text) => /omitted$/.test(text));
  assert.equal(
    new Set(said),
    new Set(
      ["format", "name", "url"].map((key) =>
        `"${key}" has more than 1,024 characters; it is omitted`
      ),
    ),
  );
  const outline = await readOutline(document!);
  assert.ok(JSON.stringify(outline).length < 20 * long.length);
});

hostile("a component with a long name is referred to by a short one", async () => {
  const name = "a".repeat(20_000);
  const text = JSON.stringify({
    openapi: "3.1.1",
    info,
    paths: {},
    components: {
      schemas: { [name]: { type: "object" }, B: { anyOf: ["item"] } },
    },
  }).replace('"item"', () => {
    const items = ["&a", ...range(99).map(() => "*a")];
    const reference = `{ $ref: "#/components/schemas/${name}" }`;
    return items.map((item, at) => at === 0 ? `${item} ${reference}` : item).join(", ");
  });
  const { document } = await load({ text, name: "a.yaml" });
  const { B } = (document!.components as { schemas: Record<string, { anyOf: object[] }> }).schemas;
  assert.is(B!.anyOf.length, 100);
  assert.ok(JSON.stringify(B).length < 100 * 200);
});

for (
  const [what, schema] of [
    ["properties", { properties: map(12, () => A) }],
    ["alternatives", { anyOf: range(12).map(() => A) }],
    ["parts", { allOf: range(12).map(() => A) }],
  ] as const
) {
  hostile(
    `a schema whose ${what} all refer to the schema itself is read once per level`,
    async () => {
      const body = { content: { "application/json": { schema: A } } };
      const document = await withHomes({
        servers: [{ url: "./v1/node" }],
        paths: { "/a": { post: { requestBody: body, responses } } },
        components: { schemas: { A: schema } },
      });
      const [operation] = await listNodeOperations(document, "operator");
      assert.ok(countObjects(operation) < 100, String(countObjects(operation)));
    },
  );
}

hostile(
  "a body, header or outline that many operations share is read only once",
  async () => {
    const content = map(1000, () => ({}), "a/b");
    const headers = map(1000, () => ({}));
    const document = {
      servers: [{ url: "./v1/node" }],
      paths: map(
        400,
        () => ({
          post: {
            requestBody: { $ref: "#/components/requestBodies/a" },
            responses: { 200: { $ref: "#/components/responses/a" } },
          },
        }),
        "/a",
      ),
      components: {
        requestBodies: { a: { content } },
        responses: { a: { description: "", content, headers } },
      },
    };
    const operations = await listNodeOperations(await withHomes(document), "operator");
    assert.is(operations.length, 400);
    const facts = (await readOutline(document)).sections.flatMap(({ operations }) =>
      operations.flatMap(({ items }) =>
        items.flatMap(([, all]) => all.flatMap(({ facts }) => facts))
      )
    );
    assert.ok(facts.length < 260_000, String(facts.length));
  },
);

hostile("a long line is scanned only once, even if it contains thousands of errors", () => {
  let count = 0;
  const text = { indexOf: () => (count++, -1) } as unknown as string;
  const all = range(10_000).map((place) => ({
    ...{ severity: "note" as const, fault: `${place}`, more: 0 },
    place,
  }));
  const located = locate({ name: "a.json", text, value: undefined, offsets: new Map() }, all);
  assert.equal([located.length, located.at(-1)?.column, count], [10_000, 10_000, 1]);
});

hostile(
  "a generated example is small, even if the schema has thousands of properties",
  () => {
    const { object, count } = counted({ type: "integer" }, "type");
    const properties = map(5000, () => object);
    const schema = {
      allOf: range(50).map(() => ({ type: "object", properties })),
    };
    makeExample({}, schema);
    assert.ok(count() < 20_000, String(count()));
  },
);

hostile(
  "the schema of a parameter that refers to itself several times is examined only once",
  async () => {
    const { object, count } = counted(
      { oneOf: range(2).map(() => A) },
      "oneOf",
    );
    const params = [{ name: "a", schema: A }];
    const document = {
      methods: range(5).map((i) => ({
        name: `m${i}`,
        params,
        "x-access": "read",
      })),
      components: { schemas: { A: object } },
    };
    assert.is(Object.keys((await openApiOfMethods(document)).paths).length, 5);
    assert.ok(count() < 10, String(count()));
  },
);

hostile(
  "OpenRPC methods that share a large part are refused before the OpenAPI form is built",
  async () => {
    const param = { name: "a", schema: {}, ...map(20_000, () => 1, "x-") };
    const methods = range(100).map((i) => ({ name: `m${i}`, params: [param] }));
    const message = await openApiOfMethods({ methods }).catch((error: Error) => error.message);
    assert.is(message, "the converted document would be many times larger");
  },
);

hostile(
  "a chain of Swagger parameters is followed for only a few steps",
  async () => {
    let all = 0;
    const parameters = map(500, (i) => ({
      get $ref() {
        all++;
        return `#/parameters/p${i + 1}`;
      },
    }), "p");
    const list = range(500).map((i) => ({ $ref: `#/parameters/p${i}` }));
    await upgradeSwagger({
      ...{ swagger: "2.0", info, parameters },
      paths: { "/a": { get: { parameters: list, responses } } },
    });
    assert.ok(all < 500 * 200, String(all));
  },
);

hostile(
  "server variables with a single value do not multiply the number of URLs",
  () => {
    const names = range(150).map((i) => `v${i}`);
    const variables = Object.fromEntries(
      names.map((name) => [name, { default: "1" }]),
    );
    const url = `https://a.example/${names.map((name) => `{${name}}`).join("")}{a}`;
    const server = {
      url,
      variables: { ...variables, a: { default: "x", enum: ["x", "y"] } },
    };
    const stem = `https://a.example/${"1".repeat(150)}`;
    assert.equal(expandUrl(server), [`${stem}x`, `${stem}y`]);
    assert.equal(expandUrl({ url: `https://a.example/${"a".repeat(9000)}` }), []);
  },
);

for (
  const [what, document, note] of [
    [
      "security schemes of the document",
      {
        ...{
          openapi: "3.1.1",
          security: range(65).map((i) => ({ [`s${i}`]: [] })),
        },
        components: {
          securitySchemes: map(
            65,
            () => ({ type: "http", scheme: "basic" }),
            "s",
          ),
        },
        paths: { "/a": { get: { responses } } },
      },
      '"security" has more than 64 schemes, or long names; it is omitted',
    ],
    [
      "the length of the document's security",
      {
        openapi: "3.1.1",
        security: [{ a: ["s".repeat(50_000)] }],
        components: { securitySchemes: { a: { type: "oauth2", flows: {} } } },
        paths: { "/a": { get: { responses } } },
      },
      '"security" has more than 64 schemes, or long names; it is omitted',
    ],
    [
      "further operations of a path",
      {
        openapi: "3.2.0",
        paths: {
          "/a": {
            additionalOperations: Object.fromEntries(
              range(65).map((
                i,
              ) => [`M${String.fromCharCode(65 + i % 26, 65 + i / 26)}`, {
                responses,
              }]),
            ),
          },
        },
      },
      "a map (operation) has more than 64 members; the others are omitted",
    ],
  ] as const
) {
  hostile(
    `${what} beyond a generous maximum are omitted, and a note is reported`,
    async () => {
      const { document: served, diagnostics } = await load({
        text: JSON.stringify({ info, ...document }),
        name: "a.json",
      });
      assert.equal(
        diagnostics.map(({ message }) => message).filter((text) => text === note),
        [note],
      );
      const path = (served!.paths as Record<string, Record<string, object>>)["/a"]!;
      assert.is(served!.security, undefined);
      assert.is(
        Object.keys(path.additionalOperations ?? {}).length,
        what.startsWith("f") ? 64 : 0,
      );
    },
  );
}

hostile("the page reads a schema that includes a large schema many times once", async () => {
  const { object: properties, count } = counted(map(1000, () => ({})), "a0");
  const schema = { allOf: range(1000).map(() => A) };
  const content = { "application/json": { schema } };
  const { sections } = await readOutline({
    paths: { "/": { get: { responses: { 200: { description: "", content } } } } },
    components: { schemas: { A: { properties } } },
  });
  const [, [, [response]]] = sections[0]!.operations[0]!.items.slice(1) as [
    unknown,
    [string, readonly [{ fieldsOf(): readonly { name: string }[] }]],
  ];
  assert.equal(response!.fieldsOf().map(({ name }) => name), range(60).map((i) => `a${i}`));
  assert.ok(count() < 10, String(count()));
});

hostile("no form keeps a long example, which many operations may share", async () => {
  const requestBody = (length: number) => ({
    content: { "application/json": { example: { a: "x".repeat(length) } } },
  });
  const post = (length: number) => ({ post: { requestBody: requestBody(length), responses } });
  const { sections } = await readOutline({ paths: { "/a": post(100), "/b": post(100_000) } });
  const lengths = sections[0]!.operations.map(({ form }) => form!.fields[0]!.example?.length);
  assert.equal(lengths, [108, undefined]);
});

hostile("the types of a parameter with a million alternatives are read at once", async () => {
  const alternatives = range(1000).map(() => A);
  const properties = map(1000, () => ({ anyOf: alternatives, oneOf: alternatives }), "p");
  const content = { "application/json": { schema: { properties } } };
  const post = { requestBody: { content }, responses };
  const document = await withHomes({
    servers: [{ url: "." }],
    paths: { "/v1/rpc/a": { post } },
    components: { schemas: { A: { type: "integer", anyOf: alternatives } } },
  });
  const [operation] = await listNodeOperations(document, "network");
  assert.equal(operation!.parameters![999]!.types, ["integer"]);
});

hostile("a long list that the schemas of many parameters share is read a few times", async () => {
  const { object: values, count } = counted(range(1000).map(() => null), "0");
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const level = (_: unknown, i: number) => ({
    anyOf: [ref(`L${i + 1}`), ...range(3).map(() => A)],
  });
  const levels = map(8, (i) => i === 7 ? { type: "string", default: values } : level(0, i), "L");
  const parameters = range(200).map((i) => ({ name: `p${i}`, in: "query", schema: ref("L0") }));
  await readOutline({
    paths: { "/a": { parameters, get: { responses }, post: { responses } } },
    components: { schemas: { A: { enum: values }, ...levels } },
  });
  assert.ok(count() < 20, String(count()));
});

hostile("a long reference to which many places lead is not read for each of them", async () => {
  const long = `#/${"a/".repeat(500_000)}`;
  const errors = range(50_000).map(() => ({ $ref: "#/x-long" }));
  const method = { params: [], result: { name: "r", schema: {} } };
  const examples = range(100).map(() => ({ $ref: "#/x-example" }));
  const params = range(1000).map(() => ({ $ref: `#/${"a/".repeat(2000)}` }));
  const { paths } = await openApiOfMethods({
    methods: [{ ...method, name: "m", errors }, { ...method, name: "n", examples }],
    ...{ "x-long": { $ref: long }, "x-example": { params } },
  } as JsonObject);
  assert.ok(JSON.stringify(paths).length < 100_000);
  const text = JSON.stringify({
    ...{ openapi: "3.1.1", info, "x-long": { $ref: long } },
    paths: {
      "/a": {
        get: {
          parameters: range(1000).map((i) => ({
            ...{ name: `p${i}`, in: "query", schema: {} },
            content: { "a/b": { $ref: "#/x-long" } },
          })),
          responses,
        },
      },
    },
  });
  const { document } = await load({ text }, {});
  assert.ok(document);
  assert.not.match(JSON.stringify(document.paths), "#/x-long");
});

hostile("the values of a server's variable are read once, however often it stands there", () => {
  const { object: variable, count } = counted({ enum: range(1000).map(String) }, "enum");
  assert.equal(
    expandUrl({ url: `http://u@h/${"{a}".repeat(300)}`, variables: { a: variable } }, 1),
    [
      `http://u@h/${"0".repeat(300)}`,
    ],
  );
  assert.is(count(), 1);
});

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
const operations = Object.fromEntries(METHODS.map((method) => [method, { responses }]));

hostile("operations repeat the servers of their path up to a limit", async () => {
  const variables = { v: { default: "x".repeat(30_000) } };
  const servers = Array(100).fill({ url: "https://a.example/{v}", variables });
  const document = { servers: [{ url: "." }], paths: { "/a": { servers, ...operations } } };
  for (const change of [withScalarExtensions(document, {}), withDropInPaths(document, [], false)]) {
    const changed = await change;
    assert.ok(JSON.stringify(changed).length < 16_000_000);
    assert.match(JSON.stringify(changed), '"delete":{"responses":{"200":{"description":""}},"serv');
  }
  const short = { "/a": { servers: servers.slice(0, 2), ...operations } };
  const changed = await withDropInPaths({ ...document, paths: short }, [], false);
  assert.equal(
    (changed.paths as Record<string, Record<string, object>>)["/a"]!.get,
    { responses, servers: servers.slice(0, 2) },
  );
});

hostile("operations of two paths that become one repeat parameters up to a limit", async () => {
  const parameters = [{ name: "a", in: "query", description: "x".repeat(3_000_000) }];
  const document = await withHomes({
    servers: [{ url: "./v1/node" }],
    paths: {
      "/x/y": { parameters, ...operations, get: undefined },
      "/y": { servers: [{ url: "./v1/node/x" }], get: { responses } },
    },
  });
  const { paths } = await withDropInPaths(document, [], false);
  assert.ok(JSON.stringify(paths).length < 16_000_000);
  const { get, put } = (paths as Record<string, Record<string, object>>)["/x/y"]!;
  assert.equal([get, put], [{ responses }, { responses, parameters }]);
});

// If it takes quadratic time to trim the slashes, this test takes minutes.
hostile("slashes in the URL of a server are read in linear time", async () => {
  const servers = [{ url: `http://127.0.0.1${"/".repeat(8000)}x` }];
  const { sections } = await readOutline({ servers, paths: map(2000, () => ({ get: {} }), "/") });
  assert.is(sections[0]!.operations.length, 2000);
});

hostile.run();
