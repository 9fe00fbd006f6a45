/**
 * What sits where in an OpenAPI or Swagger document: the one opinion of what is a schema, what is data,
 * and where a reference may stand.
 *
 * @module
 */
import { isObject, type Json, type Path } from "../json/values.ts";

/**
 * What a value is: a kind such as `schema`, a list of them (`schema[]`), or a map by names of the author's
 * choice (`{schema}`).
 */
export type Shape = string;

/** The members of each kind. A member that is not named here is data: nothing in it is a reference. */
type Kinds = Readonly<Record<string, Readonly<Record<string, Shape>>>>;

/** What a version of the specification says. */
export interface Structure {
  readonly kinds: Kinds;
  /** Where values of a shape are kept to be referred to, as keys from the root. */
  readonly sections: Readonly<Record<Shape, Path>>;
  /** Whether members beside a `$ref` mean something (since OpenAPI 3.1). */
  readonly hasSiblings: boolean;
}

/** Stands for each member that is neither named nor an extension (`x-…`). */
const OTHERS = "*";

/** Strings that name a schema, an operation or a file in other ways than by `$ref`. */
export const NAMING: Readonly<Record<string, Shape>> = {
  mappedSchema: "schema",
  dynamicSchema: "schema",
  linkedOperation: "operation",
  exampleFile: "",
};

/** The methods that are members of a path item (OpenAPI 3.2, section 4.9.1). */
export const METHODS: readonly string[] = [
  "get",
  "put",
  "post",
  "delete",
  "options",
  "head",
  "patch",
  "trace",
  "query",
];
const OPERATIONS = Object.fromEntries(METHODS.map((method) => [method, "operation"]));

/** JSON Schema, of which each version of OpenAPI has a part. */
const SCHEMA = {
  $defs: "{schema}",
  $dynamicRef: "dynamicSchema",
  additionalItems: "schema",
  additionalProperties: "schema",
  allOf: "schema[]",
  anyOf: "schema[]",
  contains: "schema",
  contentSchema: "schema",
  definitions: "{schema}",
  dependencies: "{schema}",
  dependentSchemas: "{schema}",
  discriminator: "discriminator",
  else: "schema",
  if: "schema",
  items: "schema",
  not: "schema",
  oneOf: "schema[]",
  patternProperties: "{schema}",
  prefixItems: "schema[]",
  properties: "{schema}",
  propertyNames: "schema",
  then: "schema",
  unevaluatedItems: "schema",
  unevaluatedProperties: "schema",
};

/** OpenAPI 3.0, 3.1 and 3.2: what is new in one of them means nothing in the ones before. */
const OPENAPI: Kinds = {
  document: {
    info: "info",
    servers: "server[]",
    paths: "paths",
    webhooks: "{pathItem}",
    components: "components",
    security: "securityRequirement[]",
    tags: "tag[]",
    externalDocs: "externalDocs",
  },
  info: { contact: "contact", license: "license" },
  contact: {},
  license: {},
  externalDocs: {},
  tag: { externalDocs: "externalDocs" },
  server: { variables: "{serverVariable}" },
  serverVariable: {},
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
    pathItems: "{pathItem}",
    mediaTypes: "{mediaType}",
  },
  paths: { [OTHERS]: "pathItem" },
  pathItem: {
    ...OPERATIONS,
    additionalOperations: "{operation}",
    servers: "server[]",
    parameters: "parameter[]",
  },
  operation: {
    externalDocs: "externalDocs",
    parameters: "parameter[]",
    requestBody: "requestBody",
    responses: "responses",
    callbacks: "{callback}",
    security: "securityRequirement[]",
    servers: "server[]",
  },
  parameter: { schema: "schema", content: "{mediaType}", examples: "{example}" },
  header: { schema: "schema", content: "{mediaType}", examples: "{example}" },
  requestBody: { content: "{mediaType}" },
  mediaType: {
    schema: "schema",
    itemSchema: "schema",
    examples: "{example}",
    encoding: "{encoding}",
    prefixEncoding: "encoding[]",
    itemEncoding: "encoding",
  },
  encoding: {
    headers: "{header}",
    encoding: "{encoding}",
    prefixEncoding: "encoding[]",
    itemEncoding: "encoding",
  },
  responses: { [OTHERS]: "response" },
  response: { headers: "{header}", content: "{mediaType}", links: "{link}" },
  example: { externalValue: "exampleFile" },
  link: { operationRef: "linkedOperation", server: "server" },
  callback: { [OTHERS]: "pathItem" },
  securityScheme: {},
  securityRequirement: {},
  schema: SCHEMA,
  discriminator: { mapping: "{mappedSchema}", defaultMapping: "mappedSchema" },
};

