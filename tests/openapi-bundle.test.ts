import { suite } from "uvu";
import * as assert from "uvu/assert";
import { estimateSize, type Json, resolveFragment } from "../src/json/values.ts";
import { bundleFiles, describe, describeSchema, schemaOf } from "./description/_bundle.ts";

const references = suite("references in a description");

const PET = { type: "object", properties: { name: { type: "string" } } };

/** The reference `ref` is in `root.json`, and must lead to the component `name`. */
const SHAPES: Readonly<Record<string, [ref: string, files: Json, name: string]>> = {
  "a whole file": ["pet.json", { "pet.json": PET }, "pet"],
  "a file with a path through another folder": ["b/../c/pet.json", { "c/pet.json": PET }, "pet"],
  "a file with a space in its name": ["my%20pet.json", { "my%20pet.json": PET }, "my_pet"],
  "a file without letters in its name": ["7.json", { "7.json": PET }, "Schema7"],
  "a file named by date": ["2023-11.yaml", { "2023-11.yaml": "type: object" }, "Schema2023-11"],
  "a member of a file": ["all.json#/Cat", { "all.json": { Cat: PET } }, "Cat"],
  "an item of a list": ["list.json#/0", { "list.json": [PET] }, "list0"],
  "a key with a slash": ["all.json#/a~1Pet", { "all.json": { "a/Pet": PET } }, "all"],
  "a key with a space": ["all.json#/My%20Pet", { "all.json": { "My Pet": PET } }, "My_Pet"],
  "a key with a percent sign": ["all.json#/a%2525", { "all.json": { "a%25": PET } }, "a_25"],
  "the root file by its name": ["root.json#/components/schemas/Pet", {}, "Pet"],
  "a component": ["#/components/schemas/Pet", {}, "Pet"],
  "a part of a component": ["#/components/schemas/Pet/properties/name", {}, "PetName"],
  "a part of another operation": [
    "#/paths/~1b/get/responses/200/content/application~1json/schema",
    {},
    "b200",
  ],
};

const PLACES: Readonly<Record<string, (reference: Json) => Json>> = {
  "as a response schema": (schema) => schema,
  "as items": (items) => ({ type: "array", items }),
  "in properties named default and example": (reference) => ({
    properties: { default: reference, example: reference, $ref: reference },
  }),
  "in allOf": (reference) => ({ allOf: [{ type: "object" }, reference] }),
  "in if, then and else": (reference) => ({ if: reference, then: reference, else: reference }),
  "in prefixItems and dependentSchemas": (reference) => ({
    prefixItems: [reference],
    dependentSchemas: { a: reference },
  }),
  "beside a description": (reference) => ({ ...reference, description: "mine" }),
};

const OTHERS = {
  paths: {
    "/a": {},
    "/b": {
      get: {
        responses: { 200: { description: "", content: { "application/json": { schema: PET } } } },
      },
    },
  },
  components: { schemas: { Pet: PET } },
};

