import { suite } from "uvu";
import * as assert from "uvu/assert";
import { formatDiagnostic } from "../src/openapi/diagnostics.ts";
import { mergeComponents, withServiceOperations } from "../src/openapi/merge.ts";
import { withServers } from "../src/openapi/servers.ts";
import { isEqual, type JsonObject, objectOf } from "../src/json/values.ts";
import { load as loadBeside, OWN, parseYaml } from "./description/_load.ts";

const load = (
  place: Parameters<typeof loadBeside>[0],
  where?: Parameters<typeof loadBeside>[1],
): ReturnType<typeof loadBeside> => loadBeside(place, where, OWN);

const node = suite("a node's description");

const FILES = [
  "petstore-3.0.yaml",
  "petstore-3.1.yaml",
  "petstore-3.2.yaml",
  "petstore-2.0.json",
  "ergo-openapi.yaml",
];

for (const file of FILES) {
  node(`${file} is shown without diagnostics, with the same content in both forms`, async () => {
    const { diagnostics, document, json, yaml } = await load(file);
    assert.equal(diagnostics.map(formatDiagnostic), []);
    assert.ok(isEqual(parseYaml(yaml), JSON.parse(json)));
    const paths = Object.keys(objectOf(document?.paths));
    for (const path of ["/v1/info", "/v1/health", "/v1/ready"]) {
      assert.ok(paths.includes(path), path);
    }
  });
}

node(
  "the service's operations form the last group, with or without declared tags",
  async () => {
    const tagsOf = async (tags: string) => {
      const text = `openapi: 3.1.1
info: { title: x, version: "1" }
${tags}paths: { /height: { get: { tags: [chain], responses: {} } } }
`;
      const { json } = await load({ text });
      return (JSON.parse(json) as { tags?: { name: string }[] }).tags?.map(({ name }) => name);
    };
    assert.equal(await tagsOf("tags: [{ name: chain }]\n"), ["chain", "About this service"]);
    // Declared tags are shown before all others. If the node declares none, the service's own tag
    // would move to the top, so it is not declared.
    assert.is(await tagsOf(""), undefined);
  },
);

node(
  "the service's operationIds begin with the service's name, and differ from the node's",
  async () => {
    const text = `openapi: 3.1.1
info: { title: x, version: "1" }
paths: { /height: { get: { operationId: nodefaceGetInfo, responses: {} } } }
`;
    const { json } = await load({ text });
    const names = [...json.matchAll(/"operationId":"(\w+)"/g)].map(([, name]) => name!);
    assert.is(new Set(names).size, names.length);
    for (const name of ["nodefaceGetInfo", "nodefaceGetInfo2"]) {
      assert.ok(
        names.includes(name),
        name,
      );
    }
  },
);

node("Swagger 2.0 becomes OpenAPI 3.0, and large numbers keep their digits", async () => {
  const { document, json, yaml } = await load("petstore-2.0.json");
  assert.is(document?.openapi, "3.0.4");
  assert.equal(document?.servers, [{ url: "./v1/node/v1" }]);
  for (const text of [json, yaml]) assert.match(text, "18446744073709551615");
});

node("OpenAPI documents keep their version, and large numbers keep their digits", async () => {
  const text = `openapi: 3.2.0
info: { title: x, version: "1", x-large: 12345678901234567890, x-date: 2020-01-01, x-no: no }
paths: {}
`;
  const { json, document } = await load({ text });
  assert.is(document?.openapi, "3.2.0");
  assert.match(json, '"x-large":12345678901234567890,"x-date":"2020-01-01","x-no":"no"');
});

node("YAML aliases are replaced by the values of their anchors", async () => {
  const text = `openapi: 3.1.1
info: &info { title: x, version: "1" }
paths: {}
x-same: *info
`;
  const { json, yaml } = await load({ text });
  assert.equal(JSON.parse(json)["x-same"], { title: "x", version: "1" });
  assert.match(yaml, 'x-same:\n  title: x\n  version: "1"\n');
});

node("a server variable takes the values of its enum; a missing enum is reported", async () => {
  const { origins, diagnostics } = await load({
    text: `openapi: 3.1.1
info: { title: x, version: "1" }
servers:
  - url: https://{name}.example:{port}/{base}
    variables:
      base: { default: v1, enum: [${Array.from({ length: 99 }, (_, i) => `v${i}`)}] }
      name: { default: a, enum: [a, b] }
      port:
        default: "8443"
  - { url: "https://c.example/{open}", variables: { open: { default: v1 } } }
paths: {}
`,
  }, {});
  assert.equal(origins, [
    "https://a.example:8443",
    "https://b.example:8443",
    "https://c.example",
  ]);
  assert.equal(diagnostics.map(formatDiagnostic), [
    'openapi.yaml:9:9 the page calls operations only with {port} = "8443"; list other values in "enum"',
  ]);
});

