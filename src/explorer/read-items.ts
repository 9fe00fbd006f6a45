/**
 * Reads the items of an operation: its parameters, request body and responses, with their types,
 * rules and fields.
 *
 * @module
 */
import { formatShared } from "../json/lossless.ts";
import { type JsonObject, listOf, objectOf, onceFor, textOf } from "../json/values.ts";
import { followReference, type Parameter } from "../openapi/operations.ts";
import { readOnlyAlternative } from "../openapi/parameter-schema.ts";
import { shorten } from "../untrusted-text.ts";
import { typeNamesOf } from "./read-form.ts";

/** A parameter, a request body, a response, or a field of any of these. */
export interface Item {
  /** The name of a parameter or field, the status of a response, or the media type of a body. */
  readonly name: string;
  /** Facts about the item, such as its type (`array of Transaction`) and `required`. */
  readonly facts: readonly string[];
  readonly description: string;
  readonly rules?: readonly Rule[];
  /** Reads the fields, which a large page does not show. */
  readonly fieldsOf?: () => readonly Item[];
}

type Rule = readonly [name: string, value: string];
export type Items = readonly (readonly [heading: string, items: readonly Item[]])[];

/** The levels of fields below a body, a response, or a parameter of a JSON-RPC method. */
const LEVELS = 2;
/** The maximum number of arrays and alternatives within each other. */
const DEPTH_MAX = 4;
const FIELDS_MAX = 60, OPTIONS_MAX = 4, VALUES_MAX = 12, VALUE_LENGTH_MAX = 80;

/** @param isMethod true for a JSON-RPC method, whose parameters are the properties of its body */
export function readItems(
  root: JsonObject,
  { requestBody, responses }: JsonObject,
  parameters: readonly Parameter[],
  isMethod: boolean,
): Items {
  return [
    ["Parameters", [
      ...parameters.map((parameter) => readParameter(root, parameter)),
      ...isMethod ? readProperties(root, requestBody) : [],
    ]],
    ["Request body", isMethod ? [] : readBody(root, requestBody)],
    ["Responses", Object.entries(objectOf(responses)).map((one) => readResponse(root, ...one))],
  ];
}

function readParameter(root: JsonObject, { value, parameter, name, place }: Parameter): Item {
  const { types, schema: inner } = mediaOf(root, parameter);
  const schema = readOnlyAlternative(root, parameter.schema ?? inner);
  const { example = schema.example, required } = parameter;
  return {
    name,
    facts: factsOf(
      place,
      ...typeOf(schema),
      ...types.slice(0, 1),
      required === true && "required",
    ),
    description: descriptionOf(root, value, parameter) || (textOf(schema.description) ?? ""),
    rules: rulesOf({ ...schema, example }, followReference(root, schema.items)),
  };
}

function readProperties(root: JsonObject, value: unknown): Item[] {
  const { schema } = mediaOf(root, followReference(root, value));
  return readFields(root, schema, LEVELS + 1)
    .map((item) => ({ ...item, facts: ["body", ...item.facts] }));
}

function readBody(root: JsonObject, value: unknown): Item[] {
  const body = followReference(root, value);
  const { types: [name, ...others], schema } = mediaOf(root, body);
  if (name === undefined) return [];
  return [{
    name,
    facts: factsOf(nameType(root, schema), ...others, body.required === true && "required"),
    description: descriptionOf(root, value, body),
    fieldsOf: () => readFields(root, schema),
  }];
}

function readResponse(root: JsonObject, status: string, value: unknown): Item {
  const response = followReference(root, value);
  const { types, schema } = mediaOf(root, response);
  const type = nameType(root, schema);
  const isProblem = types[0] === "application/problem+json";
  // A JSON response with a schema shows the type of the schema instead of the media type.
  const isPlain = type !== "" && types.join() === "application/json";
  return {
    name: status,
    facts: isProblem ? types : factsOf(type, ...isPlain ? [] : types),
    description: descriptionOf(root, value, response),
    fieldsOf: () => isProblem ? [] : readFields(root, schema),
  };
}

/** Cached, since many references may point to one large object. */
const keysOf = onceFor((object: JsonObject): string[] => Object.keys(object));

function mediaOf(root: JsonObject, { content }: JsonObject): { types: string[]; schema: unknown } {
  const types = keysOf(objectOf(content));
  return { types, schema: followReference(root, objectOf(content)[types[0] ?? ""]).schema };
}

/** Cached, since many schemas may include one large schema. */
const requiredOf = onceFor((schema: JsonObject) => new Set(listOf(schema.required)));
/** Cached for the same reason. */
const fieldsIn = onceFor((schema: JsonObject) =>
  Object.entries(objectOf(schema.properties)).slice(0, FIELDS_MAX)
);

/** Returns a schema, and what its `allOf` includes on all levels. */
function schemasIn(root: JsonObject, schema: JsonObject): Set<JsonObject> {
  const parts = new Set([schema]);
  let left = FIELDS_MAX;
  for (const part of parts) {
    for (const inner of listOf(part.allOf).slice(0, left)) {
      parts.add(followReference(root, inner));
      left--;
    }
  }
  return parts;
}

/** A field of several parts is that of the outermost part, which is the most specific. */
function firstFields(parts: Iterable<JsonObject>): [name: string, value: unknown][] {
  const fields = new Map<string, unknown>();
  for (const part of parts) {
    for (const [name, value] of fieldsIn(part)) {
      if (!fields.has(name)) fields.set(name, value);
    }
    if (fields.size >= FIELDS_MAX) break;
  }
  return [...fields].slice(0, FIELDS_MAX);
}

