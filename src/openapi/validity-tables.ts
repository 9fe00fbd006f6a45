/**
 * Tables of what parts of an OpenAPI document must be beyond their type: which texts there are, what must
 * be there, and what may not stand beside each other.
 *
 * @module
 */
import { OTHERS } from "./shape-tables.ts";

/** Texts of which there are a few. */
export const CHOICES: Readonly<Record<string, readonly string[]>> = {
  place: ["query", "header", "path", "cookie"],
  placeSince3_2: ["query", "querystring", "header", "path", "cookie"],
  placeInSwagger: ["query", "header", "path", "formData", "body"],
  keyPlace: ["query", "header", "cookie"],
  queryStyle: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  pathStyle: ["matrix", "label", "simple"],
  headerStyle: ["simple"],
  cookieStyle: ["form"],
  cookieStyleSince3_2: ["form", "cookie"],
  type: ["array", "boolean", "integer", "number", "object", "string"],
  simpleType: ["array", "boolean", "file", "integer", "number", "string"],
  login: ["apiKey", "http", "oauth2", "openIdConnect"],
  loginSince3_1: ["apiKey", "http", "mutualTLS", "oauth2", "openIdConnect"],
  loginInSwagger: ["basic", "apiKey", "oauth2"],
  flow: ["implicit", "password", "application", "accessCode"],
};

/** A member that is put where an object would be invalid without. */
export interface Fill {
  readonly kind: string;
  /** Any of these will do; a row with one that the version does not know is not for that version. */
  readonly unless: readonly string[];
  readonly key: string;
  readonly value?: unknown;
  /** The member whose list begins with the value. */
  readonly from?: string;
  /** Whether it is needed before OpenAPI 3.1 only. */
  readonly isOld?: boolean;
  /** What is said of it, where that is something else than of the others. */
  readonly message?: string;
}

const NO_ANSWER = { description: "" };
const NO_PATHS = {
  kind: "document",
  key: "paths",
  value: {},
  message: 'the description has no "paths", so no operation is shown',
};

export const FILLS: readonly Fill[] = [
  { kind: "document", unless: ["info"], key: "info", value: { title: "", version: "" } },
  { ...NO_PATHS, unless: ["paths"], isOld: true },
  { ...NO_PATHS, unless: ["paths", "components", "webhooks"] },
  { kind: "info", unless: ["title"], key: "title", value: "" },
  { kind: "info", unless: ["version"], key: "version", value: "" },
  {
    kind: "operation",
    unless: ["responses"],
    key: "responses",
    value: { default: NO_ANSWER },
    isOld: true,
  },
  {
    kind: "responses",
    unless: [OTHERS],
    key: "default",
    value: NO_ANSWER,
    message: 'there must be a response; "default" is put there, which says nothing',
  },
  { kind: "response", unless: ["description"], key: "description", value: "" },
  { kind: "parameter:path", unless: ["required"], key: "required", value: true },
  { kind: "parameter", unless: ["schema", "content"], key: "schema", value: {} },
  { kind: "header", unless: ["schema", "content"], key: "schema", value: {} },
  { kind: "serverVariable", unless: ["default"], key: "default", from: "enum" },
  ...["implicitFlow", "tokenFlow", "codeFlow", "deviceFlow"].map((kind) => ({
    kind,
    unless: ["scopes"],
    key: "scopes",
    value: {},
  })),
];

/** Of these an object is nothing without one. */
export const NEEDED: Readonly<Record<string, readonly string[]>> = {
  link: ["operationId", "operationRef"],
  serverVariable: ["default", "enum"],
};

/** What there may not be beside a member. */
export const OUSTED: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  parameter: {
    schema: ["content"],
    content: ["style", "explode", "allowReserved", "example", "examples"],
    examples: ["example"],
  },
  header: {
    schema: ["content"],
    content: ["style", "explode", "example", "examples"],
    examples: ["example"],
  },
  mediaType: { examples: ["example"], encoding: ["prefixEncoding", "itemEncoding"] },
  encoding: { encoding: ["prefixEncoding", "itemEncoding"] },
  example: {
    value: ["externalValue", "dataValue", "serializedValue"],
    externalValue: ["serializedValue"],
  },
  license: { url: ["identifier"] },
  link: { operationId: ["operationRef"] },
};

/** What keys must look like, and how that is said. */
export const KEYS: Readonly<Record<string, readonly [form: RegExp, says: string]>> = {
  paths: [/^\//, "must begin with /"],
  responses: [
    /^(?:default|[1-5](?:\d\d|XX))$/,
    'must be a status, such as "200", "4XX" or "default"',
  ],
  "{operation}": [
    /^(?!(?:get|put|post|delete|options|head|patch|trace|query)$)[\w!#$%&'*+.^`|~-]+$/i,
    "must be a method that a path item has no member for",
  ],
};
