import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "./_needs.ts";
import { ROOT } from "./_paths.ts";
import { describe, normalizeDocument } from "./description/_normalize.ts";
import type { JsonObject } from "../src/json/values.ts";
import { load, OWN } from "./description/_load.ts";

const valid = suite("the served description");

const REDOCLY = `${ROOT}tests/node_modules/@redocly/cli/bin/cli.js`;
const VALIDATOR = `${ROOT}tests/node_modules/@seriousme/openapi-schema-validator/index.js`;

/** The validator module contains copies of OpenAPI's official JSON Schemas. */
interface Schemas {
  Validator: new () => {
    validate(document: unknown): Promise<{ valid: boolean; errors?: unknown }>;
  };
}

const PARTS = {
  parameter: { name: "p", in: "query", schema: { $ref: "#/x-parts/schema" } },
  body: { content: { "application/json": { schema: { $ref: "#/x-parts/my%20pet" } } } },
  response: {
    description: "R",
    headers: { H: { $ref: "#/x-parts/header" }, None: { $ref: "#/none" } },
    links: { L: { $ref: "#/x-parts/link" }, M: { operationRef: "none.json" } },
    content: {
      "application/json": {
        schema: { $ref: "#/none" },
        examples: { e: { $ref: "#/x-parts/example" } },
      },
    },
  },
  header: { schema: { type: "string" } },
  link: { operationId: "one" },
  callback: { "{$request.query.p}": { $ref: "#/x-parts/item" } },
  item: { post: { responses: { 200: { $ref: "#/x-parts/response" }, 404: { $ref: "#/none" } } } },
  example: { externalValue: "example.txt" },
  schema: { type: "string", enum: ["a"] },
  "my pet": {
    type: "object",
    properties: { a: { $ref: "#/x-parts/my%20pet" }, b: { $ref: "#/none" } },
  },
};

const ref = (name: string) => ({ $ref: `#/x-parts/${name}` });

const documentOf = (openapi: string, more = {}): JsonObject =>
  describe({}, {
    paths: {
      "/a": {
        post: {
          operationId: "one",
          parameters: [ref("parameter"), ref("none")],
          requestBody: ref("body"),
          responses: { 200: ref("response"), default: ref("none") },
          callbacks: { C: ref("callback"), None: ref("none") },
        },
      },
      "/b": ref("item"),
      "/c": ref("item"),
      "/d": ref("none"),
    },
    components: {
      schemas: { "a.b": ref("schema"), None: ref("none") },
      responses: { A: ref("response") },
    },
    "x-parts": PARTS,
    ...more,
  }, openapi);

const SWAGGER: JsonObject = {
  swagger: "2.0",
  info: { title: "Test", version: "1" },
  consumes: ["application/json"],
  paths: {
    "/a": {
      post: {
        parameters: [ref("body"), ref("query")],
        responses: { 200: ref("response"), 404: ref("none") },
      },
      put: { parameters: [ref("form")], responses: { 200: { description: "OK" } } },
    },
  },
  definitions: { "AnyPet": { type: "object", discriminator: "kind", required: ["kind"] } },
  "x-parts": {
    body: { name: "b", in: "body", schema: { $ref: "#/definitions/AnyPet" } },
    form: { name: "f", in: "formData", type: "file" },
    query: {
      name: "q",
      in: "query",
      type: "array",
      items: { type: "string" },
      collectionFormat: "multi",
    },
    response: {
      description: "",
      schema: { $ref: "#/x-parts/schema" },
      headers: { H: { type: "string" } },
    },
    schema: { type: "string", "x-nullable": true },
  },
};

let folder: string;
const places: string[] = [];
const documents: [name: string, document: unknown][] = [];

valid.before(async () => {
  folder = mkdtempSync(join(tmpdir(), "nodeface-valid-"));
  const query = { responses: { 200: ref("response") } };
  const given = {
    "2.0": SWAGGER,
    "3.0": documentOf("3.0.3"),
    "3.1": documentOf("3.1.1", {
      webhooks: { w: { post: { responses: { 200: ref("response") } } } },
    }),
    "3.2": documentOf("3.2.0", {
      webhooks: { w: { query, additionalOperations: { COPY: query } } },
    }),
  };
  for (const [name, document] of Object.entries(given)) {
    // An extension is data, so its references are not adapted, but some tools follow them.
    const { "x-parts": _, ...normalized } = (await normalizeDocument(document)).document;
    documents.push([name, normalized]);
  }
  for (const name of ["petstore-2.0.json", "petstore-3.1.yaml"]) {
    documents.push([name, JSON.parse((await load(name, undefined, OWN)).json)]);
  }
  for (const [name, document] of documents) {
    const place = join(folder, `${name.replaceAll(/[/.]/g, "-")}.json`);
    writeFileSync(place, JSON.stringify(document));
    places.push(place);
  }
});
valid.after(() => rmSync(folder, { recursive: true }));

testWhere(valid, without(VALIDATOR), "the descriptions match their JSON Schemas", async () => {
  const { Validator } = await import(pathToFileURL(VALIDATOR).href) as Schemas;
  for (const [name, document] of documents) {
    // Validates a copy, because the validator modifies its input.
    const copy = JSON.parse(JSON.stringify(document));
    const { valid, errors } = await new Validator().validate(copy);
    assert.ok(valid, `${name}: ${JSON.stringify(errors)}`);
  }
});

testWhere(
  valid,
  without(REDOCLY),
  "redocly finds no structure or reference errors in the served descriptions",
  async () => {
    const config = join(folder, "redocly.yaml");
    writeFileSync(config, "rules: { struct: error, no-unresolved-refs: error }\n");
    const args = [REDOCLY, "lint", ...places, "--config", config];
    const env = {
      ...process.env,
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
    };
    const { code = 0, stdout } = await promisify(execFile)(process.execPath, args, {
      env,
      cwd: folder,
    })
      .catch((error: { code: number; stdout: string }) => error) as {
        code?: number;
        stdout: string;
      };
    assert.is(code, 0, stdout);
  },
);

valid.run();