/**
 * Makes a function that is cached for each schema of a document at each depth: many references may
 * lead to one schema with many alternatives.
 */
const perSchema = <T>(read: (root: JsonObject, schema: JsonObject, depth: number) => T) =>
  onceFor((root: JsonObject) =>
    Array.from(
      { length: DEPTH_MAX + 1 },
      (_, depth) => onceFor((schema: JsonObject) => read(root, schema, depth)),
    )
  );

/** @param levels the levels of fields to read; with 0, there are none */
const readFields = (root: JsonObject, schema: unknown, levels = LEVELS): Item[] =>
  levels === 0 ? [] : fieldsByLevels(root)[levels]!(objectIn(root, schema));

const fieldsByLevels = perSchema((root, object, levels): Item[] => {
  const parts = schemasIn(root, object);
  const isRequired = (name: string) => [...parts].some((part) => requiredOf(part).has(name));
  return firstFields(parts).map(([name, value]): Item => {
    const schema = followReference(root, value);
    return {
      name,
      facts: factsOf(nameType(root, value), isRequired(name) && "required"),
      description: descriptionOf(root, value, schema),
      // The rules of nested fields are omitted, since they would double the length of the page.
      rules: levels > LEVELS ? rulesOf(schema, followReference(root, schema.items)) : [],
      fieldsOf: () => readFields(root, value, levels - 1),
    };
  });
});

const objectIn = (root: JsonObject, value: unknown, depth = 0): JsonObject =>
  objectsIn(root)[depth]!(followReference(root, value));

const objectsIn = perSchema((root, schema, depth): JsonObject => {
  if (depth === DEPTH_MAX || schema.properties) return schema;
  const inner = (value: unknown) => objectIn(root, value, depth + 1);
  if (schema.type === "array") return inner(schema.items);
  return optionsOf(schema).map(inner).find((option) => option.properties ?? option.allOf) ?? schema;
});

const factsOf = (...facts: readonly (string | false)[]): string[] =>
  facts.flatMap((fact) => fact || []);

/**
 * Since OpenAPI 3.1, a description beside `$ref` overrides the target's description (3.1.1, section
 * 4.8.23).
 */
function descriptionOf(root: JsonObject, value: unknown, resolved: JsonObject): string {
  const isOld = textOf(root.openapi)?.startsWith("3.0");
  return (!isOld && textOf(objectOf(value).description)) || (textOf(resolved.description) ?? "");
}

/** An object has the name of the reference to it. */
function nameType(root: JsonObject, value: unknown, depth = 0): string {
  if (depth === DEPTH_MAX) return "";
  const name = typeNames(root)[depth]!(followReference(root, value));
  if (name !== undefined) return name;
  const { $ref } = objectOf(value);
  return typeof $ref === "string" ? /[\w.-]{1,60}$/.exec($ref)?.[0] ?? "object" : "object";
}

/** `undefined` for an object. */
const typeNames = perSchema((root, schema, depth): string | undefined => {
  const inner = (value: unknown) => nameType(root, value, depth + 1);
  const options = optionsOf(schema);
  if (options.length > 0) return [...new Set(options.map(inner))].filter(Boolean).join(" or ");
  if (schema.type === "array") {
    const item = inner(schema.items);
    return item && !item.includes(" or ") ? `array of ${item}` : "array";
  }
  const isObject = schema.type === "object" || schema.properties || schema.allOf;
  return isObject ? undefined : typeOf(schema).join(", ");
});

/** Returns the type and the format, such as `string or null` and `date-time`. */
const typeOf = (schema: JsonObject): string[] =>
  [typeNamesOf(schema)?.join(" or ") ?? "", textOf(schema.format) ?? ""].filter(Boolean);

const optionsOf = (schema: JsonObject): unknown[] =>
  listOf(schema.oneOf ?? schema.anyOf).slice(0, OPTIONS_MAX);

const KEYWORDS = [
  ["one of", "enum"],
  ["from", "minimum"],
  ["to", "maximum"],
  ["pattern", "pattern"],
  ["default", "default"],
] as const;

/** @param items the schema of the items, if the schema is one of a list */
function rulesOf(schema: JsonObject, items: JsonObject): Rule[] {
  const each = limitsOf({ enum: items.enum }).map(([, values]): Rule => ["each one of", values]);
  const rules = [...limitsOf(schema), ...each];
  const example = write(schema.example ?? listOf(schema.examples)[0] ?? "");
  const isShown = example !== "" && example.length <= VALUE_LENGTH_MAX;
  return isShown ? [...rules, ["example", example]] : rules;
}

function limitsOf(schema: JsonObject): Rule[] {
  return KEYWORDS.flatMap(([name, keyword]): Rule[] => {
    const value = schema[keyword];
    if (value === undefined || value === null) return [];
    const values = keyword === "enum" ? listOf(value) : [value];
    const shown = values.slice(0, VALUES_MAX).map((one) => shorten(write(one), VALUE_LENGTH_MAX));
    const rest = values.length > VALUES_MAX ? ", …" : "";
    return values.length > 0 ? [[name, shown.join(", ") + rest]] : [];
  });
}

const write = (value: unknown): string => textOf(value) ?? formatShared(value);
