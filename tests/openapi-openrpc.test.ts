import { Validator } from "@seriousme/openapi-schema-validator";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { formatJson } from "../src/json/lossless.ts";
import type { JsonObject } from "../src/json/values.ts";
import { loadInterface } from "../src/description/known-interface.ts";
import { openApiOfMethods } from "../src/openapi/openrpc.ts";
import { normalizeDocument } from "./description/_normalize.ts";
import { KINDS_WITH_INTERFACE } from "./_kinds.ts";

const openrpc = suite("OpenRPC methods as OpenAPI operations");

const RESULT = { name: "r", schema: { type: "string" } };
const SCHEMAS = {
  Hash: { type: "string" },
  Other: { $ref: "#/components/schemas/Hash" },
  Round: { $ref: "#/components/schemas/Round" },
  Object: { type: "object" },
};

const method = (more: JsonObject = {}): JsonObject => ({
  name: "m",
  summary: "M",
  params: [],
  result: RESULT,
  "x-access": "read",
  ...more,
});

async function made(...methods: readonly JsonObject[]) {
  const parts = await openApiOfMethods({ methods, components: { schemas: SCHEMAS } });
  // deno-lint-ignore no-explicit-any -- each test looks at one place of the result
  return parts as any;
}

const param = (schema: unknown, more: JsonObject = {}): JsonObject => ({
  name: "p",
  schema,
  ...more,
});

openrpc("parameters by position are unknown if one of them has no place of its own", async () => {
  const names = [param({}, { name: "Hash" }), param({}, { name: "Hash" })];
  const { paths } = await made(method({ params: names, paramStructure: "by-position" }));
  const { requestBody } = paths["/v1/rpc/m"].post;
  const { schema } = requestBody.content["application/json"];
  assert.equal(schema, { anyOf: [{ type: "object" }, { type: "array" }] });
  assert.is(paths["/v1/rpc/m"].get, undefined, "a query could not have them");
  const { document, diagnostics } = await normalizeDocument({
    openrpc: "1.3.2",
    info: { title: "x", version: "1" },
    methods: [method({ params: [param({}), { schema: {} }], paramStructure: "by-position" })],
  });
  assert.equal(document.methods[0].params, undefined);
  assert.match(diagnostics.join(), "it is omitted");
  const broken = await normalizeDocument({
    openrpc: "1.3.2",
    info: { title: "x", version: "1" },
    methods: [
      method({ params: [{ $ref: "#/nowhere" }, param({})], paramStructure: "by-position" }),
    ],
  });
  assert.equal(broken.document.methods[0].params, undefined);
});

openrpc("a read-only method becomes a GET with a query, and a POST with an object", async () => {
  const { paths } = await made(method({
    params: [
      { name: "a", summary: "A", required: true, schema: { type: "string", maxLength: 9 } },
      { name: "b", schema: { $ref: "#/components/schemas/Hash" }, deprecated: true },
    ],
    tags: [{ name: "T" }],
    description: "D",
    deprecated: true,
    paramStructure: "by-name",
  }));
  const said = { summary: "M", description: "D", deprecated: true, tags: ["T"] };
  const responses = {
    200: {
      description: "",
      content: { "application/json": { schema: { type: "string" } } },
    },
    default: { $ref: "#/components/responses/RpcProblem" },
  };
  assert.equal(Object.keys(paths), ["/v1/rpc/m"]);
  assert.equal(paths["/v1/rpc/m"], {
    "x-one-method": true,
    get: {
      operationId: "m",
      ...said,
      parameters: [
        {
          name: "a",
          in: "query",
          description: "A",
          required: true,
          schema: { type: "string", maxLength: 9 },
        },
        {
          name: "b",
          in: "query",
          deprecated: true,
          schema: { $ref: "#/components/schemas/Hash" },
        },
      ],
      responses,
      "x-access": "read",
    },
    post: {
      operationId: "m_post",
      ...said,
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              type: "object",
              properties: {
                a: { type: "string", maxLength: 9, description: "A" },
                b: { $ref: "#/components/schemas/Hash", deprecated: true },
              },
              required: ["a"],
              additionalProperties: false,
            },
          },
        },
      },
      responses,
      "x-access": "read",
    },
  });
});

