import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { formatFinding } from "../src/openapi/diagnostics.ts";
import { isEqual } from "../src/json/values.ts";
import { load, parseYaml, pathOf } from "./description/_load.ts";

const broken = suite("a broken description");

/** What is said of each file, and whether it is shown all the same. */
const FILES: Readonly<Record<string, [isShown: boolean, ...findings: string[]]>> = {
  "bad-yaml.yaml": [
    false,
    "6:1 is not YAML: Flow map in block collection must be sufficiently indented and end with a }",
  ],
  "bad-json.json": [
    false,
    "1:51 is not JSON: a string stands where a comma or } should be",
  ],
  "no-paths.yaml": [true, '1:1 the description has no "paths", so no operation is shown'],
  "dangling.yaml": [true, '8:17 the reference to "#/components/responses/None" leads nowhere'],
  "circular.yaml": [
    true,
    '6:16 the reference to "#/components/schemas/B" leads in a circle',
    '7:16 the reference to "#/components/schemas/A" leads in a circle',
  ],
  "same-id.yaml": [true, '7:25 the operationId "same" is that of GET /a as well'],
  "passwd.yaml": [
    true,
    '5:11 the reference to "/etc/passwd" leads out of the description\'s folder and is not followed',
    '7:11 the reference to "../petstore-3.1.yaml#/paths/~1pets" leads out of the description\'s ' +
    "folder and is not followed",
  ],
  "origin.yaml": [
    true,
    '5:11 the reference to "https://elsewhere.example/a.yaml" leads to another origin and is not ' +
    "followed",
  ],
  "alias-bomb.yaml": [false, "9:46 holds more than 1,000,000 values"],
  "no-anchor.yaml": [false, "4:9 the alias *none has no anchor before it"],
  "alias-circle.yaml": [false, "5:5 an alias stands for a value that it is a part of"],
  "empty.yaml": [false, "1:1 is empty"],
  "binary.yaml": [false, "1:1 is binary, not text"],
  "same-key.yaml": [true, "6:3 the same key stands here a second time; the last one counts"],
  "two.yaml": [false, "4:1 a second document begins here; a description is a single one"],
  "not-1.1.yaml": [
    true,
    "5:3 YAML 1.2 has no merge keys: << is merged here, and is a key to some readers",
    "6:9 this number has no form in JSON, where it is null",
  ],
  "version.yaml": [
    false,
    '1:10 "4.0.0" is no version that is known; there are "openapi" 3.0, 3.1 and 3.2, and ' +
    '"swagger" 2.0, as strings',
  ],
  "other.yaml": [
    false,
    '1:1 says nowhere that it is an OpenAPI description; there are "openapi" 3.0, 3.1 and 3.2, ' +
    'and "swagger" 2.0, as strings',
  ],
};

for (const [name, [isShown, ...findings]] of Object.entries(FILES)) {
  broken(`${name} is ${isShown ? "shown" : "not shown"}, and what is wrong is said`, async () => {
    const loaded = await load(`broken/${name}`);
    assert.equal(loaded.findings.map(formatFinding), findings.map((line) => `${name}:${line}`));
    assert.is(loaded.document !== undefined, isShown);
    assert.is(loaded.findings.some(({ isFatal }) => isFatal), !isShown);
  });
}

broken("every file of the folder is in the table", () => {
  assert.equal(readdirSync(pathOf("broken")).sort(), Object.keys(FILES).sort());
});

broken("JSON by its media type is told in the words of JSON, whatever it is called", async () => {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/openapi+json").end(
      '{\n  "openapi": "3.1.1",\n}',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { findings } = await load(new URL(`http://127.0.0.1:${port}/openapi`));
  server.close();
  assert.equal(findings.map(formatFinding), [
    'openapi:3:1 is not JSON: "}" stands where a key in double quotes should be',
  ]);
});

broken("what is not followed is an empty object, in both forms alike", async () => {
  const { json, yaml } = await load("broken/origin.yaml");
  assert.ok(isEqual(parseYaml(yaml), JSON.parse(json)));
  assert.equal(JSON.parse(json).paths["/a"], {});
});

broken("nothing of a file outside the folder is shown", async () => {
  const { json, yaml } = await load("broken/passwd.yaml");
  assert.not.match(json + yaml, /root:|listPets/);
});

broken("a file that is not there is said to be so, without its path", async () => {
  const { findings } = await load("broken/none.yaml");
  assert.equal(findings.map(formatFinding), [
    "none.yaml:1:1 cannot be read: there is no such file",
  ]);
});

broken("findings in JSON have their places as well", async () => {
  const text = `{ "openapi": "3.1.1", "info": { "title": "x", "version": "1" },
  "paths": { "/a": { "get": { "parameters": [ { "name": "}\\"" }, { "$ref": "#/none" } ] } } } }`;
  const { findings } = await load({ text, name: "x.json" });
  assert.equal(findings.map(formatFinding), [
    'x.json:2:76 the reference to "#/none" leads nowhere',
  ]);
});

broken("a key that stands twice in JSON is found", async () => {
  const text = '{"openapi":"3.1.1","info":{"title":"x","version":"1","title":"y"},"paths":{}}';
  const { findings, document } = await load({ text });
  assert.equal(findings.map(formatFinding), [
    "openapi.yaml:1:54 the same key stands here a second time; the last one counts",
  ]);
  assert.is((document?.info as { title: string }).title, "y");
});

broken("JSON that is nested without end is told so, whatever it is called", async () => {
  const message = "is not JSON: this is nested more than 256 levels deep";
  for (const name of ["x.json", "x.yaml"]) {
    const { findings, document } = await load({ text: "[".repeat(1_000_000), name });
    assert.equal(findings.map(formatFinding), [`${name}:1:257 ${message}`]);
    assert.is(document, undefined);
  }
});

broken("YAML that is nested too deep for JSON is told so", async () => {
  const text = `openapi: 3.1.1\nx: ${"[".repeat(1000)}${"]".repeat(1000)}\n`;
  const { findings } = await load({ text, name: "x.yaml" });
  assert.equal(findings.map(formatFinding), ["x.yaml:2:260 is nested more than 256 levels deep"]);
});

broken("a string of millions of escapes in JSON is read like any other", async () => {
  const description = "\n".repeat(4_000_000);
  const info = { title: "x", version: "1", description };
  const { findings, document } = await load({
    text: JSON.stringify({ openapi: "3.1.1", info, paths: {} }),
  });
  assert.equal(findings, []);
  assert.is((document?.info as { description: string }).description.length, description.length);
});

broken.run();
