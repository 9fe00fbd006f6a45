/**
 * Reads of a schema what a reader wants to know of a value: its type in a few words, the rules for it, and its fields
 * two levels deep.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { type Json, listOf, objectOf, textOf } from "../json/values.ts";
import { followReference } from "../openapi/operations.ts";
import { shorten } from "../untrusted-text.ts";
import { typeOf } from "./read-form.ts";

/** A rule for a value: its name and the value, as in `default`, `5`. */
export type Rule = readonly [name: string, value: string];

export interface SchemaField {
  readonly name: string;
  /** Such as `string, date-time`, `array of Transaction` or `Block or null`; may be empty. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly fields: readonly SchemaField[];
}

/** The depth to which references, lists and choices are followed for one type. */
const DEPTH_MAX = 4;

const LEVELS = 2, FIELDS_MAX = 60, OPTIONS_MAX = 4, VALUES_MAX = 12, VALUE_LENGTH_MAX = 80;

/** The rules that are told, with the keywords that make them, and how several values of one are joined. */
const KEYWORDS = [
  ["one of", "enum"],
  ["from", "minimum"],
  ["to", "maximum"],
  ["pattern", "pattern"],
  ["default", "default"],
] as const;

/** Lists the rules of a schema; a choice of truth values is none. */
export function rulesOf(schema: Json): Rule[] {
  const rules = KEYWORDS.flatMap(([name, keyword]): Rule[] => {
    const value = schema[keyword];
    if (value === undefined || value === null) return [];
    const values = keyword === "enum" ? listOf(value) : [value];
    const shown = values.slice(0, VALUES_MAX).map((one) => shorten(write(one), VALUE_LENGTH_MAX));
    const rest = values.length > VALUES_MAX ? ", …" : "";
    return values.length > 0 ? [[name, shown.join(", ") + rest]] : [];
  });
  const example = schema.example ?? listOf(schema.examples)[0];
  const text = example === undefined || example === null ? "" : write(example);
  return text !== "" && text.length <= VALUE_LENGTH_MAX ? [...rules, ["example", text]] : rules;
}

const write = (value: unknown): string => textOf(value) ?? formatJson(value);

/** Names the type of a schema; a named object by its name. */
export function nameType(root: Json, value: unknown, depth = 0): string {
  if (depth === DEPTH_MAX) return "";
  const schema = followReference(root, value);
  const inner = (value: unknown) => nameType(root, value, depth + 1);
  const options = listOf(schema.oneOf ?? schema.anyOf).slice(0, OPTIONS_MAX);
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

/** Makes the reader of the fields of a document's schemas; many refer to the same ones. */
export function createFieldReader(root: Json): (schema: unknown) => readonly SchemaField[] {
  const known = Array.from({ length: LEVELS }, () => new WeakMap<object, SchemaField[]>());
  const read = (value: unknown, level: number): readonly SchemaField[] => {
    const object = objectIn(root, value);
    const found = known[level]?.get(object);
    if (found || level === LEVELS) return found ?? [];
    const parts = [object, ...listOf(object.allOf).map((part) => followReference(root, part))];
    const required = new Set(parts.flatMap((part) => listOf(part.required)));
    const fields = parts.flatMap((part) => Object.entries(objectOf(part.properties)))
      .slice(0, FIELDS_MAX).map(([name, value]) => {
        const schema = followReference(root, value);
        return {
          name,
          type: nameType(root, value),
          isRequired: required.has(name),
          description: textOf(objectOf(value).description ?? schema.description) ?? "",
          fields: read(value, level + 1),
        };
      });
    known[level]!.set(object, fields);
    return fields;
  };
  return (schema) => read(schema, 0);
}

/** Finds the object that a value is, or a list is of, or the first that it may be. */
function objectIn(root: Json, value: unknown, depth = 0): Json {
  const schema = followReference(root, value);
  if (depth === DEPTH_MAX || schema.properties) return schema;
  const inner = (value: unknown) => objectIn(root, value, depth + 1);
  if (schema.type === "array") return inner(schema.items);
  const options = listOf(schema.oneOf ?? schema.anyOf).slice(0, OPTIONS_MAX).map(inner);
  return options.find((option) => option.properties ?? option.allOf) ?? schema;
}