openrpc("without required parameters, the body and its members are optional", async () => {
  const { paths } = await made(method({ params: [param({ type: "string" })] }));
  const { requestBody } = paths["/v1/rpc/m"].post;
  assert.is(requestBody.required, undefined);
  assert.not("required" in requestBody.content["application/json"].schema);
});

const GETTABLE: readonly (readonly [schema: unknown, isGettable: boolean])[] = [
  [{ type: "string" }, true],
  [{ type: "integer", enum: [1, 2] }, true],
  [{ type: "number" }, true],
  [{ type: "boolean" }, true],
  [{ type: ["string", "null"] }, true],
  [{ enum: ["a", "b"] }, true],
  [{ const: 1 }, true],
  [{ $ref: "#/components/schemas/Other" }, true],
  [{ oneOf: [{ $ref: "#/components/schemas/Hash" }, { type: "null" }] }, true],
  [{ anyOf: [{ type: "string", format: "date" }, { type: "string" }] }, true],
  [{ type: ["string", "integer"] }, true],
  [{ oneOf: [{ type: "string" }, { type: "integer" }] }, true],
  [{ anyOf: [{ type: "string" }, { type: "object" }] }, true],
  [{ enum: ["a", 1] }, true],
  [{ type: "object" }, false],
  [{ type: "array", items: { type: "string" } }, false],
  [{ type: "null" }, false],
  [{ enum: [null] }, false],
  [{ enum: [{}] }, false],
  [{ $ref: "#/components/schemas/Object" }, false],
  [{ $ref: "#/components/schemas/None" }, false],
  [{ $ref: "#/components/schemas/Round" }, false],
  [{ $ref: "other.json#/Hash" }, false],
  [{}, false],
  [true, false],
  [undefined, false],
];

openrpc(
  "a method has a GET operation only if every parameter can be a scalar",
  async () => {
    for (const [schema, isGettable] of GETTABLE) {
      const { paths } = await made(
        method({ params: [{ name: "a", schema: { type: "string" } }, param(schema)] }),
      );
      const { get, post } = paths["/v1/rpc/m"];
      assert.is(get !== undefined, isGettable, JSON.stringify(schema));
      assert.is(post.operationId, isGettable ? "m_post" : "m", JSON.stringify(schema));
    }
  },
);

openrpc("a list or an object in a query is JSON, as the service takes it", async () => {
  const subscription = { "x-subscription": { unsubscribe: "u", notification: "n" } };
  const given: readonly (readonly [schema: unknown, isJson: boolean])[] = [
    [{ type: "array", items: { type: "string" } }, true],
    [{ type: ["array", "null"] }, true],
    [{ $ref: "#/components/schemas/Object" }, true],
    [{ anyOf: [{ type: "object" }, { type: "boolean" }, { type: "null" }] }, true],
    [{ enum: [[1], { a: 1 }] }, true],
    // The service takes these texts as they are.
    [{ anyOf: [{ type: "array" }, { type: "string" }] }, false],
    [{ type: "integer", enum: [1, null] }, false],
    [{ type: ["boolean", "null"] }, false],
    [{}, false],
    [undefined, false],
  ];
  for (const [schema, isJson] of given) {
    const examples = [{ name: "one", params: [{ name: "p", value: ["x"] }] }];
    const params = [param(schema, { required: true })];
    const more = { paramStructure: "by-name", ...subscription };
    const { get } = (await made(method({ params, examples, ...more }))).paths["/v1/rpc/m"];
    const media = { schema: schema ?? {}, example: ["x"] };
    const described = isJson ? { content: { "application/json": media } } : media;
    const expected = { name: "p", in: "query", required: true, ...described };
    assert.equal(get.parameters, [expected], JSON.stringify(schema));
  }
});

