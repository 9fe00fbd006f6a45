import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mistakeIn, requestOf } from "../src/explorer/form-request.ts";
import { V1 } from "../src/explorer/html.ts";
import { readOutline } from "../src/explorer/read-outline.ts";
import { renderContent } from "../src/explorer/render-content.ts";
import type { JsonObject } from "../src/json/values.ts";
import { withHomes } from "../src/openapi/home.ts";

const form = suite("forms in the initial HTML");

const DONE = { responses: { 200: { description: "Done" } } };

const render = async (paths: JsonObject, more: JsonObject = {}) => {
  const document = await withHomes({ openapi: "3.1.1", info: { title: "A" }, paths, ...more });
  return String((await renderContent(await readOutline(document), true)).main);
};

async function dataOf(operation: JsonObject, path = "/a", method = "get", more: JsonObject = {}) {
  const html = await render({ [path]: { [method]: { ...DONE, ...operation } } }, more);
  const [, json] = /data-try='([^']*)'/.exec(html) ?? [];
  return json === undefined ? undefined : JSON.parse(json);
}

form("form data has the method, the URL and all parameters, without empty members", async () => {
  const parameters = [
    { name: "id", in: "path", required: true, schema: { type: "integer" }, example: 7 },
    { name: "kind", in: "query", schema: { type: "string", enum: ["a", "b"], default: "a" } },
    {
      name: "to",
      in: "query",
      schema: { type: "string", format: "date" },
      example: "2026-01-31",
    },
    { name: "X-Trace", in: "header", schema: { type: "string" }, example: "t" },
    { name: "session", in: "cookie", schema: { type: "string" } },
  ];
  assert.equal(
    await dataOf({ parameters, "x-call": "open" }, "/a/{id}", "get", {
      servers: [{ url: "./v1/node" }],
    }),
    {
      method: "GET",
      address: "/v1/node/a/{id}",
      fields: [
        {
          ...{ name: "id", in: "path", types: ["integer"], isRequired: true },
          ...{ example: "7", isFilled: true },
        },
        { name: "kind", in: "query", types: ["string"], example: "a", values: ["a", "b"] },
        {
          name: "to",
          in: "query",
          types: ["string"],
          format: "date",
          example: "2026-01-31",
          isFilled: true,
        },
        { name: "X-Trace", in: "header", types: ["string"], example: "t" },
      ],
    },
  );
  assert.equal(await dataOf({}), { method: "GET", address: "/a", fields: [] });
});

form(
  "the page gets no pattern, since a description's pattern could freeze the browser",
  async () => {
    const schema = { type: "string", pattern: "^a+$" };
    const data = await dataOf({ parameters: [{ name: "a", in: "query", schema }] });
    assert.equal(data.fields, [{ name: "a", in: "query", types: ["string"] }]);
  },
);