/** Swagger 2.0, whose `discriminator` is a string. */
const SWAGGER: Kinds = {
  document: {
    info: "info",
    paths: "paths",
    definitions: "{schema}",
    parameters: "{parameter}",
    responses: "{response}",
    securityDefinitions: "{securityScheme}",
    security: "securityRequirement[]",
    tags: "tag[]",
    externalDocs: "externalDocs",
  },
  info: { contact: "contact", license: "license" },
  contact: {},
  license: {},
  externalDocs: {},
  tag: { externalDocs: "externalDocs" },
  paths: { [OTHERS]: "pathItem" },
  pathItem: { ...OPERATIONS, parameters: "parameter[]" },
  operation: {
    externalDocs: "externalDocs",
    parameters: "parameter[]",
    responses: "responses",
    security: "securityRequirement[]",
  },
  parameter: { schema: "schema", items: "items" },
  items: { items: "items" },
  responses: { [OTHERS]: "response" },
  response: { schema: "schema", headers: "{header}" },
  header: { items: "items" },
  securityScheme: {},
  securityRequirement: {},
  schema: SCHEMA,
};

const SWAGGER_SECTIONS = {
  schema: ["definitions"],
  parameter: ["parameters"],
  response: ["responses"],
  securityScheme: ["securityDefinitions"],
};

const SECTIONS_3_0 = {
  schema: ["components", "schemas"],
  response: ["components", "responses"],
  parameter: ["components", "parameters"],
  example: ["components", "examples"],
  requestBody: ["components", "requestBodies"],
  header: ["components", "headers"],
  securityScheme: ["components", "securitySchemes"],
  link: ["components", "links"],
  callback: ["components", "callbacks"],
};
const SECTIONS_3_1 = { ...SECTIONS_3_0, pathItem: ["components", "pathItems"] };
const SECTIONS_3_2 = { ...SECTIONS_3_1, mediaType: ["components", "mediaTypes"] };

/** All members that mean something, and those of them whose own members have names. */
export const KEYWORDS: ReadonlySet<string> = new Set(
  [OPENAPI, SWAGGER].flatMap((kinds) => Object.values(kinds).flatMap(Object.keys)),
);
export const NAMED_MEMBERS: ReadonlySet<string> = new Set([
  "paths",
  "responses",
  ...[OPENAPI, SWAGGER].flatMap((kinds) =>
    Object.values(kinds).flatMap((members) =>
      Object.keys(members).filter((key) => members[key]!.startsWith("{"))
    )
  ),
]);

/** By the beginning of what `swagger` or `openapi` says. */
const VERSIONS: readonly (readonly [RegExp, Structure])[] = [
  [/^2/, { kinds: SWAGGER, sections: SWAGGER_SECTIONS, hasSiblings: false }],
  [/^3\.0/, { kinds: OPENAPI, sections: SECTIONS_3_0, hasSiblings: false }],
  [/^3\.1/, { kinds: OPENAPI, sections: SECTIONS_3_1, hasSiblings: true }],
  [/^/, { kinds: OPENAPI, sections: SECTIONS_3_2, hasSiblings: true }],
];

/** What sits where in an OpenRPC 1.3 document, as far as references may stand there. */
export const OPENRPC: Structure = {
  kinds: {
    document: { methods: "method[]", components: "components" },
    components: { schemas: "{schema}", contentDescriptors: "{contentDescriptor}" },
    method: { params: "contentDescriptor[]", result: "contentDescriptor" },
    contentDescriptor: { schema: "schema" },
    schema: SCHEMA,
    discriminator: { mapping: "{mappedSchema}" },
  },
  sections: {
    schema: ["components", "schemas"],
    contentDescriptor: ["components", "contentDescriptors"],
  },
  hasSiblings: true,
};

