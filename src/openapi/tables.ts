/**
 * The members of each object in OpenAPI, Swagger 2.0 and OpenRPC.
 *
 * Each row lists the members of one object. For example, `name! in!:place schema:schema`
 * lists the members `name`, `in` and `schema`. A name that ends with `!` marks a required member,
 * and a name that ends with `*` marks an expected member.
 *
 * A colon separates a member's name from its type. These types may contain references: objects such
 * as `schema`, lists such as `schema[]`, maps such as `{schema}`, and {@linkcode MAPPED}. These
 * types contain no references: `text`, `texts` and `names` (lists of texts), `url`, `host`,
 * `version`, and the types in {@linkcode CHOICES}. A type that ends with `?` also allows a boolean,
 * and a type that ends with `+` also allows a list.
 *
 * @module
 */
import { COMMON_METHODS } from "./operations.ts";

export type Rows = Readonly<Record<string, string>>;

/**
 * The key of a rule that applies to every member without its own rule, except extensions (`x-…`).
 */
export const OTHER_MEMBERS = "*";

/** The type of a string that names a schema or refers to one. */
export const MAPPED = "mappedSchema";
const TYPES = ["array", "boolean", "integer", "number", "object", "string"];

export const CHOICES: Readonly<Record<string, readonly string[]>> = {
  place: ["query", "header", "path", "cookie"],
  placeSince3_2: ["query", "querystring", "header", "path", "cookie"],
  placeInSwagger: ["query", "header", "path", "formData", "body"],
  type: TYPES,
  typeSince3_1: [...TYPES, "null"],
  typeInSwagger: [...TYPES, "null", "file"],
};