form("the page knows which fields need no minus sign", async () => {
  const schemas = [
    { type: "integer", minimum: 0 },
    { type: ["number", "null"], exclusiveMinimum: 0 },
    { type: "integer", minimum: -1 },
    { type: "integer", maximum: 7 },
    { type: ["integer", "string"], minimum: 0 },
  ];
  const parameters = schemas.map((schema, at) => ({ name: `p${at}`, in: "query", schema }));
  const { fields } = (await dataOf({ parameters }))!;
  assert.equal(fields.map(({ isUnsigned }: JsonObject) => isUnsigned ?? false), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

form("each placeholder of a path is a required field, even if it is not described", async () => {
  const parameters = [{ name: "id", in: "path", required: true, schema: { type: "integer" } }];
  const { fields } = (await dataOf({ parameters }, "/a/{id:[0-9]+}/{b}"))!;
  assert.equal(fields.map(({ name, isRequired }: JsonObject) => [name, isRequired]), [
    ["id:[0-9]+", true],
    ["b", true],
  ]);
});

form("a body has a given example or one made from its schema, with all digits", async () => {
  const body = async (media: JsonObject, more: JsonObject = {}) => {
    const operation = { requestBody: { required: true, content: { "application/json": media } } };
    return (await dataOf(operation, "/a", "post", more))?.fields[0];
  };
  const large = 18446744073709551615n;
  assert.equal(await body({ example: { n: large } }), {
    ...{
      name: "body",
      in: "body",
      mediaType: "application/json",
      isRequired: true,
      isFilled: true,
    },
    example: '{"n":18446744073709551615}',
  });
  const pasted = '{ "n": 1 }\n';
  assert.is((await body({ example: pasted, schema: { type: "object" } })).example, pasted);
  assert.is((await body({ example: "{}", schema: { type: "string" } })).example, '"{}"');
  const schema = {
    type: "object",
    required: ["a"],
    properties: {
      a: { type: "string", examples: ["x"] },
      b: { type: "array", items: { $ref: "#/components/schemas/B" } },
      c: { readOnly: true, type: "string" },
    },
  };
  const components = { schemas: { B: { oneOf: [{ enum: [2, 3] }] } } };
  assert.equal((await body({ schema }, { components })).example, '{"a":"x"}');
});

form("a parameter with JSON content is one text, which must be JSON", async () => {
  const schema = { type: "array", description: "The keys", items: { type: "string" } };
  const fieldOf = async (media: JsonObject) => {
    const content = { "application/json": media };
    return (await dataOf({ parameters: [{ name: "k", in: "query", required: true, content }] }))
      .fields[0];
  };
  const known = { name: "k", in: "query", mediaType: "application/json", isRequired: true };
  const field = await fieldOf({ schema });
  assert.equal(field, { ...known, isFilled: true, hint: "The keys" });
  assert.equal((await fieldOf({ schema, example: ["a", "b"] })).example, '["a","b"]');
  assert.match(mistakeIn(field, "0x26aa"), /^k must be JSON: /);
  assert.is(mistakeIn(field, '["0x26aa"]'), "");
  const { url } = requestOf({ method: "GET", address: "/a", fields: [field] }, ['["a","b"]'], "");
  assert.is(url, "/a?k=%5B%22a%22%2C%22b%22%5D");
  const parameters = [{ name: "k", in: "query", content: { "application/json": { schema } } }];
  const html = await render({ "/a": { get: { ...DONE, parameters } } });
  assert.match(html, /query, array, application\/json/);
  assert.match(html, "The keys");
});

form(
  "a parameter of a method is sent once, since the service reads a list in it as JSON",
  async () => {
    const parameters = [{ name: "to", in: "query", schema: { type: ["string", "array"] } }];
    const { fields } = await dataOf({ parameters }, "/v1/rpc/find");
    assert.equal(fields, [{ name: "to", in: "query", types: ["string", "array"] }]);
    const [listed] = (await dataOf({ parameters })).fields;
    assert.is(listed.list, "again");
  },
);

form("a field has the type of its schema's only alternative beside null", async () => {
  const components = {
    schemas: {
      Kind: { type: "string", enum: ["a", "b"], description: "The kind" },
      Round: { allOf: [{ $ref: "#/components/schemas/Round" }] },
    },
  };
  const fieldOf = async (schema: JsonObject) => {
    const parameters = [{ name: "p", in: "query", schema }];
    const [{ name: _, in: _in, ...field }] = (await dataOf({ parameters }, "/a", "get", {
      components,
    })).fields;
    return field;
  };
  const strings = { type: "array", items: { type: "string" } };
  const none = { type: "null" };
  const kind = { $ref: "#/components/schemas/Kind" };
  const choice = { types: ["string"], values: ["a", "b"] };
  const given: readonly (readonly [schema: JsonObject, field: JsonObject])[] = [
    [{ anyOf: [strings, none] }, { types: ["array"], list: "again" }],
    [{ anyOf: [{ type: "integer" }, none], default: 7 }, { types: ["integer"], example: "7" }],
    [{ oneOf: [{ type: "boolean" }, none] }, { types: ["boolean"], values: ["true", "false"] }],
    [{ type: ["boolean", "null"] }, { types: ["boolean", "null"], values: ["true", "false"] }],
    [{ anyOf: [kind, { enum: [null] }] }, choice],
    [{ allOf: [kind], default: "b" }, { ...choice, example: "b" }],
    [{ anyOf: [{ allOf: [kind] }, none] }, choice],
    [{ anyOf: [{ type: "string" }, { type: "integer" }, none] }, {}],
    [{ $ref: "#/components/schemas/Round" }, {}],
    [{ anyOf: [none] }, {}],
  ];
  for (const [schema, field] of given) {
    assert.equal(await fieldOf(schema), field, JSON.stringify(schema));
  }
  const data = await dataOf({
    parameters: [{ name: "tags", in: "query", schema: { anyOf: [strings, none] } }],
  });
  assert.is(requestOf(data, ["a,b"], "").url, "/a?tags=a&tags=b");
  assert.is(requestOf(data, ['["a, b", "c"]'], "").url, "/a?tags=a%2C%20b&tags=c");
  const mistake = mistakeIn({ name: "a", in: "path", list: "," }, '[".."]');
  assert.is(mistake, "a cannot have the segment . or ..");
  const ids = { name: "ids", in: "path", list: ",", isRequired: true } as const;
  for (const empty of ["[]", '[""]', ""]) assert.is(mistakeIn(ids, empty), "ids is required");
  assert.is(requestOf(data, ["[1],2"], "").url, "/a?tags=%5B1%5D&tags=2");
  const parameters = [{ name: "p", in: "query", schema: { anyOf: [kind, none] } }];
  const html = await render({ "/a": { get: { ...DONE, parameters } } }, { components });
  assert.match(html, /query, string/);
  assert.match(html, "The kind");
});

form("lists are sent in the style of their parameter, and objects are not sent", async () => {
  const [array, object] = [{ type: "array" }, { type: "object" }];
  const [pipes, spaces] = [{ style: "pipeDelimited" }, { style: "spaceDelimited" }];
  const fieldOf = async (more: JsonObject) =>
    (await dataOf({ parameters: [{ name: "p", in: "query", ...more }] }, "/a/{p}")).fields[0];
  const given: readonly (readonly [parameter: JsonObject, text: string, sent: string])[] = [
    [{ schema: array }, "1, 2 3", "?p=1&p=2%203"],
    [{ schema: array, explode: false }, "1,2 3", "?p=1,2%203"],
    [{ schema: array, ...pipes }, "1,2 3", "?p=1%7C2%203"],
    [{ schema: array, ...spaces }, "1,2", "?p=1%202"],
    [{ schema: array, ...pipes, explode: true }, "1,2", "?p=1&p=2"],
    [{ in: "path", schema: array }, "1, 2/3", "/1,2%2F3"],
    [{ in: "path", schema: { type: "string" } }, "1,2", "/1%2C2"],
  ];
  for (const [more, text, sent] of given) {
    const field = await fieldOf(more);
    assert.is(mistakeIn(field, text), "");
    const address = field.in === "path" ? "/{p}" : "";
    const { url } = requestOf({ method: "GET", address, fields: [field] }, [text], "");
    assert.is(url, sent, JSON.stringify(more));
  }
  for (const place of ["path", "header"]) {
    const field = await fieldOf({ in: place, schema: array, example: [1, 2] });
    assert.is(field.example, "1,2");
  }
  const unsupported = [
    { schema: object },
    { schema: { type: ["object", "null"] }, style: "deepObject" },
    { schema: { properties: { a: {} } } },
    { schema: { allOf: [object, { properties: { a: {} } }] }, style: "deepObject" },
    { schema: { allOf: [{ properties: { a: {} } }, { required: ["a"] }] } },
    { schema: { oneOf: [object, { type: "object", required: ["a"] }] } },
    { in: "path", schema: { type: "string" }, style: "label" },
    { in: "path", schema: array, style: "matrix" },
  ];
  for (const other of [{ pattern: "^0x" }, {}, { enum: ["a"] }, { type: "integer" }]) {
    assert.is(mistakeIn(await fieldOf({ schema: { anyOf: [object, other] } }), "0x1"), "");
  }
  for (const more of unsupported) {
    const field = await fieldOf(more);
    assert.is(mistakeIn(field, '{"a":1}'), "p cannot be sent from here", JSON.stringify(more));
  }
  assert.is(mistakeIn(await fieldOf({ schema: object }), ""), "");
  const shown = await fieldOf({ schema: object, style: "deepObject", example: { a: 1 } });
  assert.equal([shown.example, shown.isFilled], ['{"a":1}', undefined]);
});

form("an example is limited if the schema contains itself or is too large", async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [`p${i}`, { $ref: "#/components/schemas/S" }]),
  );
  const components = { schemas: { S: { type: "object", properties } } };
  const content = { "application/json": { schema: { $ref: "#/components/schemas/S" } } };
  const data = await dataOf({ requestBody: { content } }, "/a", "put", { components });
  const known = { name: "body", in: "body", mediaType: "application/json", isFilled: true };
  assert.equal(data.fields, [{ ...known, example: "{}" }]);
});

