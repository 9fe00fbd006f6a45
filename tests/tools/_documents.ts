/** The descriptions that the tools are tested with. */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import process from "node:process";
import { parse } from "yaml";
import { formatJson } from "../../src/json/lossless.ts";
import type { KindInterface } from "../../src/kinds/interface.ts";
import { documentOfKind, offered } from "../../src/openapi/kind-document.ts";
import { loadInterface } from "../../src/description/known-interface.ts";
import { KINDS_WITH_INTERFACE } from "../_kinds.ts";
import { ROOT } from "../_paths.ts";
import { countOperations } from "./programs/count-operations.ts";

export interface Document {
  name: string;
  /**
   * Writes the description to a folder if necessary, and returns the path of its root file. Absent
   * if there is no file.
   */
  entry?: (folder: string) => string;
  /** The kind whose operations are described. Set only if `entry` is absent. */
  kind?: string;
  /** The software that the node reports. Absent for unknown software. */
  software?: string;
  /** The number of operations below `paths`, including those in path items behind a reference. */
  operations: number;
}

const downloaded = (file: string) => () => `${ROOT}tests/.cache/documents/${file}`;
const kept = (file: string) => () => `${ROOT}tests/description/${file}`;
const written = (name: string, text: string) => (folder: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const responses = (schema: string) =>
  `{ "200": { description: Good, content: { application/json: { schema: { $ref: "${schema}" } } } } }`;

/** Contains members that OpenAPI 3 has moved or renamed. */
const ODD_2_0 = `swagger: "2.0"
info: { title: Swagger, version: "1", license: { name: MIT, url: "https://mit.example" } }
host: 127.0.0.1:9053
schemes: [http]
security: [{ login: [write] }]
consumes: [application/json]
produces: [application/json]
paths:
  /pets:
    parameters: [{ $ref: "#/parameters/trace" }]
    get:
      operationId: listPets
      summary: Pets
      schemes: [https]
      parameters:
        - { name: tags, in: query, type: array, items: { type: string }, collectionFormat: multi }
        - { name: kinds, in: query, type: array, items: { type: string }, collectionFormat: pipes }
      responses:
        "200": { description: Pets, schema: { type: array, items: { $ref: "#/definitions/Pet" } } }
        default: { $ref: "#/responses/Failed" }
    post:
      operationId: addPet
      summary: A new one
      consumes: [application/json, application/xml]
      parameters: [{ $ref: "#/parameters/pet" }]
      responses:
        "200":
          description: It
          schema: { $ref: "#/definitions/Pet" }
          headers: { X-Left: { type: integer, format: int32 } }
          examples: { application/json: { kind: Cat, name: Tom } }
  /pets/{name}/picture:
    post:
      operationId: addPicture
      summary: A picture
      consumes: [multipart/form-data]
      produces: [image/png]
      parameters:
        - { name: name, in: path, required: true, type: string }
        - { name: file, in: formData, type: file }
        - { $ref: "#/parameters/title" }
      responses: { "200": { description: It, schema: { type: file } } }
    put:
      operationId: namePicture
      summary: Its title
      consumes: [application/x-www-form-urlencoded]
      parameters:
        - { name: name, in: path, required: true, type: string }
        - { name: text, in: formData, type: string }
      responses: { "204": { description: Done } }
parameters:
  trace: { name: X-Trace, in: header, type: string }
  pet: { name: pet, in: body, required: true, schema: { $ref: "#/definitions/Pet" } }
  title: { name: title, in: formData, type: string }
responses:
  Failed: { description: It failed, schema: { type: string } }
securityDefinitions:
  login:
    type: oauth2
    flow: accessCode
    authorizationUrl: https://login.example/authorize
    tokenUrl: https://login.example/token
    scopes: { write: Change pets }
definitions:
  Pet:
    type: object
    discriminator: kind
    required: [kind]
    properties: { kind: { type: string }, name: { type: string, x-nullable: true } }
  Cat:
    allOf: [{ $ref: "#/definitions/Pet" }, { type: object, properties: { lives: { type: integer } } }]
`;

const VERSION_3_2 = `openapi: 3.2.0
info: { title: A version that is new, version: "1", license: { name: MIT, identifier: MIT } }
servers: [{ url: "http://127.0.0.1:9053" }]
security: []
tags: [{ name: blocks }, { name: recent, parent: blocks }]
paths:
  /blocks:
    get: { operationId: listBlocks, summary: Blocks, responses: ${
  responses("#/components/schemas/Block")
} }
    query: { operationId: queryBlocks, summary: Some, responses: ${
  responses("#/components/schemas/Block")
} }
    additionalOperations:
      LINK: { operationId: linkBlocks, summary: Tie, responses: ${
  responses("#/components/schemas/Block")
} }
components:
  schemas:
    Block: { type: object, properties: { height: { type: [integer, "null"] } } }
`;

const WEBHOOKS_ONLY = `openapi: 3.1.0
info: { title: Webhooks, version: "1", license: { name: MIT, identifier: MIT } }
security: []
webhooks:
  newBlock:
    post:
      operationId: newBlock
      summary: A block is there
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Block" } } } }
      responses: { "204": { description: Taken } }
components:
  schemas:
    Block: { type: object, properties: { height: { type: integer } } }
`;

/**
 * Contains CRLF line endings, multi-line strings, and integers that `number` cannot represent
 * exactly.
 */
const WINDOWS = `openapi: 3.0.3
info:
  title: Windows
  version: "1"
  license: { name: MIT, url: "https://mit.example" }
  description: |
    Two lines,
    one of them last
servers: [{ url: "http://127.0.0.1:9053" }]
security: []
paths:
  /number:
    get:
      operationId: getNumber
      summary: A number
      responses:
        "200":
          description: >-
            folded
            text
          content:
            application/json:
              schema: { $ref: "#/components/schemas/Number" }
components:
  schemas:
    Number: { type: integer, maximum: 18446744073709551615, example: 18446744073709551615 }
`.replaceAll("\n", "\r\n");

/** YAML reads these texts as numbers, which no tool accepts in their places. */
const UNQUOTED = `openapi: 3.0.3
info: { title: 2024, version: 1.0, license: { name: MIT, url: "https://mit.example" } }
servers: [{ url: "http://127.0.0.1:{port}", variables: { port: { default: 9053, enum: [9053] } } }]
security: []
tags: [{ name: 1.0 }]
paths:
  /blocks:
    get:
      operationId: listBlocks
      summary: 1e3
      tags: [1.0]
      parameters: [{ name: 1, in: query, schema: { type: string } }]
      responses: ${responses("#/components/schemas/Block")}
components:
  schemas:
    Block: { type: object, description: 1.10, properties: { height: { type: integer } } }
`;

export const SMALL: readonly Document[] = [
  { name: "our own", operations: 0 },
  { name: "pets 2.0", entry: kept("petstore-2.0.json"), operations: 1 },
  { name: "odd 2.0", entry: written("openapi.yaml", ODD_2_0), operations: 4 },
  { name: "unquoted 3.0", entry: written("openapi.yaml", UNQUOTED), operations: 1 },
  { name: "new 3.2", entry: written("openapi.yaml", VERSION_3_2), operations: 3 },
  {
    name: "webhooks only 3.1",
    entry: written("openapi.yaml", WEBHOOKS_ONLY),
    operations: 0,
  },
  {
    name: "BOM and CRLF, YAML",
    entry: written("openapi.yaml", `\uFEFF${WINDOWS}`),
    operations: 1,
  },
  {
    name: "BOM and CRLF, JSON",
    entry: written(
      "openapi.json",
      `\uFEFF${
        JSON.stringify(
          {
            openapi: "3.1.0",
            info: { title: "Windows", version: "1", license: { name: "MIT", identifier: "MIT" } },
            servers: [{ url: "http://127.0.0.1:9053" }],
            security: [],
            paths: {
              "/text": {
                get: {
                  operationId: "getText",
                  summary: "A text",
                  responses: { "200": { description: "Lines\r\nof a text" } },
                },
              },
            },
          },
          undefined,
          2,
        ).replaceAll("\n", "\r\n")
      }`,
    ),
    operations: 1,
  },
];

/**
 * The documents of all kinds. Each kind has a document for unknown software, and a document for
 * each program in its `x-software` marks.
 */
export const OF_KINDS: readonly Document[] = (await Promise.all(
  KINDS_WITH_INTERFACE.map(async (kind) => {
    const parts = await loadInterface(kind);
    const programs = [undefined, ...softwareIn(parts)];
    return await Promise.all(programs.map(async (software): Promise<Document> => {
      const document = await documentOfKind(offered(parts, { software }), {
        title: kind,
      });
      const name = software === undefined ? `kind ${kind}` : `kind ${kind}, ${software}`;
      return { name, kind, ...software && { software }, operations: countOperations(document) };
    }));
  }),
)).flat();

function softwareIn(parts: KindInterface): Set<string> {
  const marks = formatJson(parts).matchAll(/"x-software":(\[[^\]]*\])/g);
  return new Set([...marks].flatMap(([, list]) => JSON.parse(list!) as string[]));
}

