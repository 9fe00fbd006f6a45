import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../src/index.ts";
import type { JsonObject } from "../src/json/values.ts";
import { normalizeDocument } from "./description/_normalize.ts";

const swagger = suite("a description in Swagger 2.0");

async function upgrade(operation: JsonObject, more: JsonObject = {}) {
  const { document, diagnostics } = await normalizeDocument({
    swagger: "2.0",
    info: { title: "Test", version: "1" },
    paths: { "/a": { post: { responses: { 200: { description: "OK" } }, ...operation } } },
    ...more,
  });
  assert.equal(diagnostics, []);
  return { document, operation: document.paths["/a"].post };
}

swagger("names of security schemes stay, since clients and settings name them", async () => {
  const { document } = await normalizeDocument({
    swagger: "2.0",
    info: { title: "Test", version: "1" },
    ...{ paths: {}, securityDefinitions: { "API Key": { type: "basic" } } },
  });
  assert.equal(Object.keys(document.components.securitySchemes), ["API Key"]);
});

swagger("of definitions, those that are used stay, with names that OpenAPI allows", async () => {
  const schema = { $ref: "#/definitions/List\u00abPet\u00bb" };
  const definitions = {
    "List\u00abPet\u00bb": { type: "array", items: { $ref: "#/definitions/Pet" } },
    Pet: { type: "object" },
    "Not[used]": { type: "string" },
  };
  const parameters = [{ name: "b", in: "body", schema }];
  const { document, operation } = await upgrade({ parameters }, { definitions });
  assert.equal(Object.keys(document.components.schemas).sort(), ["List_Pet", "Pet"]);
  const { $ref } = operation.requestBody.content["application/json"].schema;
  assert.is($ref, "#/components/schemas/List_Pet");
});

swagger("host, basePath and schemes become servers, one per scheme", async () => {
  const { document } = await upgrade({}, {
    host: "a.example:81",
    basePath: "/v1",
    schemes: ["https", "http"],
  });
  const servers = ["https://a.example:81/v1", "http://a.example:81/v1"].map((url) => ({ url }));
  assert.equal([document.openapi, document.servers], ["3.0.4", servers]);
  for (const basePath of ["/v1", "v1"]) {
    assert.equal((await upgrade({}, { basePath })).document.servers, [{ url: "/v1" }]);
  }
  const { operation } = await upgrade({ schemes: ["wss"] }, { host: "a.example" });
  assert.equal(operation.servers, [{ url: "wss://a.example" }]);
});

swagger("a host that is none is omitted, so that the server of the document counts", async () => {
  const withHost = (host: unknown) =>
    normalizeDocument({
      swagger: "2.0",
      info: { title: "Test", version: "1" },
      ...{ host, schemes: [], basePath: "/v1", paths: {} },
    });
  for (
    const host of [
      8080,
      null,
      ["a.example"],
      "",
      "http://localhost:8080",
      "a.example/v1",
      "{{.Host}}",
    ]
  ) {
    const { document, diagnostics } = await withHost(host);
    assert.equal(document.servers, [{ url: "/v1" }], String(host));
    assert.match(diagnostics.join(), '"host" must be a host name', String(host));
  }
  for (const host of ["a.example:81", "[::1]:81", "127.0.0.1", "a_b"]) {
    assert.equal((await withHost(host)).document.servers, [{ url: `http://${host}/v1` }]);
  }
});

swagger("members that OpenAPI 3.0 also has are kept, and other members are reported", async () => {
  const list = { name: "l", in: "query", type: "array", items: { type: "string" } };
  const { document, diagnostics } = await normalizeDocument({
    swagger: "2.0",
    info: { title: "Test", version: "1" },
    paths: {
      "/a": {
        parameters: [list],
        trace: { responses: {} },
        get: { responses: { 200: { description: "OK" } } },
      },
    },
    definitions: {
      A: { deprecated: true, writeOnly: true, patternProperties: {}, "x-a": 1 },
    },
  });
  assert.equal(document.components.schemas.A, { deprecated: true, writeOnly: true, "x-a": 1 });
  assert.equal(Object.keys(document.paths["/a"]), ["parameters", "get"]);
  const said = diagnostics.map((finding: string) => finding.replace(/^\S+ /, ""));
  assert.equal(said, [
    'Swagger 2.0 has no "trace" in a path item; it is omitted',
    'Swagger 2.0 has no "patternProperties" in a schema; it is omitted',
  ]);
});

