import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type JsonObject, resolveFragment } from "../src/json/values.ts";
import { load } from "./description/_load.ts";
import { describe, describeSchema, normalizeDocument, schemaOf } from "./description/_normalize.ts";

const references = suite("references in a description");

const PET = { type: "object", properties: { name: { type: "string" } } };

/** Members of the document, beside `paths` and `components`, to which references may lead. */
const PARTS = {
  "x-pets": { Cat: PET, "a/Pet": PET, "My Pet": PET, "a%25": PET, 7: PET, list: [PET] },
};

/** The reference `ref` must lead to the component `name`. */
const SHAPES: Readonly<Record<string, [ref: string, name: string]>> = {
  "a part outside of components": ["#/x-pets/Cat", "Cat"],
  "an item of a list": ["#/x-pets/list/0", "list0"],
  "a key without letters": ["#/x-pets/7", "x-pets7"],
  "a key with a slash": ["#/x-pets/a~1Pet", "x-pets"],
  "a key with a space": ["#/x-pets/My%20Pet", "My_Pet"],
  "a key with a percent sign": ["#/x-pets/a%2525", "a_25"],
  "the document by its name": ["root.json#/components/schemas/Pet", "Pet"],
  "the document by its URL": ["http://node.example/api/root.json#/components/schemas/Pet", "Pet"],
  "a component": ["#/components/schemas/Pet", "Pet"],
  "a part of a component": ["#/components/schemas/Pet/properties/name", "PetName"],
  "a part of another operation": [
    "#/paths/~1b/get/responses/200/content/application~1json/schema",
    "b200",
  ],
};