openrpc("only a method with x-access: read has a GET operation", async () => {
  for (const access of ["write", "secret", "Read", true, undefined]) {
    const { get, post } = (await made(method({ "x-access": access }))).paths["/v1/rpc/m"];
    assert.is(get, undefined, String(access));
    assert.is(post.operationId, "m");
    assert.is(post["x-access"], access);
  }
});

openrpc(
  "members such as x-cost are kept, and parameters of a list get an x-position",
  async () => {
    const marks = { "x-cost": "heavy", "x-since": "1.2", "x-common": true, "x-streaming": true };
    const params = [param({ type: "string" }), { name: "q", schema: true, "x-since": "2" }];
    const places = async (structure?: string) => {
      const { post } = (await made(
        method({ ...marks, params, ...structure && { paramStructure: structure } }),
      )).paths["/v1/rpc/m"];
      for (const [name, mark] of Object.entries(marks)) assert.is(post[name], mark, name);
      const isEither = structure === "either" || structure === undefined;
      assert.is(post["x-by-name"], isEither || undefined);
      return post.requestBody.content["application/json"].schema.properties;
    };
    for (const structure of ["by-position", "either", undefined]) {
      assert.equal(await places(structure), {
        p: { type: "string", "x-position": 0 },
        q: { "x-since": "2", "x-position": 1 },
      });
    }
    const unplaced = { p: { type: "string" }, q: { "x-since": "2" } };
    assert.equal(await places("by-name"), unplaced);
    const { get } = (await made(
      method({ params: [param({ type: "string" })], paramStructure: "by-position" }),
    )).paths["/v1/rpc/m"];
    assert.is(get.parameters[0]["x-position"], 0);
  },
);

openrpc("the encoding of a text is expressed as in OpenAPI 3.1", async () => {
  const text = { type: "string", media: { binaryEncoding: "base64" } };
  const { components } = await openApiOfMethods({
    methods: [method({ params: [param(text)] })],
    components: { schemas: { A: text, B: { properties: { media: text } }, C: { media: "x" } } },
  }) as unknown as { components: { schemas: JsonObject } };
  const right = { type: "string", contentEncoding: "base64" };
  assert.equal(components.schemas, {
    A: right,
    B: { properties: { media: right } },
    C: { media: "x" },
  });
});

