import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { forLog, formatDiagnostic } from "../src/openapi/diagnostics.ts";
import { isEqual } from "../src/json/values.ts";
import { load, parseYaml, pathOf } from "./description/_load.ts";

const broken = suite("an invalid description");

const FILES: Readonly<Record<string, [isShown: boolean, ...diagnostics: string[]]>> = {
  "bad-yaml.yaml": [
    false,
    "6:1 is not YAML: Flow map in block collection must be sufficiently indented and end with a }",
  ],
  "no-quote.yaml": [
    false,
    '6:1 the text must end with " before this place, or its next line needs more indentation',
  ],
  "bad-json.json": [
    false,
    "1:51 is not JSON: expected a comma or }, not a string",
  ],
  "no-paths.yaml": [true, '1:1 a document needs "paths"'],
  "dangling.yaml": [true, '8:17 the reference to "#/components/responses/None" leads nowhere'],
  "circular.yaml": [
    true,
    '6:16 the reference to "#/components/schemas/B" leads in a circle',
  ],
  "same-id.yaml": [
    true,
    '7:25 the operationId "same" is already used by GET /a; it is omitted here',
  ],
  "passwd.yaml": [
    true,
    "5:11 references to other files are not followed; make one file of all: " +
    "npx @redocly/cli bundle passwd.yaml > one.yaml (and 1 more)",
  ],
  "origin.yaml": [
    true,
    "5:11 references to other files are not followed; make one file of all: " +
    "npx @redocly/cli bundle origin.yaml > one.yaml",
  ],
  "alias-bomb.yaml": [
    false,
    "9:31 has more than 600,000 names and values; omit operations and examples that are not needed",
  ],
  "no-anchor.yaml": [false, "4:9 the alias *none has no anchor before it"],
  "alias-circle.yaml": [false, "5:5 an alias must not be within the value it refers to"],
  "empty.yaml": [false, "1:1 is empty"],
  "binary.yaml": [false, "1:1 is binary, not text"],
  "same-key.yaml": [true, "6:3 duplicate key; the last value is used"],
  "two.yaml": [false, "4:1 a second document begins here; a description must be one document"],
  "not-1.1.yaml": [
    true,
    "5:3 YAML 1.2 has no merge keys: << is merged here, but some parsers treat it as an ordinary key",
    "6:9 JSON cannot represent this number; it is served as null",
  ],
  "version.yaml": [
    false,
    '1:10 unknown version "4.0.0"; expected "openapi" 3.0, 3.1 or 3.2, "swagger" 2.0 or "openrpc" 1',
  ],
  "other.yaml": [
    false,
    '1:1 is not an OpenAPI or OpenRPC document; expected "openapi" 3.0, 3.1 or 3.2, ' +
    '"swagger" 2.0 or "openrpc" 1',
  ],
};

for (const [name, [isShown, ...diagnostics]] of Object.entries(FILES)) {
  broken(`${name} is ${isShown ? "shown" : "not shown"}, and its errors are reported`, async () => {
    const loaded = await load(`broken/${name}`);
    assert.equal(
      loaded.diagnostics.map(formatDiagnostic),
      diagnostics.map((line) => `${name}:${line}`),
    );
    assert.is(loaded.document !== undefined, isShown);
    assert.is(loaded.diagnostics.some(({ isFatal }) => isFatal), !isShown);
  });
}

broken("every file in the folder `broken` has an entry in the table", () => {
  assert.equal(readdirSync(pathOf("broken")).sort(), Object.keys(FILES).sort());
});

broken("a file whose media type is JSON gets JSON errors, whatever the file's name", async () => {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/openapi+json").end(
      '{\n  "openapi": "3.1.1",\n}',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { diagnostics } = await load(new URL(`http://127.0.0.1:${port}/openapi`));
  server.close();
  assert.equal(diagnostics.map(formatDiagnostic), [
    'openapi:3:1 is not JSON: expected a key in double quotes, not "}"',
  ]);
});

broken("a reference that must not be followed becomes an empty object in both forms", async () => {
  const { json, yaml } = await load("broken/origin.yaml");
  assert.ok(isEqual(parseYaml(yaml), JSON.parse(json)));
  assert.equal(JSON.parse(json).paths["/a"], {});
});

broken("nothing from another file is shown", async () => {
  const { json, yaml } = await load("broken/passwd.yaml");
  assert.not.match(json + yaml, /root:|listPets/);
});

broken("a missing file is reported without its path", async () => {
  const { diagnostics } = await load("broken/none.yaml");
  assert.equal(diagnostics.map(formatDiagnostic), [
    "none.yaml:1:1 cannot be read: no such file",
  ]);
});

broken("diagnostics for JSON have line and column, too", async () => {
  const text = `{ "openapi": "3.1.1", "info": { "title": "x", "version": "1" },
  "paths": { "/a": { "get": { "parameters": [ { "name": "}\\"" }, { "$ref": "#/none" } ] } } } }`;
  const { diagnostics } = await load({ text, name: "x.json" });
  assert.equal(diagnostics.map(formatDiagnostic), [
    'x.json:2:47 an item needs "in" (one of query, header, path, cookie) to be a parameter; it is omitted',
    'x.json:2:76 the reference to "#/none" leads nowhere',
  ]);
});