form("the headers that OpenAPI ignores as parameters have no field", async () => {
  const schema = { type: "string", default: "application/json" };
  const parameters = ["Content-Type", "ACCEPT", "authorization", "X-Accept"]
    .map((name) => ({ name, in: "header", required: true, schema }));
  parameters.push({ name: "accept", in: "query", required: true, schema });
  const requestBody = { content: { "application/json": { example: 1 } } };
  const data = await dataOf({ parameters, requestBody }, "/a", "post");
  const names = data.fields.map(({ name }: { name: string }) => name);
  assert.equal(names, ["X-Accept", "accept", "body"]);
  assert.equal(requestOf(data, ["b", "c", "1"], "").headers, [
    ["X-Accept", "b"],
    ["Content-Type", "application/json"],
  ]);
});

form("an operation that a page cannot send has no form", async () => {
  const upload = { content: { "multipart/form-data": {} } };
  assert.is(await dataOf({ requestBody: upload }, "/a", "post"), undefined);
  assert.is(await dataOf({}, "/a", "trace"), undefined);
  const cookie = [{ name: "s", in: "cookie", required: true }];
  assert.is(await dataOf({ parameters: cookie }), undefined);
});

form("a form knows that the response is a stream of events", async () => {
  const stream = { 200: { description: "Events", content: { "text/event-stream": {} } } };
  const data = await dataOf({ responses: stream });
  assert.is(data.isEndless, true);
  assert.equal(requestOf(data, [], "http://here").headers, [["Accept", "text/event-stream"]]);
});