openrpc("schemas of JSON Schema draft 7 are converted to those of OpenAPI 3.1", async () => {
  const items = [{ type: "string" }, { items: [{ type: "integer" }] }];
  const tuple = { type: "array", items, additionalItems: false };
  const prefixItems = [{ type: "string" }, { prefixItems: [{ type: "integer" }] }];
  const right = { type: "array", prefixItems, items: false };
  const { paths, components } = await openApiOfMethods({
    methods: [
      method({ params: [param(tuple)], result: { name: "r", schema: { allOf: [tuple] } } }),
    ],
    components: { schemas: { A: { properties: { a: tuple } } } },
  }) as unknown as {
    paths: Record<string, { post: JsonObject }>;
    components: { schemas: JsonObject };
  };
  const { requestBody, responses } = paths["/v1/rpc/m"]!.post as Record<string, JsonObject>;
  const said = JSON.stringify([requestBody, responses, components.schemas]);
  assert.not.match(said, /"items":\[|additionalItems/);
  assert.equal(components.schemas.A, { properties: { a: right } });
});

openrpc("all operations have names of which different files can be made", async () => {
  const names = ["a", "a_post", "a_post_", "b", "B_post"];
  const { paths } = await made(
    ...names.map((name) => method({ name, ...name === "B_post" && { "x-access": "write" } })),
    method({ name: "a", summary: "another" }),
  );
  const operations = Object.values(paths as Record<string, { get?: JsonObject; post: JsonObject }>)
    .flatMap(({ get, post }) => get ? [get, post] : [post]);
  const ids = operations.map(({ operationId }) => operationId);
  assert.is(ids.length, 9);
  const files = ids.map((id) => String(id).replaceAll("_", "").toLowerCase());
  assert.is(new Set(files).size, ids.length, ids.join(" "));
  for (const name of ["a", "a_post", "b", "B_post"]) assert.ok(ids.includes(name));
  assert.is(paths["/v1/rpc/a"].get.summary, "M", "of two equal methods, the first is used");
});

openrpc("examples are shown for the query, the body and the response", async () => {
  const examples = [
    {
      name: "one",
      params: [{ name: "p", value: "x" }],
      result: { name: "r", value: 18446744073709551615n },
    },
    { name: "two", params: [], result: { name: "r", value: null } },
  ];
  const { get, post } =
    (await made(method({ params: [param({ type: "string" })], examples }))).paths["/v1/rpc/m"];
  assert.is(get.parameters[0].example, "x");
  assert.equal(post.requestBody.content["application/json"].examples, {
    one: { value: { p: "x" } },
    two: { value: {} },
  });
  const answers = { one: { value: 18446744073709551615n }, two: { value: null } };
  for (const { responses } of [get, post]) {
    assert.equal(responses[200].content["application/json"].examples, answers);
  }
});

openrpc("an example's values have the names of parameters, or else their positions", async () => {
  const given: readonly (readonly [values: JsonObject[], byName: JsonObject])[] = [
    [[{ name: "two", value: 2 }, { name: "two", value: 3 }], { a: 2, b: 3 }],
    [[{ value: 2 }, { name: "three", value: 3 }, { name: "four", value: 4 }], { a: 2, b: 3 }],
    [[{ name: "b", value: 2 }, { name: "unknown", value: 3 }], { a: 2, b: 3 }],
    [[{ name: "a", value: 2 }, { name: "a", value: 3 }], { a: 2, b: 3 }],
    [[{ name: "two", externalValue: "x" }, { name: "three", value: 3 }], { b: 3 }],
    [[{ name: "b", value: 3 }], { b: 3 }],
    [[{ name: "b", value: 3 }, { name: "a", value: 2 }], { a: 2, b: 3 }],
  ];
  const params = ["a", "b"].map((name) => param({ type: "integer" }, { name }));
  for (const [values, byName] of given) {
    const examples = [{ name: "one", params: values }];
    const { get, post } = (await made(method({ params, examples }))).paths["/v1/rpc/m"];
    const { examples: shown } = post.requestBody.content["application/json"];
    assert.equal(shown, { one: { value: byName } });
    assert.equal(get.parameters.map(({ example }: JsonObject) => example), [byName.a, byName.b]);
  }
});

openrpc("the errors of a method are listed with its response, by code and message", async () => {
  const components = {
    errors: { NoBlock: { code: 24, message: "Block not found" } },
    examplePairingObjects: {
      One: { name: "one", params: [{ $ref: "#/components/examples/P" }] },
    },
    examples: { P: { name: "p", value: "0x1" } },
  };
  const { paths } = await openApiOfMethods({
    components,
    methods: [
      method({
        params: [param({ type: "string" })],
        errors: [{ $ref: "#/components/errors/NoBlock" }, { code: -32602 }, {}, 1],
        examples: [{ $ref: "#/components/examplePairingObjects/One" }],
      }),
      method({ name: "calm", errors: [] }),
    ],
    // deno-lint-ignore no-explicit-any -- the test looks at few places of the result
  }) as any;
  const { get, post } = paths["/v1/rpc/m"];
  for (const { responses } of [get, post]) {
    assert.is(responses.default.$ref, "#/components/responses/RpcProblem");
    assert.match(responses.default.description, /\n\n- 24: Block not found\n- -32602$/);
  }
  const calm = paths["/v1/rpc/calm"].post.responses.default;
  assert.equal(calm, { $ref: "#/components/responses/RpcProblem" });
  assert.is(get.parameters[0].example, "0x1", "an example may be a reference");
});

openrpc("what a method says of itself, its tags and its examples is kept", async () => {
  const externalDocs = { url: "https://node.example/m" };
  const result = { name: "r", value: 1 };
  const { paths, tags } = await openApiOfMethods({
    methods: [
      method({
        externalDocs,
        tags: [{ name: "T" }, { name: "U", summary: "Us" }],
        examples: [
          { name: "one", summary: "S", description: "D", params: [], result },
          { name: "one", params: [], result },
        ],
      }),
      method({ name: "other", tags: [{ name: "T", description: "Ts" }, { name: "U" }] }),
    ],
    // deno-lint-ignore no-explicit-any -- the test looks at few places of the result
  }) as any;
  const { get } = paths["/v1/rpc/m"];
  assert.equal(get.externalDocs, externalDocs);
  assert.equal(get.responses[200].content["application/json"].examples, {
    one: { summary: "S", description: "D", value: 1 },
    one2: { value: 1 },
  });
  assert.equal(tags, [{ name: "T", description: "Ts" }, { name: "U", description: "Us" }]);
});

openrpc("each method name becomes a single path segment, whatever its characters", async () => {
  const names = ["rpc.discover", "a/b", "{c}", "d e?#", "__proto__", "ü"];
  const { paths } = await made(
    ...names.map((name) => method({ name, params: [param({}, { name })] })),
  );
  const parts = Object.keys(paths).map((path) => path.replace("/v1/rpc/", ""));
  assert.equal(parts.map(decodeURIComponent), names);
  for (const part of parts) assert.match(part, /^[\w.%]+$/);
  const { properties } = paths["/v1/rpc/__proto__"].post.requestBody.content["application/json"]
    .schema;
  assert.equal(Object.keys(properties), ["__proto__"]);
});

openrpc("even a malformed document is accepted, and is not modified", async () => {
  const odd = [
    undefined,
    [],
    { methods: {} },
    { methods: [null, 1, {}, { name: {} }, { $ref: "#/methods/4" }] },
    {
      methods: [{
        name: "m",
        params: [null, { name: 1 }],
        result: 5,
        tags: ["t", {}],
        examples: [1],
      }],
    },
  ];
  for (const document of odd) {
    const before = JSON.stringify(document);
    await openApiOfMethods(document);
    assert.is(JSON.stringify(document), before);
  }
  const shared = {
    methods: [{
      name: "m",
      params: [{ $ref: "#/components/contentDescriptors/C" }],
      result: { $ref: "#/components/contentDescriptors/C" },
      tags: [{ $ref: "#/components/tags/T" }],
    }],
    components: {
      contentDescriptors: { C: { name: "c", schema: { type: "integer" } } },
      tags: { T: { name: "Tag" } },
    },
  };
  const { paths, tags } = await openApiOfMethods(shared);
  const { post } = paths["/v1/rpc/m"] as { post: JsonObject };
  assert.equal(tags, [{ name: "Tag" }]);
  assert.match(JSON.stringify(post.requestBody), '"c":{"type":"integer","x-position":0}');
  assert.match(JSON.stringify(post.responses), '"schema":{"type":"integer"}');
});

for (const kind of KINDS_WITH_INTERFACE) {
  openrpc(
    `${kind}: the methods become a valid description without dangling references`,
    async () => {
      const { openrpc } = await loadInterface(kind);
      if (!openrpc) return;
      const document = JSON.parse(formatJson({
        openapi: "3.1.1",
        info: { title: kind, version: "1" },
        ...await openApiOfMethods(openrpc),
      }));
      assert.is(Object.keys(document.paths).length, openrpc.methods.length);
      const { diagnostics } = await normalizeDocument(document);
      assert.equal(diagnostics, []);
      // Validation is the last step, because the validator modifies the document.
      const { valid, errors } = await new Validator().validate(document);
      assert.ok(valid, JSON.stringify(errors));
    },
  );
}

openrpc.run();
