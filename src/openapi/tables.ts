/**
 * The tables of what sits where in each version of OpenAPI and in Swagger 2.0, and of what it must be.
 *
 * A row is a kind of object. Each of its members is of
 * - a shape: a kind such as `schema`, a list of them (`schema[]`), or a map by names of the author's choice
 *   (`{schema}`),
 * - a string of {@linkcode NAMING}, which names something without a `$ref`, or
 * - data, in which nothing is a reference: one of {@linkcode CHOICES}, or of `DATA` in `validate.ts`.
 *
 * Signs after it: with `!` the object is nothing without the member, with `*` it is not complete without;
 * the member may be `true` or `false` as well (`?`), or a list (`+`).
 *
 * @module
 */

export type Rows = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Stands for each member that is neither named nor an extension (`x-…`). */
export const OTHERS = "*";

/** Strings that name something without a `$ref`, and what that is. */
export const NAMING: Readonly<Record<string, string>> = { mappedSchema: "schema" };

/** Kinds with members only for some values of a member: `parameter:path` where `in` is `path`. */
export const VARIANTS: Readonly<Record<string, string>> = {
  parameter: "in",
  securityScheme: "type",
};

export const CHOICES: Readonly<Record<string, readonly string[]>> = {
  place: ["query", "header", "path", "cookie"],
  placeSince3_2: ["query", "querystring", "header", "path", "cookie"],
  placeInSwagger: ["query", "header", "path", "formData", "body"],
  keyPlace: ["query", "header", "cookie"],
  style: [
    ...["form", "simple", "spaceDelimited", "pipeDelimited", "deepObject", "matrix", "label"],
    "cookie",
  ],
  type: ["array", "boolean", "integer", "number", "object", "string"],
  simpleType: ["array", "boolean", "file", "integer", "number", "string"],
  login: ["apiKey", "http", "mutualTLS", "oauth2", "openIdConnect"],
  loginInSwagger: ["basic", "apiKey", "oauth2"],
  flow: ["implicit", "password", "application", "accessCode"],
};

/** The form of keys, and its words. */
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

/** The methods that are members of a path item in every version, Swagger 2.0 included. */
export const COMMON_METHODS: readonly string[] = [
  "get",
  "put",
  "post",
  "delete",
  "options",
  "head",
  "patch",
];

/** Those that are members of a path item in some version (OpenAPI 3.2, section 4.9.1). */
export const METHODS: readonly string[] = [...COMMON_METHODS, "trace", "query"];

const OPERATIONS = Object.fromEntries(COMMON_METHODS.map((method) => [method, "operation"]));

const COMMON: Rows = {
  info: {
    title: "string*",
    version: "string*",
    description: "string",
    termsOfService: "url",
    contact: "contact",
    license: "license",
  },
  contact: { name: "string", url: "url", email: "string" },
  license: { name: "string!", url: "url" },
  externalDocs: { url: "url!", description: "string" },
  tag: { name: "string!", description: "string", externalDocs: "externalDocs" },
  xml: {
    name: "string",
    namespace: "string",
    prefix: "string",
    attribute: "boolean",
    wrapped: "boolean",
  },
  paths: { [OTHERS]: "pathItem" },
  responses: { [OTHERS]: "response" },
  securityRequirement: { [OTHERS]: "scopes" },
};

/** The members that say how large, long and precise a value is; limits are excluded by `true` before OpenAPI 3.1. */
const FACETS = {
  format: "string",
  default: "any",
  enum: "list",
  multipleOf: "step",
  maximum: "number",
  exclusiveMaximum: "boolean",
  minimum: "number",
  exclusiveMinimum: "boolean",
  maxLength: "count",
  minLength: "count",
  pattern: "string",
  maxItems: "count",
  minItems: "count",
  uniqueItems: "boolean",
};

/** Members of other files, being JSON Schema; nothing of it is left in one document. */
const JSON_SCHEMA = {
  $ref: "reference",
  $schema: "any",
  $id: "any",
  $anchor: "any",
  $comment: "any",
  $dynamicAnchor: "any",
  $defs: "{schema}",
  definitions: "{schema}",
};

const SCHEMA_3_0 = {
  ...JSON_SCHEMA,
  ...FACETS,
  title: "string",
  description: "string",
  type: "type",
  items: "schema",
  required: "names",
  maxProperties: "count",
  minProperties: "count",
  properties: "{schema}",
  additionalProperties: "schema?",
  allOf: "schema[]",
  anyOf: "schema[]",
  oneOf: "schema[]",
  not: "schema",
  nullable: "boolean",
  discriminator: "discriminator",
  readOnly: "boolean",
  writeOnly: "boolean",
  deprecated: "boolean",
  example: "sample",
  externalDocs: "externalDocs",
  xml: "xml",
};

