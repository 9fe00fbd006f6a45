/**
 * Reads a schema for the page: the type, the rules, and the fields two levels deep.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { type Json, listOf, objectOf, onceFor, textOf } from "../json/values.ts";
import { followReference } from "../openapi/operations.ts";
import { shorten } from "../untrusted-text.ts";

/** A parameter, a request body, a response, or a field of one. */
export interface Item {
  /** The name of a parameter or field, the status of a response, or the media type of a body. */
  readonly name: string;
  /** Such as `query`, `array of Transaction`, `required`. */
  readonly facts: readonly string[];
  readonly description: string;
  readonly rules?: readonly Rule[];
  readonly fields?: readonly Item[];
}

export type Rule = readonly [name: string, value: string];

/** The depth to which references, lists and choices are followed to name a type. */
const DEPTH_MAX = 4;
export const LEVELS = 2;
const FIELDS_MAX = 60, OPTIONS_MAX = 4, VALUES_MAX = 12, VALUE_LENGTH_MAX = 80;

const KEYWORDS = [
  ["one of", "enum"],
  ["from", "minimum"],
  ["to", "maximum"],
  ["pattern", "pattern"],
  ["default", "default"],
] as const;

export function rulesOf(schema: Json): Rule[] {
  const rules = KEYWORDS.flatMap(([name, keyword]): Rule[] => {
    const value = schema[keyword];
    if (value === undefined || value === null) return [];
    const values = keyword === "enum" ? listOf(value) : [value];
    const shown = values.slice(0, VALUES_MAX).map((one) => shorten(write(one), VALUE_LENGTH_MAX));
    const rest = values.length > VALUES_MAX ? ", …" : "";
    return values.length > 0 ? [[name, shown.join(", ") + rest]] : [];
  });
  const example = write(schema.example ?? listOf(schema.examples)[0] ?? "");
  const isShown = example !== "" && example.length <= VALUE_LENGTH_MAX;
  return isShown ? [...rules, ["example", example]] : rules;
}

const write = (value: unknown): string => textOf(value) ?? formatJson(value);

export const factsOf = (...facts: readonly (string | false)[]): string[] =>
  facts.flatMap((fact) => fact || []);

/** Returns a description. Since OpenAPI 3.1, one beside `$ref` overrides that of the target (3.1.1, section 4.8.23). */
export function descriptionOf(root: Json, value: unknown, resolved: Json): string {
  const isOld = textOf(root.openapi)?.startsWith("3.0");
  return (!isOld && textOf(objectOf(value).description)) || (textOf(resolved.description) ?? "");
}

export function typeOf(schema: Json): string[] {
  const types = [schema.type].flat().slice(0, 8).map((type) => textOf(type) ?? "");
  return factsOf(types.filter(Boolean).slice(0, 4).join(" or "), textOf(schema.format) ?? "");
}

export function nameType(root: Json, value: unknown, depth = 0): string {
  if (depth === DEPTH_MAX) return "";
  const schema = followReference(root, value);
  const inner = (value: unknown) => nameType(root, value, depth + 1);
  const options = optionsOf(schema);
  if (options.length > 0) return [...new Set(options.map(inner))].filter(Boolean).join(" or ");
  if (schema.type === "array") {
    const item = inner(schema.items);
    return item && !item.includes(" or ") ? `array of ${item}` : "array";
  }
  if (schema.type === "object" || schema.properties || schema.allOf) {
    const { $ref } = objectOf(value);
    return typeof $ref === "string" ? /[\w.-]{1,60}$/.exec($ref)?.[0] ?? "object" : "object";
  }
  return typeOf(schema).join(", ");
}

const optionsOf = (schema: Json): unknown[] =>
  listOf(schema.oneOf ?? schema.anyOf).slice(0, OPTIONS_MAX);

/** Creates a reader of fields. It caches each schema per level, since many references may lead to the same one. */
export function createFieldReader(root: Json): (schema: unknown, levels?: number) => Item[] {
  const readers: ((schema: unknown) => Item[])[] = [() => []];
  for (let levels = 1; levels <= LEVELS + 1; levels++) {
    const readInner = readers[levels - 1]!;
    const read = onceFor((object: Json) => {
      const parts = [object, ...listOf(object.allOf).map((part) => followReference(root, part))];
      const required = new Set(parts.flatMap((part) => listOf(part.required)));
      const properties = parts.flatMap((part) => Object.entries(objectOf(part.properties)));
      return properties.slice(0, FIELDS_MAX).map(([name, value]): Item => {
        const schema = followReference(root, value);
        return {
          name,
          facts: factsOf(nameType(root, value), required.has(name) && "required"),
          description: descriptionOf(root, value, schema),
          // Rules for deeper fields would double the length of the page.
          rules: levels > LEVELS ? rulesOf(schema) : [],
          fields: readInner(value),
        };
      });
    });
    readers.push((schema) => read(objectIn(root, schema)));
  }
  return (schema, levels = LEVELS) => readers[levels]!(schema);
}

function objectIn(root: Json, value: unknown, depth = 0): Json {
  const schema = followReference(root, value);
  if (depth === DEPTH_MAX || schema.properties) return schema;
  const inner = (value: unknown) => objectIn(root, value, depth + 1);
  if (schema.type === "array") return inner(schema.items);
  return optionsOf(schema).map(inner).find((option) => option.properties ?? option.allOf) ?? schema;
}