node("an alias resolves to an anchor that is far away in a long text", async () => {
  const paths = Array.from({ length: 300 }, (_, i) => `  /${i}: { summary: ${"x".repeat(50)} }\n`);
  const text = `openapi: 3.1.1
info: &info { title: x, version: "1" }
paths:
${paths.join("")}x-same: *info
`;
  const { json, diagnostics } = await load({ text });
  assert.equal([JSON.parse(json)["x-same"].title, diagnostics], ["x", []]);
});

node("the service's operations use its own server and need no credentials", async () => {
  const { document } = await load("petstore-3.0.yaml");
  const own = Object.entries(objectOf(document?.paths)).filter(([path]) =>
    !path.startsWith("/pets")
  );
  // The paths that serve the page and the description are not shown beside a node's.
  const isOfPage = (path: string) => /^\/(?:v1\/)?spec|^\/\.well-known\//.test(path);
  const described = Object.keys(objectOf(parseYaml(OWN).paths));
  assert.ok(described.length >= 15);
  assert.equal(own.map(([path]) => path), described.filter((path) => !isOfPage(path)));
  for (const [path, item] of own as [string, { get: JsonObject & { servers: JsonObject[] } }][]) {
    assert.is(item.get.servers[0]?.url, ".", path);
    assert.equal([item.get.tags, item.get.security], [["About this service"], []]);
  }
});

node("a node's path that is ours moves below its servers, also those of an operation", async () => {
  const responses = { 200: { description: "" } };
  const own = { url: "http://127.0.0.1:9053" };
  const get = { operationId: "nodeHealth", servers: [own], "x-access": "read", responses };
  const head = { responses, servers: [{ url: "https://other.example/" }] };
  const document = {
    openapi: "3.1.1",
    info: { title: "x", version: "1" },
    servers: [own],
    paths: { "/v1/health": { get, head } },
  };
  const { document: shown } = await load({ text: JSON.stringify(document), name: "x.json" });
  const item = objectOf(objectOf(shown!.paths)["/health"]);
  const urlOf = (name: string) => objectOf((objectOf(item[name]).servers as unknown[])[0]).url;
  assert.is(urlOf("get"), "./v1/node/v1");
  assert.is(urlOf("head"), "https://other.example/v1");
});

node("a host's component gets a new name without a change of anything else", async () => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const header = (type: string) => ({ type: "object", properties: { number: { type } } });
  const Block = { type: "object", properties: { header: ref("Header") } };
  const theirs = { schemas: { Header: header("string"), Block } };
  const Kinds = {
    discriminator: { propertyName: "kind", mapping: { a: ref("Header").$ref, b: "Header" } },
    properties: { security: { type: "string" }, discriminator: { type: "string" } },
  };
  const Part = { $ref: "#/components/schemas/Header/properties/number" };
  const schemas = { Header: header("integer"), Block, Kinds, Part };
  const { components, rename } = await mergeComponents(theirs, { schemas });
  const merged = objectOf(components.schemas);
  assert.equal(merged.Header, theirs.schemas.Header);
  assert.equal(merged.Block, Block);
  assert.equal(merged.Header2, schemas.Header);
  assert.equal(merged.Block2, { type: "object", properties: { header: ref("Header2") } });
  assert.equal(merged.Part, { $ref: "#/components/schemas/Header2/properties/number" });
  assert.equal(merged.Kinds, {
    ...Kinds,
    discriminator: { propertyName: "kind", mapping: { a: ref("Header2").$ref, b: "Header2" } },
  });
  assert.equal(rename({ security: [{ key: [] }] }), { security: [{ key: [] }] });
});

node("merged components and operations never have the same name", async () => {
  const { document, json } = await load("petstore-3.0.yaml");
  const { schemas } = document?.components as { schemas: JsonObject };
  assert.equal(schemas.NodefaceInfo, { type: "string" });
  assert.is(objectOf(schemas.NodefaceInfo2).type, "object");
  const ids = [...json.matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id);
  assert.is(new Set(ids).size, ids.length);
});

node("every reference in the service's operations has a target", async () => {
  const { yaml } = await load("petstore-3.0.yaml");
  assert.equal((await load({ text: yaml })).diagnostics, []);
});

node("a node's operation /v1/info stays in the description", async () => {
  const head = 'openapi: 3.1.1\ninfo: { title: x, version: "1" }\n';
  const item = "{ get: { summary: theirs, responses: {} } }";
  for (
    const [path, text] of [
      ["/v1/info", `${head}paths: { /v1/info: ${item} }\n`],
      ["/info", `${head}servers: [{ url: "http://node.example/v1" }]\npaths: { /info: ${item} }\n`],
    ]
  ) {
    const paths = objectOf((await load({ text: text! }, {})).document?.paths);
    assert.is(objectOf(objectOf(paths[path!]).get).summary, "theirs");
    assert.is(Object.hasOwn(paths, "/v1/info"), path === "/v1/info");
    assert.ok(Object.hasOwn(paths, "/v1/health"));
  }
});