/** JSON Schema, of which each version of OpenAPI has a part. Any other member is data. */
const SCHEMA = {
  ...SCHEMA_3_0,
  type: "types",
  // It was a list of schemas once.
  items: "schema+",
  exclusiveMaximum: "number",
  exclusiveMinimum: "number",
  nullable: "any",
  enum: "any[]",
  required: "string[]",
  additionalItems: "schema",
  contains: "schema",
  contentSchema: "schema",
  dependencies: "{schema}",
  dependentSchemas: "{schema}",
  else: "schema",
  if: "schema",
  patternProperties: "{schema}",
  prefixItems: "schema[]",
  propertyNames: "schema",
  then: "schema",
  unevaluatedItems: "schema",
  unevaluatedProperties: "schema",
  [OTHERS]: "any",
};

const EXAMPLES = { example: "sample", examples: "{example}" };
const CONTENT = { schema: "schema", content: "{mediaType}", ...EXAMPLES };
const HEADER = {
  description: "string",
  required: "boolean",
  deprecated: "boolean",
  style: "style",
  explode: "boolean",
  allowReserved: "boolean",
  allowEmptyValue: "boolean",
  ...CONTENT,
};
const OPERATION = {
  tags: "string[]",
  summary: "string",
  description: "string",
  externalDocs: "externalDocs",
  operationId: "string",
  parameters: "parameter[]",
  responses: "responses*",
  deprecated: "boolean",
  security: "securityRequirement[]",
};
const DOCUMENT = {
  info: "info*",
  paths: "paths*",
  security: "securityRequirement[]",
  tags: "tag[]",
  externalDocs: "externalDocs",
};
const FLOW = { refreshUrl: "url", scopes: "{string}*" };

/** OpenAPI 3.0, and what those after it have as well. */
export const OPENAPI_3_0: Rows = {
  ...COMMON,
  document: {
    openapi: "version",
    ...DOCUMENT,
    servers: "server[]",
    components: "components",
  },
  server: { url: "url!", description: "string", variables: "{serverVariable}" },
  serverVariable: { default: "string*", enum: "texts", description: "string" },
  components: {
    schemas: "{schema}",
    responses: "{response}",
    parameters: "{parameter}",
    examples: "{example}",
    requestBodies: "{requestBody}",
    headers: "{header}",
    securitySchemes: "{securityScheme}",
    links: "{link}",
    callbacks: "{callback}",
  },
  pathItem: {
    ...OPERATIONS,
    trace: "operation",
    summary: "string",
    description: "string",
    servers: "server[]",
    parameters: "parameter[]",
  },
  operation: {
    ...OPERATION,
    requestBody: "requestBody",
    callbacks: "{callback}",
    servers: "server[]",
  },
  parameter: { name: "string!", in: "place!", ...HEADER },
  "parameter:path": { required: "true*" },
  header: HEADER,
  requestBody: { content: "{mediaType}!", description: "string", required: "boolean" },
  mediaType: { schema: "schema", ...EXAMPLES, encoding: "{encoding}" },
  encoding: {
    contentType: "string",
    headers: "{header}",
    style: "style",
    explode: "boolean",
    allowReserved: "boolean",
  },
  response: {
    description: "string*",
    headers: "{header}",
    content: "{mediaType}",
    links: "{link}",
  },
  example: {
    summary: "string",
    description: "string",
    value: "sample",
    externalValue: "url",
  },
  link: {
    operationId: "string",
    operationRef: "url",
    parameters: "{any}",
    requestBody: "any",
    description: "string",
    server: "server",
  },
  callback: { [OTHERS]: "pathItem" },
  securityScheme: { type: "login!", description: "string" },
  "securityScheme:apiKey": { name: "string!", in: "keyPlace!" },
  "securityScheme:http": { scheme: "string!", bearerFormat: "string" },
  "securityScheme:oauth2": { flows: "flows!" },
  "securityScheme:openIdConnect": { openIdConnectUrl: "url!" },
  flows: {
    implicit: "implicitFlow",
    password: "tokenFlow",
    clientCredentials: "tokenFlow",
    authorizationCode: "codeFlow",
  },
  implicitFlow: { authorizationUrl: "url!", ...FLOW },
  tokenFlow: { tokenUrl: "url!", ...FLOW },
  codeFlow: { authorizationUrl: "url!", tokenUrl: "url!", ...FLOW },
  schema: SCHEMA_3_0,
  discriminator: { propertyName: "string!", mapping: "{mappedSchema}", [OTHERS]: "any" },
};