export const REAL: readonly Document[] = [
  { name: "Ergo 3.0", entry: kept("ergo-openapi.yaml"), operations: 128 },
  { name: "petstore 2.0", entry: downloaded("petstore-2.0.yaml"), operations: 20 },
  { name: "circular 3.0", entry: downloaded("circular-3.0.json"), operations: 1 },
  { name: "Train Travel 3.1", entry: downloaded("train-travel-3.1.yaml"), operations: 7 },
  { name: "Docker 3.0", entry: downloaded("docker.json"), operations: 105 },
  { name: "Discourse 3.1", entry: downloaded("discourse.json"), operations: 84 },
  { name: "Adyen 3.1", entry: downloaded("adyen.json"), operations: 25 },
  { name: "ReadMe 3.1", entry: downloaded("readme-3.1.json"), operations: 54 },
  { name: "Stripe 3.0", entry: downloaded("stripe.json"), operations: 452 },
  { name: "Kubernetes 2.0", entry: downloaded("kubernetes-2.0.json"), operations: 1014 },
  { name: "Amazon EC2 3.0", entry: downloaded("ec2.json"), operations: 1188 },
  { name: "GitHub 3.0", entry: downloaded("github.json"), operations: 1223 },
];

/**
 * The descriptions whose paths are listed in the environment variable `DESCRIPTIONS`, separated as
 * in `PATH`.
 */
export const FURTHER: readonly Document[] = (process.env.DESCRIPTIONS ?? "").split(delimiter)
  .filter((path) => path !== "")
  .map((path) => ({ name: basename(path), entry: () => path, operations: operationsIn(path) }));

function operationsIn(path: string): number {
  const { methods, paths = {} } = parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
  if (methods) return methods.length;
  return countOperations({ paths });
}