for (const [shape, [ref, more, name]] of Object.entries(SHAPES)) {
  references(`${shape}: each reference leads to the component ${name}`, async () => {
    for (const [place, make] of Object.entries(PLACES)) {
      const root = describeSchema(make({ $ref: ref })) as { paths: Json; components?: unknown };
      root.paths = { ...OTHERS.paths, ...root.paths };
      root.components = OTHERS.components;
      const bundled = await bundleFiles({ "root.json": root, ...more });
      assert.equal(bundled.diagnostics, [], place);
      const said = make({ $ref: `#/components/schemas/${name}` });
      assert.equal(schemaOf(bundled), said, place);
      for (const reference of bundled.references) {
        assert.match(reference, /^#\/components\/schemas\/[\w.-]+$/);
        assert.is.not(resolveFragment(bundled.document, reference.slice(1)), undefined, reference);
      }
    }
  });
}

references("a reference to a boolean schema is replaced by that schema", async () => {
  const bundled = await bundleFiles({
    "root.json": describeSchema({ type: "array", items: { $ref: "all.json#/any" } }),
    "all.json": { any: true },
  });
  assert.equal(bundled.diagnostics, []);
  assert.equal(schemaOf(bundled), { type: "array", items: true });
  assert.is(bundled.document.components, undefined);
});

references("parts of each type become components in the section for that type", async () => {
  const parts = {
    p: { name: "p", in: "query", schema: { type: "string" } },
    b: { content: { "text/plain": {} } },
    r: { description: "R", headers: { H: { $ref: "#/h" } }, links: { L: { $ref: "#/l" } } },
    h: { schema: { type: "string" } },
    l: { operationId: "one" },
    c: { "{$url}": { post: { responses: { 200: { $ref: "#/r" } } } } },
    e: { value: { $ref: "data", more: 1 } },
  };
  const content = { "text/plain": { examples: { e: { $ref: "parts.json#/e" } } } };
  const { document, diagnostics, references } = await bundleFiles({
    "root.json": describe({
      operationId: "one",
      parameters: [{ $ref: "parts.json#/p" }],
      requestBody: { $ref: "parts.json#/b" },
      responses: { 200: { $ref: "parts.json#/r" }, default: { description: "", content } },
      callbacks: { c: { $ref: "parts.json#/c" } },
    }),
    "parts.json": parts,
  });
  assert.equal(diagnostics, []);
  assert.equal([...new Set(references)].sort(), [
    "#/components/callbacks/c",
    "#/components/examples/e",
    "#/components/headers/h",
    "#/components/links/l",
    "#/components/parameters/p",
    "#/components/requestBodies/b",
    "#/components/responses/r",
  ]);
  assert.equal(document.components.examples, { e: parts.e });
});

const describeExamples = (example: unknown) =>
  describe({
    parameters: [{ name: "p", in: "query", schema: { type: "string", example }, example }],
    responses: {
      200: {
        description: "",
        headers: { H: { schema: {}, example } },
        content: {
          "application/json": {
            schema: { $ref: "parts.json#/s" },
            examples: { e: { value: example } },
          },
          "text/plain": { example },
        },
      },
    },
  });

references(
  "a $ref in an example is replaced by its target if the file is in the folder",
  async () => {
    const $ref = "./examples/block.json#/a~1b";
    const block = { $ref: "#/no/reference", height: 1 };
    const { document, diagnostics, asked } = await bundleFiles({
      "root.json": describeExamples({ $ref }),
      "parts.json": { s: { type: "object", example: { $ref } } },
      "examples/block.json": { "a/b": block },
    });
    assert.equal([diagnostics, asked], [[], ["root.json", "examples/block.json", "parts.json"]]);
    const { parameters: [parameter], responses } = document.paths["/a"].get;
    const { headers, content } = responses[200];
    assert.equal(
      [
        ...[parameter.example, parameter.schema.example, headers.H.example],
        ...[content["application/json"].examples.e.value, content["text/plain"].example],
        document.components.schemas.s.example,
      ],
      Array(6).fill(block),
    );
  },
);

for (
  const [$ref, reason] of [
    ["#/components/examples/a", "is not a file in the description's folder"],
    ["../secret.json", "is not a file in the description's folder"],
    ["/secret.json", "is not a file in the description's folder"],
    ["..%2fsecret.json", "is not a file in the description's folder"],
    ["//other.example/a.json", "is not a file in the description's folder"],
    ["http://node.example/api/there.json", "is not a file in the description's folder"],
    ["moved.json", "is not a file in the description's folder"],
    ["none.json", "cannot be read: no such file"],
    ["there.json#/none", "leads nowhere"],
  ] as const
) {
  references(`a $ref in an example that leads elsewhere is reported: ${$ref}`, async () => {
    const root = describeExamples({ $ref });
    const { document, diagnostics } = await bundleFiles({
      "root.json": root,
      "parts.json": { s: {} },
      "there.json": { a: 1 },
      "../secret.json": 1,
    }, { "moved.json": "../secret.json" });
    const note = `"${$ref}" in an example stays unchanged: it ${reason}`;
    assert.equal(diagnostics, [`root.json:1:163 ${note} (and 4 more)`]);
    assert.equal(document.paths["/a"].get.parameters[0].example, { $ref });
  });
}

references("a $ref in an example is replaced only up to a total size", async () => {
  const example = { $ref: "large.json" };
  const items = Array.from({ length: 60 }, () => ({ example }));
  const { document, diagnostics } = await bundleFiles({
    "root.json": describeSchema({ allOf: items }),
    "large.json": Array(20_000).fill(0),
  });
  const all = document.paths["/a"].get.responses[200].content["application/json"].schema.allOf;
  const taken = all.filter((item: { example: unknown }) => Array.isArray(item.example)).length;
  assert.is(taken, Math.floor(300_000 / estimateSize(Array(20_000).fill(0))));
  assert.match(
    diagnostics.join("\n"),
    "it would make the document too large (and 46 more)",
  );
});

references("a $ref in data or in an extension is not followed, and no file is read", async () => {
  const data = { $ref: "none.json" };
  const schema = {
    example: { ...data, more: 1 },
    examples: [data],
    default: data,
    enum: [data],
    const: data,
    "x-a": data,
  };
  const root = describeSchema(schema, { "x-b": data });
  const { document, diagnostics, asked } = await bundleFiles({ "root.json": root });
  assert.equal([diagnostics, asked, document], [[], ["root.json"], root]);
});

references(
  "a document with valid references stays unchanged, even with members beside a $ref in 3.0",
  async () => {
    const schema = { $ref: "#/components/schemas/Pet", description: "ignored" };
    const root = describeSchema(schema, { components: { schemas: { Pet: PET } } }, "3.0.3");
    assert.equal((await bundleFiles({ "root.json": root })).document, root);
  },
);

references("references that form a cycle remain references", async () => {
  const tree = { properties: { left: { $ref: "#" }, right: { $ref: "tree.json" } } };
  const { document, diagnostics } = await bundleFiles({
    "root.json": describeSchema({ $ref: "tree.json" }),
    "tree.json": tree,
  });
  const $ref = "#/components/schemas/tree";
  assert.equal(diagnostics, []);
  assert.equal(document.components.schemas.tree, {
    properties: { left: { $ref }, right: { $ref } },
  });
});

references("parts with the same name are numbered in the order of their files", async () => {
  const { references } = await bundleFiles({
    "root.json": describeSchema({
      oneOf: [{ $ref: "b.json#/Electra/Block" }, { $ref: "a.json#/Altair/Block" }],
    }),
    "a.json": { Altair: { Block: PET } },
    "b.json": { Electra: { Block: PET } },
  });
  assert.equal(references.map((ref) => ref.split("/").at(-1)), ["Block2", "Block"]);
});

references("a part whose name is already in use gets a numbered name", async () => {
  const bundled = await bundleFiles({
    "root.json": describeSchema({ $ref: "Pet.json" }, { components: { schemas: { Pet: PET } } }),
    "Pet.json": { type: "string" },
  });
  assert.equal(schemaOf(bundled), { $ref: "#/components/schemas/Pet2" });
});

references("a component that is only a reference is replaced by the referenced part", async () => {
  const { document, references } = await bundleFiles({
    "root.json": describeSchema({ $ref: "all.json#/Pet" }, {
      components: { schemas: { Animal: { $ref: "all.json#/Pet" } } },
    }),
    "all.json": { Pet: PET },
  });
  assert.equal(references, ["#/components/schemas/Animal"]);
  assert.equal(document.components.schemas, { Animal: PET });
});

references("an invalid component name is reported but kept", async () => {
  const bundled = await bundleFiles({
    "root.json": describeSchema({ $ref: "#/components/schemas/A%20Pet" }, {
      components: { schemas: { "A Pet": PET } },
    }),
  });
  assert.equal(schemaOf(bundled), { $ref: "#/components/schemas/A%20Pet" });
  assert.match(
    bundled.diagnostics.join(),
    '"A Pet" is not a valid name: use up to 400 letters, digits, ".", "-" and "_"',
  );
});

references("a component name may have 400 characters", async () => {
  for (const [length, count] of [[400, 0], [401, 1]] as const) {
    const schemas = { ["k".repeat(length)]: PET };
    const { diagnostics } = await bundleFiles({
      "root.json": describeSchema({}, { components: { schemas } }),
    });
    assert.is(diagnostics.length, count, String(length));
  }
});

references(
  "a reference to a path item in another file is replaced, but members beside it are kept",
  async () => {
    for (const openapi of ["3.0.3", "3.1.1"]) {
      const post = { responses: { 200: { description: "mine" } } };
      const get = { responses: { 200: { $ref: "#/ok" } } };
      const root = describe({}, { paths: { "/a": { $ref: "items.json#/a", post } } }, openapi);
      const items = { a: { get }, ok: { description: "OK" } };
      const { document, diagnostics } = await bundleFiles({
        "root.json": root,
        "items.json": items,
      });
      assert.equal(diagnostics, []);
      const responses = { 200: { $ref: "#/components/responses/ok" } };
      assert.equal(document.paths["/a"], { get: { responses }, post });
    }
  },
);

references("a path item that refers to itself is truncated in OpenAPI 3.0", async () => {
  const callbacks = { c: { "{$url}": { $ref: "item.json" } } };
  const item = { post: { responses: { 200: { description: "" } }, callbacks } };
  const files = (openapi: string) => ({
    "root.json": describe({}, { paths: { "/a": { $ref: "item.json" } } }, openapi),
    "item.json": item,
  });
  const { document, diagnostics } = await bundleFiles(files("3.0.3"));
  assert.equal(document.paths["/a"].post.callbacks, { c: { "{$url}": {} } });
  assert.match(diagnostics.join(), /"item.json" leads in a circle/);
  const { references } = await bundleFiles(files("3.1.1"));
  assert.equal([...new Set(references)], ["#/components/pathItems/item"]);
});

references("references in query, additionalOperations and webhooks are followed", async () => {
  const operation = { responses: { 200: { $ref: "parts.json#/ok" } } };
  const { references } = await bundleFiles({
    "root.json": describe({}, {
      paths: { "/a": { query: operation, additionalOperations: { COPY: operation } } },
      webhooks: { w: { post: operation } },
    }, "3.2.0"),
    "parts.json": { ok: { description: "" } },
  });
  assert.equal(references, Array(3).fill("#/components/responses/ok"));
});

references("a discriminator's mapping is rewritten; links and externalValue are kept", async () => {
  const mapping = { dog: "dog.json", cat: "Cat", bird: "root.json#/components/schemas/Bird" };
  const discriminator = { propertyName: "kind", mapping };
  const links = { own: { operationRef: "#/paths/~1a/get" } };
  const { document, diagnostics } = await bundleFiles({
    "root.json": describe({ responses: { 200: { description: "", links } } }, {
      components: {
        schemas: { Cat: PET, Bird: PET, Any: { oneOf: [{ $ref: "dog.json" }], discriminator } },
        examples: { e: { externalValue: "https://hugo:S3cret@a.example/e.txt" } },
      },
    }),
    "dog.json": PET,
  });
  assert.match(diagnostics.join(), /^\S+ the user and password in a URL are omitted[^]*public$/);
  assert.equal(document.components.schemas.Any.discriminator.mapping, {
    dog: "#/components/schemas/dog",
    cat: "Cat",
    bird: "#/components/schemas/Bird",
  });
  assert.equal(document.paths["/a"].get.responses[200].links, links);
  assert.is(document.components.examples.e.externalValue, "https://a.example/e.txt");
});

references("members beside a reference are removed where OpenAPI ignores them", async () => {
  const parameters = [
    { $ref: "parts.yaml#/id", name: "id", required: false, description: "Which", "x-a": 1 },
  ];
  const bundled = await bundleFiles({
    "root.json": {
      openapi: "3.1.1",
      info: { title: "", version: "1" },
      paths: { "/{id}": { get: { parameters, responses: {} } } },
    },
    "parts.yaml": { id: { name: "id", in: "path", required: true, schema: {} } },
  });
  const { paths } = bundled.document as { paths: Record<string, { get: { parameters: unknown } }> };
  assert.equal(paths["/{id}"]!.get.parameters, [
    { $ref: "#/components/parameters/id", description: "Which", "x-a": 1 },
  ]);
});

references("references in a redirected file are relative to the redirect's target", async () => {
  const bundled = await bundleFiles({
    "root.json": describeSchema({ $ref: "schemas.json" }),
    "v2/schemas.json": { items: { $ref: "deep.json" } },
    "v2/deep.json": PET,
  }, { "schemas.json": "v2/schemas.json" });
  assert.equal(bundled.diagnostics, []);
  assert.equal(bundled.asked, ["root.json", "schemas.json", "v2/deep.json"]);
});

references(
  "a dangling reference is reported once, and as little as possible is omitted with it",
  async () => {
    const $ref = "none.json";
    const { document, diagnostics } = await bundleFiles({
      "root.json": `openapi: 3.1.1
info: { title: Test, version: "1" }
paths:
  /a:
    get:
      parameters: [{ $ref: "#/none" }, { $ref: "#/components/schemas/Pet" }]
      requestBody: { $ref: none.json }
      responses:
        200: { $ref: "#/components/responses/Gone" }
components:
  schemas:
    Pet: { properties: { a: { $ref: none.json }, b: { type: string } } }
  responses:
    Gone: { $ref: none.json }
`,
    });
    const pet = "leads to a schema instead of a parameter";
    assert.equal(diagnostics, [
      'root.json:6:28 the reference to "#/none" leads nowhere',
      `root.json:6:48 the reference to "#/components/schemas/Pet" ${pet}`,
      `root.json:7:28 "${$ref}" cannot be read: no such file (and 2 more)`,
    ]);
    assert.equal(document.paths["/a"].get, {
      parameters: [],
      responses: { 200: { description: "" } },
    });
    assert.equal(document.components.schemas.Pet.properties, { a: {}, b: { type: "string" } });
    assert.equal(document.components.responses.Gone, { description: "" });
  },
);

references(
  "a reference where OpenAPI forbids one is reported, and replaced by its target",
  async () => {
    const { document, diagnostics } = await bundleFiles({
      "root.json": describe({}, { paths: { $ref: "paths.json" } }),
      "paths.json": { "/b": { get: { responses: { 200: { description: "" } } } } },
    });
    assert.equal(Object.keys(document.paths), ["/b"]);
    assert.match(diagnostics.join(), /the reference to "paths.json" is not allowed here/);
  },
);

references(
  "$id does not change the base of references, and a reference to an anchor is dangling",
  async () => {
    const schema = {
      $id: "https://pets.example/one",
      properties: { a: { $ref: "pet.json" }, b: { $ref: "#pet" } },
    };
    const bundled = await bundleFiles({ "root.json": describeSchema(schema), "pet.json": PET });
    assert.equal(schemaOf(bundled), {
      properties: { a: { $ref: "#/components/schemas/pet" }, b: {} },
    });
    assert.match(bundled.diagnostics.join(), /^\S+ the reference to "#pet" leads nowhere$/);
  },
);

references("a chain of thousands of references is followed only once", async () => {
  const chain = (length: number, last: unknown) =>
    Object.fromEntries(
      Array.from({ length }, (_, i) => [`S${i}`, i + 1 < length ? { $ref: `#/S${i + 1}` } : last]),
    );
  const root = describeSchema({ $ref: "chain.json#/S0" });
  const whole = await bundleFiles({ "root.json": root, "chain.json": chain(20_000, PET) });
  assert.equal(schemaOf(whole), { $ref: "#/components/schemas/S19999" });
  const circle = await bundleFiles({
    "root.json": root,
    "chain.json": chain(20_000, { $ref: "#/S0" }),
  });
  assert.equal(circle.diagnostics, [
    'chain.json:1:15 the reference to "#/S1" leads in a circle',
  ]);
  assert.equal(schemaOf(circle), {});
});

references("a schema below a very long key gets a short name", async () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 3000 }, (_, i) => [`D${i}`, { type: "string" }]),
  );
  const root = Object.keys($defs).map((_, i) => ({ $ref: `#/components/schemas/A/$defs/D${i}` }));
  const key = "k".repeat(100_000);
  const anyOf = [...root, { $ref: `all.json#/$defs/${key}/properties/name` }];
  const { references, diagnostics } = await bundleFiles({
    "root.json": describeSchema({ anyOf }, { components: { schemas: { A: { $defs } } } }),
    "all.json": { $defs: { [key]: PET } },
  });
  assert.equal(diagnostics, []);
  assert.is(references[2999], "#/components/schemas/D2999");
  assert.ok(references[3000]!.length < 300);
});

references("references cannot multiply the size of a document", async () => {
  const callbacks = (i: number) =>
    Object.fromEntries(["a", "b", "c"].map((key) => [key, { x: { $ref: `#/${i + 1}` } }]));
  const items = Array.from({ length: 40 }, (_, i) => ({
    get: { responses: { 200: { description: "" } }, ...i < 39 && { callbacks: callbacks(i) } },
  }));
  const { diagnostics } = await bundleFiles({
    "root.json": describe({}, { paths: { "/a": { $ref: "items.json#/0" } } }, "3.0.3"),
    "items.json": items,
  });
  assert.match(diagnostics.join(), "would make the document too large");
});

references.run();