swagger(
  "a swagger version that is left over in a document of OpenAPI 3 does not count",
  async () => {
    const text = JSON.stringify({
      openapi: "3.0.3",
      swagger: "2.0",
      info: { title: "Test", version: "1" },
      paths: {
        "/a": {
          post: {
            requestBody: { content: { "text/plain": {} } },
            responses: { 200: { description: "" } },
          },
        },
      },
    });
    const app = createNodeface({ description: { name: "a.json", text } as never, log() {} });
    const served = await app.fetch(new Request("http://localhost/spec.json"));
    const { openapi, swagger, paths } = await served.json();
    assert.equal([openapi, swagger], ["3.0.3", undefined]);
    assert.ok(paths["/a"].post.requestBody.content["text/plain"]);
    await app.close();
  },
);

swagger("a body parameter becomes the request body, even if it is a shared parameter", async () => {
  const Body = { name: "b", in: "body", required: true, schema: { $ref: "#/definitions/A" } };
  const { document, operation } = await upgrade({
    parameters: [{ $ref: "#/parameters/Body" }, { $ref: "#/parameters/Limit" }],
  }, {
    consumes: ["text/a"],
    parameters: { Body, Limit: { name: "limit", in: "query", type: "integer", maximum: 9 } },
    definitions: { A: { type: "object" } },
  });
  const schema = { $ref: "#/components/schemas/A" };
  assert.equal(operation.requestBody, { required: true, content: { "text/a": { schema } } });
  assert.equal(operation.parameters, [{ $ref: "#/components/parameters/Limit" }]);
  assert.equal(document.components.parameters, {
    Limit: { name: "limit", in: "query", schema: { type: "integer", maximum: 9 } },
  });
});

swagger("the description beside a reference is kept, as in OpenAPI 3.0", async () => {
  const rate = { $ref: "#/definitions/Rate", description: "Bytes", "x-nullable": true };
  const { document } = await upgrade({}, {
    definitions: { Rate: { type: "object" }, Drive: { properties: { rate } } },
  });
  assert.equal(document.components.schemas.Drive.properties.rate, {
    description: "Bytes",
    $ref: "#/components/schemas/Rate",
  });
});

swagger("a parameter keeps its schema, example and deprecation, as in OpenAPI 3.0", async () => {
  const more = { deprecated: true, example: 7 };
  const integer = { type: "integer", "x-nullable": true };
  const { document, operation } = await upgrade({
    parameters: [
      { name: "a", in: "query", schema: integer, maximum: 9, ...more },
      { name: "b", in: "query", schema: { $ref: "#/definitions/B" }, "x-example": "c" },
      { name: "c", in: "header", type: "string", schema: { type: "integer", minLength: 1 } },
      { name: "d", in: "query", type: "string", schema: { $ref: "#/definitions/O" } },
      { $ref: "#/parameters/Shared" },
    ],
  }, {
    parameters: { Shared: { name: "s", in: "query", schema: { type: "boolean" } } },
    definitions: { B: { type: "string" }, O: { type: "object" } },
  });
  const schema = { type: "integer", nullable: true, maximum: 9 };
  assert.equal(operation.parameters, [
    { name: "a", in: "query", ...more, schema },
    { name: "b", in: "query", schema: { $ref: "#/components/schemas/B" }, example: "c" },
    { name: "c", in: "header", schema: { type: "string", minLength: 1 } },
    { name: "d", in: "query", schema: { type: "string" } },
    { $ref: "#/components/parameters/Shared" },
  ]);
  assert.equal(document.components.parameters.Shared.schema, { type: "boolean" });
  const fields = [{ name: "f", in: "formData", schema: { type: "integer" }, ...more }];
  const form = (await upgrade({ parameters: fields })).operation.requestBody.content;
  const { properties } = form["application/x-www-form-urlencoded"].schema;
  assert.equal(properties, { f: { type: "integer", ...more } });
  const body = { name: "b", in: "body", schema: { type: "object" }, example: { n: 1 } };
  const { content } = (await upgrade({ parameters: [body] })).operation.requestBody;
  assert.equal(content["application/json"], { schema: { type: "object" }, example: { n: 1 } });
});

swagger("an operation's form has the fields of its path, unless it has such a field", async () => {
  const field = (name: string, type: string) => ({ name, in: "formData", type });
  const { document } = await normalizeDocument({
    swagger: "2.0",
    info: { title: "Test", version: "1" },
    paths: {
      "/a": {
        parameters: [field("a", "string"), field("b", "string")],
        post: {
          parameters: [field("b", "integer"), field("c", "string")],
          responses: { 200: { description: "OK" } },
        },
      },
    },
  });
  const { content } = document.paths["/a"].post.requestBody;
  assert.equal(Object.values<JsonObject>(content)[0]!.schema, {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "integer" }, c: { type: "string" } },
  });
});