node("if the node's URL is unknown, a note says so", async () => {
  const { diagnostics } = await load("ergo-openapi.yaml", {});
  assert.match(diagnostics.map(formatDiagnostic).join(), "the node's URL is unknown");
});

node("the page may connect to the origins of all servers, whatever their variables", async () => {
  const { origins } = await load("petstore-3.1.yaml", {});
  assert.equal(origins, ["https://eu.pets.example", "https://us.pets.example"]);
  const text = `openapi: 3.1.1
info: { title: x, version: "1" }
servers: [{ url: "https://a.example:8443/x" }, { url: "ftp://b.example" }, { url: "https://c;d e" }]
paths: { /a: { servers: [{ url: "http://c.example" }], get: { servers: [{ url: "http://d.example" }] } }, /b: { get: {} } }
`;
  assert.equal((await load({ text }, {})).origins, [
    "https://a.example:8443",
    "http://c.example",
    "http://d.example",
  ]);
});

node("a server can add only its own origin to the content security policy", async () => {
  for (
    const url of [
      "http://*",
      "https://*.example",
      "https://a;script-src",
      "https://'unsafe-inline'",
    ]
  ) {
    const text = `openapi: 3.1.1\ninfo: { title: x, version: "1" }\nservers: [{ url: "${url}" }]\n`;
    assert.equal((await load({ text }, {})).origins, [], url);
  }
});

node("the service's own description uses only features that OpenAPI 3.0 has", () => {
  const { paths, components } = parseYaml(OWN);
  const visit = (value: unknown, key = "") => {
    if (key === "schema" || key === "schemas") {
      assert.not.match(JSON.stringify(value), /"(examples|const|\$defs)":|"type":\[/);
    }
    if (typeof value !== "object" || value === null) return;
    for (const [key, member] of Object.entries(value)) visit(member, key);
  };
  visit(paths);
  visit(components);
});

node("what a host adds to OpenAPI 3.0 is OpenAPI 3.0", async () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      kind: { const: "peer" },
      name: { type: ["string", "null"], examples: ["a", "b"] },
      port: { type: "integer", exclusiveMinimum: 0, maximum: 65535 },
      pair: { type: "array", prefixItems: [{ type: "string" }] },
      labels: { type: "object", propertyNames: { type: "string" } },
      none: { type: "null" },
      any: { type: ["string", "number"] },
      ref: { $ref: "#/components/schemas/A", description: "an A" },
    },
    additionalProperties: false,
  };
  const inOld = {
    type: "object",
    properties: {
      kind: { enum: ["peer"] },
      name: { nullable: true, type: "string", example: "a" },
      port: { exclusiveMinimum: true, maximum: 65535, type: "integer", minimum: 0 },
      pair: { type: "array", items: {} },
      labels: { type: "object" },
      none: { nullable: true, enum: [null] },
      any: {},
      ref: { $ref: "#/components/schemas/A" },
    },
    additionalProperties: false,
  };
  const content = (schema: object) => ({ "application/json": { schema } });
  const operation = (schema: object) => ({ requestBody: { content: content(schema) } });
  for (const [openapi, expected] of [["3.0.3", inOld], ["3.1.0", schema]] as const) {
    const added = [{ method: "PUT" as const, path: "/a", operation: operation(schema) }];
    const merged = await withServiceOperations({}, { openapi, paths: {} }, added, {
      components: { schemas: { A: schema } },
    });
    const { paths, components } = merged as Record<string, JsonObject>;
    assert.equal((paths!["/a"] as Record<string, JsonObject>).put!.requestBody, {
      content: content(expected),
    });
    assert.equal(components, { schemas: { A: expected } });
  }
});

node(
  "operations of every method are called at the node, and the input is not modified",
  async () => {
    const operation = { servers: [{ url: "x" }, { url: "/v2/x" }, { url: "http://localhost/y" }] };
    const item = { get: operation, additionalOperations: { COPY: operation }, summary: "s" };
    const document = {
      openapi: "3.2.0",
      paths: { "/a": item, "/b": { put: {} } },
      servers: [{ url: "../v2" }],
    };
    const before = structuredClone(document);
    const where = { node: "http://node.example" };
    const placed = await withServers(document, where, "http://node.example/v1/spec.json");
    assert.equal(document, before);
    const get = { servers: [{ url: "./v1/node/v1/x" }] };
    assert.equal(placed.servers, [{ url: "./v1/node/v2" }]);
    const { "/a": a, "/b": b } = placed.paths as Record<string, JsonObject>;
    assert.equal(a, { get, additionalOperations: { COPY: get }, summary: "s" });
    assert.is(b, document.paths["/b"]);
    const own = { paths: { "/v1/x": { get: { operationId: "getX", responses: {} } } } };
    await withServiceOperations(own, document);
    assert.equal(document, before);
  },
);

node.run();