form(
  "an operation has no form if it is not forwarded; if it needs the token, the form names its scheme",
  async () => {
    const node = { servers: [{ url: "./v1/node" }] };
    assert.is(await dataOf({ "x-call": "refused" }, "/a", "get", node), undefined);
    // Without the setting `forward`, operations have no `x-call` mark.
    assert.is(await dataOf({}, "/a", "get", node), undefined);
    const components = { securitySchemes: { Key: { type: "http", scheme: "Bearer" } } };
    const security = [{ Key: [] }];
    const data = await dataOf({ "x-call": "token", security }, "/a", "get", {
      ...node,
      components,
    });
    assert.is(data.token, "Key");
    // A form that calls another server does not ask for the token, because the token is only for
    // this service.
    const elsewhere = { servers: [{ url: "https://a.example" }], components };
    assert.equal(await dataOf({ security }, "/a", "get", elsewhere), {
      method: "GET",
      address: "https://a.example/a",
      fields: [],
    });
  },
);

form("without JavaScript, a GET that only reads has a link if its form is complete", async () => {
  const html = await render({
    "/b": {
      get: {
        ...DONE,
        parameters: [
          { name: "q", in: "query", required: true, example: `"<x>"` },
          { name: "c", in: "query", schema: { type: "boolean" } },
        ],
      },
    },
    "/c/{id}": {
      get: { ...DONE, parameters: [{ name: "id", in: "path", required: true, example: "a/b" }] },
    },
    "/d/{id}": { get: { ...DONE, parameters: [{ name: "id", in: "path", required: true }] } },
    "/e": { post: DONE },
    "/f": { get: { ...DONE, "x-access": "write" } },
    // A link cannot send a header.
    "/g": {
      get: { ...DONE, parameters: [{ name: "h", in: "header", required: true, example: "1" }] },
    },
    "/h": { get: { ...DONE, security: [{ a: [] }] } },
    "/i": { get: { ...DONE, servers: [{ url: "https://a.example" }] } },
  }, { components: { securitySchemes: { a: { type: "http", scheme: "bearer" } } } });
  assert.equal([...html.matchAll(/<noscript><a href="([^"]*)"/g)].map(([, to]) => to), [
    `${V1}../b?q=%22%3Cx%3E%22`,
    `${V1}../c/a%2Fb`,
  ]);
});