swagger("form parameters of an operation and its path become one form", async () => {
  const file = { name: "f", in: "formData", type: "file", required: true };
  const list = { name: "l", in: "formData", type: "array", items: { type: "string", enum: ["a"] } };
  const { document } = await normalizeDocument({
    swagger: "2.0",
    info: { title: "Test", version: "1" },
    paths: {
      "/a": { post: { responses: { 200: { description: "" } } }, parameters: [file, list] },
    },
  });
  const properties = {
    f: { type: "string", format: "binary" },
    l: { type: "array", items: { type: "string", enum: ["a"] } },
  };
  const schema = { type: "object", properties, required: ["f"] };
  const encoding = { l: { style: "form", explode: false } };
  assert.equal(document.paths["/a"].post.requestBody, {
    required: true,
    content: { "multipart/form-data": { schema, encoding } },
  });
  const { operation } = await upgrade({ parameters: [{ ...file, required: false }] });
  assert.is(operation.requestBody.required, undefined);
});

swagger("produces in an operation takes precedence over produces in the document", async () => {
  const responses = {
    200: { description: "", schema: { type: "file" }, examples: { "text/b": "x" } },
    default: { $ref: "#/responses/Bad" },
  };
  const { document, operation } = await upgrade({ responses, produces: ["text/b"] }, {
    produces: ["text/a"],
    responses: { Bad: { description: "Bad", schema: { type: "string" } } },
  });
  const schema = { type: "string", format: "binary" };
  assert.equal(operation.responses[200].content, { "text/b": { schema, example: "x" } });
  const content = { "text/b": { schema: { type: "string" } } };
  assert.equal(operation.responses.default, { description: "Bad", content });
  assert.equal(Object.keys(document.components.responses.Bad.content), ["text/a"]);
});

swagger("a shared response stays a reference unless the operation has other types", async () => {
  const shared = {
    Block: { description: "A block", schema: { $ref: "#/definitions/Block" } },
    Empty: { description: "Nothing" },
  };
  const more = {
    produces: ["text/a"],
    responses: shared,
    definitions: { Block: { type: "object" } },
  };
  const responses = { 200: { $ref: "#/responses/Block" }, 204: { $ref: "#/responses/Empty" } };
  for (const produces of [undefined, ["text/a"]]) {
    const { operation } = await upgrade({ responses, produces }, more);
    assert.equal(operation.responses[200], { $ref: "#/components/responses/Block" });
  }
  const types = ["text/a", "application/msgpack"];
  const { operation } = await upgrade({ responses, produces: types }, more);
  assert.equal(Object.keys(operation.responses[200].content), types);
  assert.equal(operation.responses[204], { $ref: "#/components/responses/Empty" });
});

swagger("x-nullable becomes nullable, and the discriminator becomes an object", async () => {
  const schema = {
    type: "object",
    discriminator: "kind",
    properties: { a: { "x-nullable": true } },
  };
  const example = { type: "file", discriminator: "kind" };
  const { document } = await upgrade({}, { definitions: { "A.B": { ...schema, example } } });
  assert.equal(document.components.schemas, {
    "A.B": {
      type: "object",
      properties: { a: { nullable: true } },
      example,
      discriminator: { propertyName: "kind" },
    },
  });
});

swagger("collectionFormat becomes style and explode", async () => {
  const list = { in: "query", type: "array", items: { type: "string", collectionFormat: "csv" } };
  const formats = ["csv", "ssv", "pipes", "multi"];
  const { operation } = await upgrade({
    parameters: formats.map((collectionFormat) => ({
      name: collectionFormat,
      ...list,
      collectionFormat,
    })),
  });
  const schema = { type: "array", items: { type: "string" } };
  assert.equal(operation.parameters, [
    { name: "csv", in: "query", style: "form", explode: false, schema },
    { name: "ssv", in: "query", style: "spaceDelimited", explode: false, schema },
    { name: "pipes", in: "query", style: "pipeDelimited", explode: false, schema },
    { name: "multi", in: "query", style: "form", explode: true, schema },
  ]);
});

swagger("security definitions become security schemes", async () => {
  const scopes = { read: "to read" };
  const { document } = await upgrade({}, {
    securityDefinitions: {
      basic: { type: "basic" },
      key: { type: "apiKey", name: "k", in: "header" },
      code: {
        type: "oauth2",
        flow: "accessCode",
        authorizationUrl: "a:a",
        tokenUrl: "a:t",
        scopes,
      },
    },
  });
  assert.equal(document.components.securitySchemes, {
    basic: { type: "http", scheme: "basic" },
    key: { type: "apiKey", name: "k", in: "header" },
    code: {
      type: "oauth2",
      flows: { authorizationCode: { authorizationUrl: "a:a", tokenUrl: "a:t", scopes } },
    },
  });
});

swagger.run();