const PLACES: Readonly<Record<string, (reference: JsonObject) => JsonObject>> = {
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

for (const [shape, [ref, name]] of Object.entries(SHAPES)) {
  references(`${shape}: each reference leads to the component ${name}`, async () => {
    for (const [place, make] of Object.entries(PLACES)) {
      const root = describeSchema(make({ $ref: ref }), PARTS) as Record<string, JsonObject>;
      root.paths = { ...OTHERS.paths, ...root.paths };
      root.components = OTHERS.components;
      const normalized = await normalizeDocument(root);
      assert.equal(normalized.diagnostics, [], place);
      const said = make({ $ref: `#/components/schemas/${name}` });
      assert.equal(schemaOf(normalized), said, place);
      for (const reference of normalized.references) {
        assert.match(reference, /^#\/components\/schemas\/[\w.-]+$/);
        const target = resolveFragment(normalized.document, reference.slice(1));
        assert.is.not(target, undefined, reference);
      }
    }
  });
}

const LEAD = "references to other files are not followed; make one file of all";
const COMMAND = `${LEAD}: npx @redocly/cli bundle http://node.example/api/root.json > one.yaml`;
const HEAD = { info: { title: "Test", version: "1" } };

/** Each document contains the reference `ref`, which leads to another file. */
const ELSEWHERE: Readonly<Record<string, [ref: string, document: (ref: string) => JsonObject]>> = {
  "a schema, by a relative path": ["pet.json", ($ref) => describeSchema({ $ref })],
  "a schema, by an absolute path": ["/pet.json", ($ref) => describeSchema({ $ref })],
  "a schema at another address": [
    "https://pets.example/all.yaml#/Pet",
    ($ref) => describeSchema({ $ref }),
  ],
  "a path item": ["a.yaml#/a", ($ref) => describe({}, { paths: { "/a": { $ref } } })],
  "a webhook": ["w.json", ($ref) => describe({}, { paths: {}, webhooks: { a: { $ref } } })],
  "a discriminator's mapping": [
    "dog.json",
    (dog) => describeSchema({ discriminator: { propertyName: "a", mapping: { dog } } }),
  ],
  "a definition of Swagger 2.0": [
    "pet.yaml",
    ($ref) => ({ swagger: "2.0", ...HEAD, paths: {}, definitions: { Pet: { $ref } } }),
  ],
  "a schema of OpenRPC": [
    "r.json",
    ($ref) => ({
      openrpc: "1.3.2",
      ...HEAD,
      methods: [{ name: "a", params: [], result: { name: "r", schema: { $ref } } }],
    }),
  ],
};

for (const [what, [ref, make]] of Object.entries(ELSEWHERE)) {
  references(`the error tells how to make one file, if a reference leads to ${what}`, async () => {
    const document = make(ref);
    const column = JSON.stringify(document).indexOf(JSON.stringify(ref)) + 1;
    const said = document.openrpc === undefined ? COMMAND : LEAD;
    assert.equal((await normalizeDocument(document)).diagnostics, [
      `root.json:1:${column} ${said}`,
    ]);
  });
}

references("references to other files are one error, at the first of them", async () => {
  const { diagnostics } = await normalizeDocument(`openapi: 3.0.3
info: { title: Test, version: "1" }
paths:
  /a:
    get:
      parameters:
        - $ref: ../parameters.yaml#/limit
      responses: { 200: { $ref: "responses.yaml#/ok" } }
`);
  assert.equal(diagnostics, [`root.json:7:17 ${COMMAND} (and 1 more)`]);
});

references("the command for a file on disk has the file's name, in quotes if needed", async () => {
  const document = describeSchema({ $ref: "pet.json" });
  const nameIn = async (url: string) =>
    /bundle (.*) > one\.yaml/.exec((await normalizeDocument(document, url)).diagnostics.join())
      ?.[1];
  assert.is(await nameIn("file:///home/me/openapi.yaml"), "openapi.yaml");
  assert.is(await nameIn("file:///home/me/my%20api.yaml"), '"my api.yaml"');
  assert.is(await nameIn("https://hugo:S3cret@a.example/v1"), "https://a.example/v1");
});

references("a description that refers to other files is shown without their parts", async () => {
  const text = JSON.stringify(describeSchema({ $ref: "/etc/passwd" }, {
    paths: {
      "/a": { get: { responses: { 200: { $ref: "file:///etc/passwd#/ok" } } } },
      "/b": { $ref: "https://elsewhere.example/b.yaml", get: { responses: {} } },
    },
  }));
  const fetched: string[] = [];
  const fetch = (url: URL) => (fetched.push(url.href), Promise.reject(new Error("refused")));
  const { document, diagnostics } = await load({ text }, { fetch });
  const { "/a": a, "/b": b } = document!.paths as Record<string, JsonObject>;
  assert.equal(a, { get: { responses: { 200: { description: "" } } } });
  assert.equal(b, { get: { responses: {} } });
  assert.equal(fetched, []);
  const errors = diagnostics.filter(({ level }) => level === "error");
  assert.equal(errors.map(({ isFatal, more }) => [isFatal, more]), [[false, 1]]);
});

references("a reference to a boolean schema is replaced by that schema", async () => {
  const normalized = await normalizeDocument(
    describeSchema({ type: "array", items: { $ref: "#/x-any" } }, { "x-any": true }),
  );
  assert.equal(normalized.diagnostics, []);
  assert.equal(schemaOf(normalized), { type: "array", items: true });
  assert.is(normalized.document.components, undefined);
});

references("parts of each type become components in the section for that type", async () => {
  const parts = {
    p: { name: "p", in: "query", schema: { type: "string" } },
    b: { content: { "text/plain": {} } },
    r: { description: "R", headers: { H: { $ref: "#/x/h" } }, links: { L: { $ref: "#/x/l" } } },
    h: { schema: { type: "string" } },
    l: { operationId: "one" },
    c: { "{$url}": { post: { responses: { 200: { $ref: "#/x/r" } } } } },
    e: { value: { $ref: "data", more: 1 } },
  };
  const content = { "text/plain": { examples: { e: { $ref: "#/x/e" } } } };
  const { document, references } = await normalizeDocument(describe({
    operationId: "one",
    parameters: [{ $ref: "#/x/p" }],
    requestBody: { $ref: "#/x/b" },
    responses: { 200: { $ref: "#/x/r" }, default: { description: "", content } },
    callbacks: { c: { $ref: "#/x/c" } },
  }, { x: parts }));
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

references("a $ref in an example, in other data or in an extension stays as it is", async () => {
  const data = { $ref: "none.json" };
  const schema = {
    example: data,
    examples: [data],
    default: data,
    enum: [data],
    const: data,
    "x-a": data,
  };
  const root = describeSchema(schema, { "x-b": data });
  const { document, diagnostics } = await normalizeDocument(root);
  assert.equal([diagnostics, document], [[], root]);
});

references(
  "a document with valid references stays unchanged, even with members beside a $ref in 3.0",
  async () => {
    const schema = { $ref: "#/components/schemas/Pet", description: "ignored" };
    const root = describeSchema(schema, { components: { schemas: { Pet: PET } } }, "3.0.3");
    assert.equal((await normalizeDocument(root)).document, root);
  },
);

references("references that form a cycle remain references", async () => {
  const tree = { properties: { left: { $ref: "#/x-tree" }, right: { $ref: "#/x-tree" } } };
  const root = describeSchema({ $ref: "#/x-tree" }, { "x-tree": tree });
  const { document, diagnostics } = await normalizeDocument(root);
  const $ref = "#/components/schemas/x-tree";
  assert.equal(diagnostics, []);
  assert.equal(document.components.schemas["x-tree"], {
    properties: { left: { $ref }, right: { $ref } },
  });
});

references("a part whose name is already in use gets a numbered name", async () => {
  const root = describeSchema({ oneOf: [{ $ref: "#/x-b/Pet" }, { $ref: "#/x-a/Pet" }] }, {
    "x-a": { Pet: PET },
    "x-b": { Pet: { type: "string" } },
    components: { schemas: { Pet: PET } },
  });
  const { document, references } = await normalizeDocument(root);
  assert.equal(references.map((ref) => ref.split("/").at(-1)), ["Pet2", "Pet3"]);
  assert.equal(document.components.schemas.Pet2, { type: "string" });
});

references("an invalid component name is reported but kept", async () => {
  const normalized = await normalizeDocument(
    describeSchema({ $ref: "#/components/schemas/A%20Pet" }, {
      components: { schemas: { "A Pet": PET } },
    }),
  );
  assert.equal(schemaOf(normalized), { $ref: "#/components/schemas/A%20Pet" });
  assert.match(
    normalized.diagnostics.join(),
    '"A Pet" is not a valid name: use up to 400 letters, digits, ".", "-" and "_"',
  );
});

references("a component name may have 400 characters", async () => {
  for (const [length, count] of [[400, 0], [401, 1]] as const) {
    const schemas = { ["k".repeat(length)]: PET };
    const { diagnostics } = await normalizeDocument(
      describeSchema({}, { components: { schemas } }),
    );
    assert.is(diagnostics.length, count, String(length));
  }
});

references(
  "a reference to a path item is replaced, but members beside it are kept",
  async () => {
    for (const openapi of ["3.0.3", "3.1.1"]) {
      const post = { responses: { 200: { description: "mine" } } };
      const get = { responses: { 200: { $ref: "#/x-ok" } } };
      const paths = { "/a": { $ref: "#/x-items/a", post } };
      const root = describe(
        {},
        { paths, "x-items": { a: { get } }, "x-ok": { description: "OK" } },
        openapi,
      );
      const { document, diagnostics } = await normalizeDocument(root);
      assert.equal(diagnostics, []);
      const item = { get: { responses: { 200: { $ref: "#/components/responses/x-ok" } } } };
      assert.equal(document.paths["/a"], { ...item, post });
    }
  },
);

references("a path item that refers to itself is truncated", async () => {
  const callbacks = { c: { "{$url}": { $ref: "#/x-item" } } };
  const item = { post: { responses: { 200: { description: "" } }, callbacks } };
  for (const openapi of ["3.0.3", "3.1.1"]) {
    const root = describe({}, { paths: { "/a": { $ref: "#/x-item" } }, "x-item": item }, openapi);
    const { document, diagnostics } = await normalizeDocument(root);
    assert.equal(document.paths["/a"].post.callbacks, { c: { "{$url}": {} } });
    assert.match(diagnostics.join(), /"#\/x-item" leads in a circle/);
  }
});

references("references in query, additionalOperations and webhooks are followed", async () => {
  const operation = { responses: { 200: { $ref: "#/x-ok" } } };
  const { references } = await normalizeDocument(describe({}, {
    paths: { "/a": { query: operation, additionalOperations: { COPY: operation } } },
    webhooks: { w: { post: operation } },
    "x-ok": { description: "" },
  }, "3.2.0"));
  assert.equal(references, Array(3).fill("#/components/responses/x-ok"));
});

references("a discriminator's mapping is rewritten; links and externalValue are kept", async () => {
  const mapping = { dog: "#/x-dog", cat: "Cat", bird: "root.json#/components/schemas/Bird" };
  const discriminator = { propertyName: "kind", mapping };
  const links = { own: { operationRef: "other.json#/paths/~1a/get" } };
  const { document, diagnostics } = await normalizeDocument(
    describe({ responses: { 200: { description: "", links } } }, {
      "x-dog": PET,
      components: {
        schemas: { Cat: PET, Bird: PET, Any: { oneOf: [{ $ref: "#/x-dog" }], discriminator } },
        examples: { e: { externalValue: "https://hugo:S3cret@a.example/e.txt" } },
      },
    }),
  );
  assert.match(diagnostics.join(), /^\S+ the user and password in a URL are omitted[^]*public$/);
  assert.equal(document.components.schemas.Any.discriminator.mapping, {
    dog: "#/components/schemas/x-dog",
    cat: "Cat",
    bird: "#/components/schemas/Bird",
  });
  assert.equal(document.paths["/a"].get.responses[200].links, links);
  assert.is(document.components.examples.e.externalValue, "https://a.example/e.txt");
});

references("members beside a reference are removed where OpenAPI ignores them", async () => {
  const parameters = [
    { $ref: "#/x-id", name: "id", required: false, description: "Which", "x-a": 1 },
  ];
  const { document } = await normalizeDocument({
    openapi: "3.1.1",
    info: { title: "", version: "1" },
    paths: { "/{id}": { get: { parameters, responses: {} } } },
    "x-id": { name: "id", in: "path", required: true, schema: {} },
  });
  assert.equal(document.paths["/{id}"].get.parameters, [
    { $ref: "#/components/parameters/x-id", description: "Which", "x-a": 1 },
  ]);
});

references(
  "a dangling reference is reported once, and as little as possible is omitted with it",
  async () => {
    const { document, diagnostics } = await normalizeDocument(`openapi: 3.1.1
info: { title: Test, version: "1" }
paths:
  /a:
    get:
      parameters: [{ $ref: "#/none" }, { $ref: "#/components/schemas/Pet" }]
      requestBody: { $ref: "#/gone" }
      responses:
        200: { $ref: "#/components/responses/Gone" }
components:
  schemas:
    Pet: { properties: { a: { $ref: "#/gone" }, b: { type: string } } }
  responses:
    Gone: { $ref: "#/gone" }
`);
    const pet = "leads to a schema instead of a parameter";
    assert.equal(diagnostics, [
      'root.json:6:28 the reference to "#/none" leads nowhere',
      `root.json:6:48 the reference to "#/components/schemas/Pet" ${pet}`,
      'root.json:7:28 the reference to "#/gone" leads nowhere (and 2 more)',
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
    const { document, diagnostics } = await normalizeDocument(describe({}, {
      paths: { $ref: "#/x-paths" },
      "x-paths": { "/b": { get: { responses: { 200: { description: "" } } } } },
    }));
    assert.equal(Object.keys(document.paths), ["/b"]);
    assert.match(diagnostics.join(), /the reference to "#\/x-paths" is not allowed here/);
  },
);

references(
  "$id does not change the base of references, and a reference to an anchor is dangling",
  async () => {
    const schema = {
      $id: "https://pets.example/one",
      properties: { a: { $ref: "#/x-pet" }, b: { $ref: "#pet" } },
    };
    const normalized = await normalizeDocument(describeSchema(schema, { "x-pet": PET }));
    assert.equal(schemaOf(normalized), {
      properties: { a: { $ref: "#/components/schemas/x-pet" }, b: {} },
    });
    assert.match(normalized.diagnostics.join(), /^\S+ the reference to "#pet" leads nowhere$/);
  },
);

references("a chain of thousands of references is followed only once", async () => {
  const chain = (length: number, last: unknown) =>
    Object.fromEntries(
      Array.from(
        { length },
        (_, i) => [`S${i}`, i + 1 < length ? { $ref: `#/x/S${i + 1}` } : last],
      ),
    );
  const root = (last: unknown) => describeSchema({ $ref: "#/x/S0" }, { x: chain(20_000, last) });
  assert.equal(schemaOf(await normalizeDocument(root(PET))), {
    $ref: "#/components/schemas/S19999",
  });
  const circle = await normalizeDocument(root({ $ref: "#/x/S0" }));
  assert.match(circle.diagnostics.at(-1)!, 'the reference to "#/x/S1" leads in a circle');
  assert.equal(schemaOf(circle), {});
});

references("a schema below a very long key gets a short name", async () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 3000 }, (_, i) => [`D${i}`, { type: "string" }]),
  );
  const root = Object.keys($defs).map((_, i) => ({ $ref: `#/components/schemas/A/$defs/D${i}` }));
  const key = "k".repeat(100_000);
  const anyOf = [...root, { $ref: `#/x-all/${key}/properties/name` }];
  const { references, diagnostics } = await normalizeDocument(
    describeSchema({ anyOf }, {
      components: { schemas: { A: { $defs } } },
      "x-all": { [key]: PET },
    }),
  );
  assert.equal(diagnostics, []);
  assert.is(references[2999], "#/components/schemas/D2999");
  assert.ok(references[3000]!.length < 300);
});

references("references cannot multiply the size of a document", async () => {
  const callbacks = (i: number) =>
    Object.fromEntries(["a", "b", "c"].map((key) => [key, { x: { $ref: `#/x-items/${i + 1}` } }]));
  const items = Array.from({ length: 40 }, (_, i) => ({
    get: { responses: { 200: { description: "" } }, ...i < 39 && { callbacks: callbacks(i) } },
  }));
  const { diagnostics } = await normalizeDocument(
    describe({}, { paths: { "/a": { $ref: "#/x-items/0" } }, "x-items": items }, "3.0.3"),
  );
  assert.match(diagnostics.join(), "would make the document too large");
});

references("path items that are used once may be of any size together", async () => {
  const names = Array.from({ length: 100 }, (_, at) => `item${at}`);
  const item = {
    get: { description: "a".repeat(100_000), responses: { 200: { description: "" } } },
  };
  const pathItems = Object.fromEntries(names.map((name) => [name, { ...item }]));
  const paths = Object.fromEntries(
    names.map((name) => [`/${name}`, { $ref: `#/components/pathItems/${name}` }]),
  );
  const root = describe({}, { paths, components: { pathItems } }, "3.1.1");
  const { document, diagnostics } = await normalizeDocument(root);
  assert.equal(diagnostics, []);
  assert.equal(document.paths["/item99"], item);
});

references.run();