form("an operation counts as a write unless its mark or its method says otherwise", async () => {
  const isWrite = async (method: string, access?: unknown) => {
    const marked = access === undefined ? {} : { "x-access": access };
    return (await dataOf(marked, "/a", method)).isWrite ?? false;
  };
  // The page ignores an unknown `x-access` value, as the gateway does.
  for (const access of [undefined, "sign", "", 7, null, ["read"]]) {
    assert.is(await isWrite("delete", access), true, `DELETE ${access}`);
    assert.is(await isWrite("get", access), false, `GET ${access}`);
  }
  assert.is(await isWrite("get", "write"), true);
  for (const access of ["read", "secret"]) assert.is(await isWrite("post", access), false);
});

form("if there are many operations, the HTML has all forms", async () => {
  const paths = Array.from({ length: 1000 }, (_, i) => [`/p/${i}`, { get: DONE }]);
  const html = await render(Object.fromEntries(paths));
  assert.is(html.match(/data-try='/g)?.length, 1000);
});

form("a short link has a method name or operationId, and occurs once on the page", async () => {
  const named = (operationId: string) => ({ get: { ...DONE, operationId, tags: ["A", "B"] } });
  const html = await render({
    "/v1/rpc/get%5Fblock": { post: DONE },
    "/a": named("getA"),
    "/b": named("get b"),
  });
  const anchors = [...html.matchAll(/<article id="([^"]*)"/g)].map(([, id]) => id);
  assert.equal(anchors.sort(), ["op/getA", "op/get_block"]);
});

form("the page names the owner of the token in the field, and of no earlier one", async () => {
  const { document, fetch } = globalThis;
  const answers = new Map<string, () => void>();
  Object.assign(globalThis, {
    document: {
      querySelector: () => ({ href: "http://localhost/" }),
      createElement: () => ({ append() {} }),
    },
    fetch: (_: string, { headers: { Authorization: name } }: { headers: Record<string, string> }) =>
      new Promise((resolve) => {
        answers.set(name!, () => resolve(Response.json({ name, operations: [] })));
      }),
  });
  try {
    const { makeOwnerNote } = await import("../static/service.ts");
    const field = Object.assign(new EventTarget(), { value: "" }) as HTMLInputElement;
    const owner = makeOwnerNote(field);
    const enter = (token: string) => {
      field.value = token;
      field.dispatchEvent(new Event("change"));
    };
    const answer = async (token: string) => {
      answers.get(`Bearer ${token}`)!();
      await new Promise((resolve) => setTimeout(resolve));
    };
    enter("a");
    enter("b");
    await answer("b");
    await answer("a");
    assert.match(owner.textContent!, 'The token of the client "Bearer b"');
    enter("c");
    assert.is(owner.textContent, "");
  } finally {
    Object.assign(globalThis, { document, fetch });
  }
});

form.run();