/** What sits where in a document, by the version that it says it is of. */
export function structureOf(document: unknown): Structure {
  const { swagger, openapi } = isObject(document) ? document : {} as Json;
  const version = String(openapi ?? swagger ?? "");
  return VERSIONS.find(([pattern]) => pattern.test(version))![1];
}

/** A value with what it is and where it stands. */
export interface Place {
  readonly shape: Shape;
  readonly value: unknown;
  /** The key within `parent`; `undefined` where the walk began. */
  readonly key?: string;
  readonly parent?: Place;
}

/** The keys from where a walk began to a place. */
export function pathOf(place: Place): Path {
  const path: string[] = [];
  for (let at: Place | undefined = place; at?.key !== undefined; at = at.parent) path.push(at.key);
  return path.reverse();
}

/** The shape of a member; `undefined` of data. */
export function shapeOfMember({ kinds }: Structure, shape: Shape, key: string): Shape | undefined {
  if (shape.endsWith("[]")) return shape.slice(0, -2);
  if (shape.startsWith("{")) return shape.slice(1, -1);
  const members = kinds[shape];
  if (!members) return undefined;
  if (Object.hasOwn(members, key) && key !== OTHERS) return members[key];
  // JSON Schema once had lists of schemas as "items".
  if (shape === "schema" && /^\d{1,9}$/.test(key)) return shape;
  return key.startsWith("x-") ? undefined : members[OTHERS];
}

/** The shape at a path of a document; `undefined` of data, and where the path leads to nothing known. */
export function shapeAt(structure: Structure, path: Path): Shape | undefined {
  let shape: Shape | undefined = "document";
  for (const key of path) shape &&= shapeOfMember(structure, shape, key);
  return shape;
}

/** A shape in words: `request body`, `map of schemas`. */
export function nameOfShape(shape: Shape): string {
  const kind = shape.replaceAll(/[^A-Za-z]/g, "").replaceAll(
    /[A-Z]/g,
    (c) => ` ${c.toLowerCase()}`,
  );
  if (shape.endsWith("[]")) return `list (${kind})`;
  return shape.startsWith("{") ? `map (${kind})` : kind;
}

/** Whether an object of a shape is a reference. A map of strings may have one called `$ref`. */
export function isReference(shape: Shape, value: unknown): value is Json & { $ref: string } {
  return isObject(value) && Object.hasOwn(value, "$ref") && typeof value.$ref === "string" &&
    !Object.hasOwn(NAMING, shape.slice(1, -1));
}

/** The members beside a `$ref` that mean something. */
export function siblingsOf({ hasSiblings }: Structure, shape: Shape, reference: Json): string[] {
  return Object.keys(reference).filter((key) =>
    key !== "$ref" &&
    (shape === "pathItem" ||
      (hasSiblings && (shape === "schema" || key === "summary" || key === "description")))
  );
}

/** Which objects have been seen, and as what. */
export type Seen = Map<object, Set<Shape>>;

/** Whether an object is seen for the first time in this shape; it is seen from now on. */
export function isFirst(seen: Seen, value: object, shape: Shape): boolean {
  const shapes = seen.get(value) ?? new Set();
  if (shapes.has(shape)) return false;
  seen.set(value, shapes.add(shape));
  return true;
}

/**
 * Walks over what is not data: objects, lists, and the strings of {@linkcode NAMING}, in the order of the
 * members. An object that stands in several places is visited once for each shape it has.
 *
 * @param seen is not visited again
 */
export function* walk(
  start: Place,
  structure: Structure,
  seen: Seen = new Map(),
): Generator<Place> {
  // A stack of its own: recursive generators would be quadratic in the depth.
  const stack = [start];
  for (let place = stack.pop(); place; place = stack.pop()) {
    const { shape, value } = place;
    if (typeof value === "string" && Object.hasOwn(NAMING, shape)) yield place;
    if (typeof value !== "object" || value === null || !isFirst(seen, value, shape)) continue;
    yield place;
    const keys = isReference(shape, value)
      ? siblingsOf(structure, shape, value)
      : Object.keys(value);
    for (const key of keys.reverse()) {
      const inner = shapeOfMember(structure, shape, key);
      if (inner) stack.push({ shape: inner, value: (value as Json)[key], key, parent: place });
    }
  }
}