export const OPENAPI_3_1: Rows = extend(OPENAPI_3_0, {
  document: { jsonSchemaDialect: "url", paths: "paths", webhooks: "{pathItem}" },
  info: { summary: "string" },
  license: { identifier: "string" },
  components: { pathItems: "{pathItem}" },
  operation: { responses: "responses" },
  link: { parameters: "{string}" },
  schema: SCHEMA,
});

export const OPENAPI_3_2: Rows = extend(OPENAPI_3_1, {
  document: { $self: "url" },
  server: { name: "string" },
  tag: { summary: "string", parent: "string", kind: "string" },
  components: { mediaTypes: "{mediaType}" },
  pathItem: { query: "operation", additionalOperations: "{operation}" },
  parameter: { in: "placeSince3_2!" },
  "parameter:querystring": { content: "{mediaType}!" },
  mediaType: {
    description: "string",
    itemSchema: "schema",
    prefixEncoding: "encoding[]",
    itemEncoding: "encoding",
  },
  encoding: {
    encoding: "{encoding}",
    prefixEncoding: "encoding[]",
    itemEncoding: "encoding",
  },
  response: { summary: "string", description: "string" },
  example: { dataValue: "any", serializedValue: "string" },
  securityScheme: { deprecated: "boolean" },
  "securityScheme:oauth2": { oauth2MetadataUrl: "url" },
  flows: { deviceAuthorization: "deviceFlow" },
  deviceFlow: { deviceAuthorizationUrl: "url!", tokenUrl: "url!", ...FLOW },
  discriminator: { defaultMapping: "mappedSchema" },
  xml: { nodeType: "string" },
});

const SIMPLE = { ...FACETS, type: "simpleType", items: "items", collectionFormat: "listFormat" };

/** OpenRPC 1.3, as far as something is made of it. */
export const OPENRPC_1_3: Rows = {
  document: {
    openrpc: "string",
    info: "info",
    externalDocs: "externalDocs",
    methods: "method[]",
    components: "components",
    [OTHERS]: "any",
  },
  info: COMMON.info!,
  contact: COMMON.contact!,
  license: COMMON.license!,
  externalDocs: COMMON.externalDocs!,
  components: {
    schemas: "{schema}",
    contentDescriptors: "{contentDescriptor}",
    [OTHERS]: "any",
  },
  method: {
    name: "string!",
    summary: "string",
    description: "string",
    params: "contentDescriptor[]",
    result: "contentDescriptor",
    deprecated: "boolean",
    [OTHERS]: "any",
  },
  contentDescriptor: {
    name: "string!",
    summary: "string",
    description: "string",
    required: "boolean",
    schema: "schema",
    deprecated: "boolean",
    [OTHERS]: "any",
  },
  schema: OPENAPI_3_1.schema!,
  discriminator: OPENAPI_3_1.discriminator!,
};

/** Swagger 2.0, whose `discriminator` is a string. */
export const SWAGGER: Rows = {
  ...COMMON,
  document: {
    swagger: "any",
    ...DOCUMENT,
    host: "host",
    basePath: "string",
    schemes: "string[]",
    consumes: "string[]",
    produces: "string[]",
    definitions: "{schema}",
    parameters: "{parameter}",
    responses: "{response}",
    securityDefinitions: "{securityScheme}",
  },
  pathItem: { ...OPERATIONS, parameters: "parameter[]" },
  operation: {
    ...OPERATION,
    consumes: "string[]",
    produces: "string[]",
    schemes: "string[]",
  },
  parameter: {
    ...SIMPLE,
    name: "string!",
    in: "placeInSwagger!",
    description: "string",
    required: "boolean",
    allowEmptyValue: "boolean",
    schema: "schema",
  },
  items: SIMPLE,
  header: { ...SIMPLE, description: "string" },
  response: {
    description: "string*",
    schema: "schema",
    headers: "{header}",
    examples: "{any}",
  },
  securityScheme: { type: "loginInSwagger!", description: "string" },
  "securityScheme:apiKey": { name: "string!", in: "keyPlace!" },
  "securityScheme:oauth2": {
    flow: "flow!",
    authorizationUrl: "url",
    tokenUrl: "url",
    scopes: "{string}",
  },
  // What OpenAPI 3.0 has besides stays: many mix the versions.
  schema: { ...SCHEMA_3_0, type: "typesOfSwagger", discriminator: "string" },
};

function extend(rows: Rows, more: Rows): Rows {
  const extended: Record<string, Readonly<Record<string, string>>> = { ...rows };
  for (const [kind, members] of Object.entries(more)) {
    extended[kind] = { ...rows[kind], ...members };
  }
  return extended;
}