broken("a duplicate key in JSON is reported", async () => {
  const text = '{"openapi":"3.1.1","info":{"title":"x","version":"1","title":"y"},"paths":{}}';
  const { diagnostics, document } = await load({ text });
  assert.equal(diagnostics.map(formatDiagnostic), [
    "openapi.yaml:1:54 duplicate key; the last value is used",
  ]);
  assert.is((document?.info as { title: string }).title, "y");
});

broken("deeply nested JSON is reported, whatever the file's name", async () => {
  const message = "is nested more than 256 levels deep";
  for (const name of ["x.json", "x.yaml"]) {
    const { diagnostics, document } = await load({ text: "[".repeat(1_000_000), name });
    assert.equal(diagnostics.map(formatDiagnostic), [`${name}:1:257 ${message}`]);
    assert.is(document, undefined);
  }
});

broken("deeply nested YAML is reported", async () => {
  const text = `openapi: 3.1.1\nx: ${"[".repeat(1000)}${"]".repeat(1000)}\n`;
  const { diagnostics } = await load({ text, name: "x.yaml" });
  assert.equal(diagnostics.map(formatDiagnostic), [
    "x.yaml:2:260 is nested more than 256 levels deep",
  ]);
});

broken("a JSON string with millions of escapes is read like any other string", async () => {
  const description = "\n".repeat(4_000_000);
  const info = { title: "x", version: "1", description };
  const { diagnostics, document } = await load({
    text: JSON.stringify({ openapi: "3.1.1", info, paths: {} }),
  });
  assert.equal(diagnostics, []);
  assert.is((document?.info as { description: string }).description.length, description.length);
});

/** Control characters that move the cursor, ring the bell, or change the text direction. */
const CONTROLS = "\x1b[31m\x07\x9b\u202e\u2066\u2028\u2029\n\r\x7f";

broken("no diagnostic can control a terminal or forge a log line", async () => {
  const head = { openapi: "3.0.4", info: { title: "a", version: "1" } };
  const evil = `a${CONTROLS}b`;
  const documents: unknown[] = [
    { ...head, paths: { [evil]: {}, [`/${evil}`]: "text" }, [evil]: 1 },
    {
      ...head,
      paths: {},
      components: { schemas: { [evil]: 1, A: { $ref: evil }, B: { type: evil } } },
    },
    {
      ...head,
      paths: {},
      components: { schemas: { A: { $ref: `#/${evil}` }, B: { $ref: `${evil}.yaml` } } },
    },
    {
      ...head,
      paths: {},
      servers: [{ url: "https://{a}.example", variables: { a: { default: evil } } }],
    },
    {
      ...head,
      paths: { [`/{${evil}}`]: { get: { operationId: evil }, put: { operationId: evil } } },
    },
    { ...head, paths: {}, tags: [{ name: [evil] }, { [evil]: "" }] },
    { ...head, openapi: evil },
  ];
  const texts = [
    ...documents.map((document) => JSON.stringify(document)),
    `openapi: 3.1.1\n? ${evil}\n: "${CONTROLS}\n`,
    `openapi: 3.1.1\nx: !${"\x1b"}[31m a\ny: *${"\x1b"}\n`,
    `{"openapi":"3.1.1","${CONTROLS}`,
  ];
  for (const text of texts) {
    const { diagnostics } = await load({ text, name: `${evil}.json` });
    assert.ok(diagnostics.length > 0, text);
    for (const line of diagnostics.map(formatDiagnostic)) {
      // deno-lint-ignore no-control-regex -- the test searches for control characters
      assert.not.match(line, /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
    }
  }
});

broken("equal faults with other consequences are reported apart", async () => {
  const text = `openapi: 3.1.1
info: { title: a, version: "1" }
paths:
  /a: { get: { description: , responses: { 200: { description: } } } }
`;
  const { diagnostics } = await load({ text });
  assert.equal(diagnostics.map(({ message }) => message), [
    '"description" must be a string; it is omitted',
    '"description" must be a string; it is served as ""',
  ]);
});

broken("a repeated error is reported once, with the number of repetitions", async () => {
  const refs = Array.from({ length: 500 }, (_, i) => `    S${i}: { $ref: "#/none" }\n`).join("");
  const text =
    `openapi: 3.1.1\ninfo: { title: a, version: "1" }\npaths: {}\ncomponents:\n  schemas:\n${refs}`;
  const { diagnostics } = await load({ text });
  assert.is(diagnostics.length, 1);
  assert.match(
    formatDiagnostic(diagnostics[0]!),
    /^openapi\.yaml:6:17 .*"#\/none" leads nowhere \(and 499 more\)$/,
  );
});

broken("only some diagnostics are reported, with the number of the others", async () => {
  const text = (count: number) =>
    JSON.stringify({
      openapi: "3.1.1",
      info: { title: "a", version: "1" },
      paths: {},
      components: {
        schemas: Object.fromEntries(Array.from({ length: count }, (_, i) => [`S${i}`, 1])),
      },
    });
  const { diagnostics } = await load({ text: text(10_500) });
  assert.is(diagnostics.length, 10_001);
  assert.match(
    formatDiagnostic(diagnostics.at(-1)!),
    /further diagnostics .* \(and 499 more\)$/,
  );
  const [last] = (await load({ text: text(10_001) })).diagnostics.slice(-1);
  assert.is(last!.more, undefined);
  assert.equal(forLog(diagnostics).logged.length, 20);
  assert.is(forLog(diagnostics).more, 9981);
});

broken.run();