export const KEYS: Readonly<Record<string, readonly [form: RegExp, message: string]>> = {
  paths: [
    /^\/(?=[^]{0,8191}$)[^{]*(?:\{[^{]*){0,100}$/,
    "must begin with /, and must have at most 8,192 characters and 100 parameters",
  ],
  responses: [
    /^(?:default|[1-5](?:\d\d|XX))$/,
    'must be a status, such as "200", "4XX" or "default"',
  ],
  "{operation}": [
    /^(?!(?:get|put|post|delete|options|head|patch|trace|query)$)[\w!#$%&'*+.^`|~-]+$/i,
    "must be an HTTP method such as COPY, but not one with a key of its own, such as GET",
  ],
};

const OPERATIONS = COMMON_METHODS.map((method) => `${method}:operation`).join(" ");

const COMMON: Rows = {
  info: "title*:text version*:text description:text termsOfService:url contact:contact " +
    "license:license",
  contact: "name:text url:url email:text",
  license: "name! url:url",
  externalDocs: "url!:url description:text",
  tag: "name! description:text externalDocs:externalDocs",
  xml: "name:text namespace:text prefix:text attribute wrapped",
  paths: "*:pathItem",
  responses: "*:response",
  securityRequirement: "*",
};

const FACETS = "format:text default enum multipleOf maximum exclusiveMaximum minimum " +
  "exclusiveMinimum maxLength minLength pattern:text maxItems minItems uniqueItems";

/** The members before `FACETS` are not part of OpenAPI 3.0, but may occur in JSON Schema files. */
const SCHEMA_3_0 = "$ref $schema $id $anchor $comment $dynamicAnchor $defs:{schema} " +
  `definitions:{schema} ${FACETS} title:text description:text type:type items:schema ` +
  "required:texts maxProperties minProperties properties:{schema} " +
  "additionalProperties:schema? allOf:schema[] anyOf:schema[] " +
  "oneOf:schema[] not:schema nullable discriminator:discriminator readOnly writeOnly deprecated " +
  "example externalDocs:externalDocs xml:xml";

const SCHEMA = `${SCHEMA_3_0} type:typeSince3_1 items:schema+ additionalItems:schema ` +
  "contains:schema contentSchema:schema dependencies:{schema} dependentSchemas:{schema} " +
  "else:schema if:schema patternProperties:{schema} prefixItems:schema[] propertyNames:schema " +
  "then:schema unevaluatedItems:schema unevaluatedProperties:schema *";

const HEADER = "description:text required deprecated style:text explode allowReserved " +
  "allowEmptyValue schema:schema content:{mediaType} example examples:{example}";
const OPERATION = "tags:names summary:text description:text externalDocs:externalDocs " +
  "operationId:text parameters:parameter[] responses*:responses deprecated " +
  "security:securityRequirement[]";
const DOCUMENT =
  "info*:info paths*:paths security:securityRequirement[] tags:tag[] externalDocs:externalDocs";

export const OPENAPI_3_0: Rows = {
  ...COMMON,
  document: `openapi:version ${DOCUMENT} servers:server[] components:components`,
  server: "url!:url description:text variables:{serverVariable}",
  serverVariable: "default*:text enum:names description:text",
  components: "schemas:{schema} responses:{response} parameters:{parameter} examples:{example} " +
    "requestBodies:{requestBody} headers:{header} securitySchemes:{securityScheme} links:{link} " +
    "callbacks:{callback}",
  pathItem: `${OPERATIONS} trace:operation summary:text description:text servers:server[] ` +
    "parameters:parameter[]",
  operation: `${OPERATION} requestBody:requestBody callbacks:{callback} servers:server[]`,
  parameter: `name! in!:place ${HEADER}`,
  header: HEADER,
  requestBody: "content!:{mediaType} description:text required",
  mediaType: "schema:schema example examples:{example} encoding:{encoding}",
  encoding: "contentType:text headers:{header} style:text explode allowReserved",
  response: "description*:text headers:{header} content:{mediaType} links:{link}",
  example: "summary:text description:text value externalValue:url",
  link: "operationId:text operationRef:url parameters requestBody description:text server:server",
  callback: "*:pathItem",
  securityScheme: "type! description:text name:text in scheme:text bearerFormat:text " +
    "flows:flows openIdConnectUrl:url",
  flows: "implicit:flow password:flow clientCredentials:flow authorizationCode:flow",
  flow: "authorizationUrl:url tokenUrl:url refreshUrl:url scopes*",
  schema: SCHEMA_3_0,
  discriminator: "propertyName! mapping:{mappedSchema} *",
};

export const OPENAPI_3_1: Rows = extend(OPENAPI_3_0, {
  document: "jsonSchemaDialect:url paths:paths webhooks:{pathItem}",
  info: "summary:text",
  license: "identifier:text",
  components: "pathItems:{pathItem}",
  operation: "responses:responses",
  schema: SCHEMA,
});

export const OPENAPI_3_2: Rows = extend(OPENAPI_3_1, {
  document: "$self:url",
  server: "name:text",
  tag: "summary:text parent:text kind:text",
  components: "mediaTypes:{mediaType}",
  pathItem: "query:operation additionalOperations:{operation}",
  parameter: "in!:placeSince3_2",
  mediaType: "description:text itemSchema:schema prefixEncoding:encoding[] itemEncoding:encoding",
  encoding: "encoding:{encoding} prefixEncoding:encoding[] itemEncoding:encoding",
  response: "summary:text description:text",
  example: "dataValue serializedValue",
  securityScheme: "deprecated oauth2MetadataUrl:url",
  flows: "deviceAuthorization:flow",
  flow: "deviceAuthorizationUrl:url",
  discriminator: "defaultMapping:mappedSchema",
  xml: "nodeType",
});

/** The part of OpenRPC 1.3 that Nodeface reads. */
export const OPENRPC_1_3: Rows = {
  document: "info:info externalDocs:externalDocs methods:method[] components:components *",
  info: COMMON.info!,
  contact: COMMON.contact!,
  license: COMMON.license!,
  externalDocs: COMMON.externalDocs!,
  components: "schemas:{schema} contentDescriptors:{contentDescriptor} *",
  method: "name! tags:names externalDocs:externalDocs params:contentDescriptor[] " +
    "result:contentDescriptor *",
  contentDescriptor: "name! schema:schema *",
  schema: OPENAPI_3_1.schema!,
  discriminator: OPENAPI_3_1.discriminator!,
};

const SIMPLE = `${FACETS} type:typeInSwagger items:schema collectionFormat`;

/** In Swagger 2.0, a `discriminator` is a string. */
export const SWAGGER: Rows = {
  ...COMMON,
  document: `swagger ${DOCUMENT} host:host basePath schemes consumes produces ` +
    "definitions:{schema} parameters:{parameter} responses:{response} " +
    "securityDefinitions:{securityScheme}",
  pathItem: `${OPERATIONS} parameters:parameter[]`,
  operation: `${OPERATION} consumes produces schemes`,
  // Many Swagger 2.0 documents contain members of parameters and schemas from OpenAPI 3.0.
  parameter: `${SIMPLE} name! in!:placeInSwagger description:text required allowEmptyValue ` +
    "schema:schema deprecated example",
  simple: SIMPLE,
  header: `${SIMPLE} description:text`,
  response: "description*:text schema:schema headers:{header} examples",
  securityScheme: "type! description:text name:text in flow:text authorizationUrl:url " +
    "tokenUrl:url scopes",
  schema: `${SCHEMA_3_0} type:typeInSwagger discriminator collectionFormat`,
};

function extend(rows: Rows, more: Rows): Rows {
  const extended = Object.entries(more).map(([name, row]) => [name, `${rows[name] ?? ""} ${row}`]);
  return { ...rows, ...Object.fromEntries(extended) };
}

export const membersIn = (row: string = ""): string[] =>
  row.split(" ").map((member) => member.replace(/[!*]?(?::.*)?$/, ""));
