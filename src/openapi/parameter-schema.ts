/**
 * Reads the schemas of parameters: the types of a method's parameters, and the whole schemas of
 * operations that are checked.
 *
 * @module
 */
import {
  isObject,
  type Json,
  listOf,
  mapMembers,
  objectOf,
  setMember,
  textOf,
} from "../json/values.ts";
import { followReference } from "./operations.ts";

/** Stands in `typesIn` for a text that holds a hexadecimal number, such as `0x1a3`. */
export const QUANTITY = "quantity";

/** Matches patterns of numbers, but neither those of hashes nor those of bytes. */
const QUANTITY_PATTERN = /0x\(?(?:\?:)?(?:0\||\[1-9a|\[0-9a-f(?:A-F)?\](?:\+|\{1,))/;

/** The maximum number of alternatives that are read: a hostile description may have millions. */
const ALTERNATIVES_MAX = 100;

/**
 * Lists the types that a schema allows, those of its alternatives included. The list is empty if
 * any type is allowed.
 */
export function typesIn(document: Json, value: unknown): readonly string[] {
  const schemas = new Set([followReference(document, value)]);
  const types = new Set<string>();
  for (const schema of schemas) {
    const values = schema.const === undefined ? listOf(schema.enum) : [schema.const];
    for (const type of [schema.type ?? []].flat()) types.add(String(type));
    for (const one of values) types.add(nameType(one));
    if (QUANTITY_PATTERN.test(textOf(schema.pattern) ?? "")) types.add(QUANTITY);
    const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].flatMap(listOf);
    for (const one of alternatives.slice(0, ALTERNATIVES_MAX - schemas.size)) {
      schemas.add(followReference(document, one));
    }
  }
  return [...types];
}

function nameType(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "bigint" ? "number" : typeof value;
}

const COMBINATIONS = ["anyOf", "oneOf", "allOf"], CANDIDATES_MAX = 4, NESTED_MAX = 8;

/**
 * Puts the only alternative of a schema in the schema's place, so that it has the alternative's
 * type. `null` does not count as an alternative, since no text of a parameter is `null`.
 */
export function readOnlyAlternative(document: Json, value: unknown): Json {
  let schema = followReference(document, value);
  for (let depth = 0; depth < NESTED_MAX; depth++) {
    const key = COMBINATIONS.find((key) => Array.isArray(schema[key])) ?? "";
    const all = listOf(schema[key]);
    if (all.length > CANDIDATES_MAX) return schema;
    const [only, ...others] = all.map((one) => followReference(document, one))
      .filter((one) => typesIn(document, one).join() !== "null");
    if (!only || others.length > 0) return schema;
    const { [key]: _, ...beside } = schema;
    schema = { ...only, ...beside };
  }
  return schema;
}

/** Keys beside a reference that restrict nothing. */
const ANNOTATION = /^(?:\$comment|title|summary|description|default|examples?|x-.*)$/;

/**
 * Copies schemas, with everything that they refer to in place of the references. The copy of a
 * schema that refers to itself does so, too.
 */
export class SchemaReader {
  readonly #document: Json;
  readonly #copies = new Map<Json, Json>();
  constructor(document: Json) {
    this.#document = document;
  }

  read(value: unknown): Json {
    const { $ref: reference, ...beside } = objectOf(value);
    const isWhole = Object.keys(beside).every((key) => ANNOTATION.test(key));
    if (reference !== undefined && !isWhole) {
      return { allOf: [this.read({ $ref: reference }), this.read(beside)] };
    }
    const schema = followReference(this.#document, value);
    const known = this.#copies.get(schema);
    if (known) return known;
    const copy: Json = {};
    this.#copies.set(schema, copy);
    const inner = (one: unknown) => isObject(one) ? this.read(one) : one;
    for (const [key, member] of Object.entries(schema)) {
      const read = Array.isArray(member)
        ? member.map(inner)
        : key === "properties"
        ? mapMembers(objectOf(member), inner)
        : inner(member);
      setMember(copy, key, read);
    }
    return copy;
  }
}
