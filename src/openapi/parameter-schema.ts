/**
 * Reads the schemas of parameters: the types of a method's parameters, and the whole schemas of
 * operations that are checked.
 *
 * @module
 */
import {
  isObject,
  type JsonObject,
  listOf,
  mapMembers,
  objectOf,
  onceFor,
  setMember,
  textOf,
} from "../json/values.ts";
import { followReference } from "./operations.ts";

/** Stands in `typesIn` for a text that holds a hexadecimal number, such as `0x1a3`. */
export const QUANTITY = "quantity";

/** Matches patterns of numbers, but neither those of hashes nor those of bytes. */
const QUANTITY_PATTERN = /0x\(?(?:\?:)?(?:0\||\[1-9a|\[(?:0-9|\\d|a-f|A-F){2,3}\](?:\+|\{1,))/;

/** The maximum number of alternatives that are read: a hostile description may have millions. */
const ALTERNATIVES_MAX = 100;

/** JSON Schema has seven types. */
const TYPES_MAX = 8;

/** Patterns of numbers are short. */
const PATTERN_LENGTH_MAX = 1000;

/** Lists the values of `type`. */
export function typesOf({ type }: JsonObject): readonly unknown[] {
  return Array.isArray(type) ? type.slice(0, TYPES_MAX) : type === undefined ? [] : [type];
}

/**
 * Lists the types that a schema allows, those of its alternatives included. The list is empty if
 * any type is allowed. Cached, since a thousand parameters may share a schema with a long list.
 */
export function typesIn(document: JsonObject, value: unknown): readonly string[] {
  return readTypes(document)(followReference(document, value));
}

const readTypes = onceFor((document: JsonObject) =>
  onceFor((whole: JsonObject): readonly string[] => {
    const schemas = new Set([whole]);
    const types = new Set<string>();
    let left = ALTERNATIVES_MAX;
    for (const schema of schemas) {
      for (const type of typesOf(schema)) types.add(String(type));
      const values = schema.const === undefined ? schema.enum : [schema.const];
      for (const type of typesOfValues(listOf(values))) types.add(type);
      const pattern = textOf(schema.pattern)?.slice(0, PATTERN_LENGTH_MAX) ?? "";
      if (QUANTITY_PATTERN.test(pattern)) types.add(QUANTITY);
      const alternatives = COMBINATIONS.flatMap((key) =>
        listOf(schema[key]).slice(0, ALTERNATIVES_MAX)
      );
      for (const one of alternatives.slice(0, left)) {
        schemas.add(followReference(document, one));
        left--;
      }
    }
    return [...types];
  })
);

const typesOfValues = onceFor((values: readonly unknown[]) => new Set(values.map(nameType)));

function nameType(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "bigint" ? "number" : typeof value;
}

const COMBINATIONS = ["anyOf", "oneOf", "allOf"], CANDIDATES_MAX = 4, NESTED_MAX = 8;

/**
 * Puts the only alternative of a schema in the schema's place, so that it has the alternative's
 * type. `null` does not count as an alternative, since no text of a parameter is `null`.
 */
export function readOnlyAlternative(document: JsonObject, value: unknown): JsonObject {
  return replaceByAlternative(document)(followReference(document, value));
}

const replaceByAlternative = onceFor((document: JsonObject) =>
  onceFor((whole: JsonObject): JsonObject => {
    let schema = whole;
    for (let depth = 0; depth < NESTED_MAX; depth++) {
      const key = COMBINATIONS.find((key) => Array.isArray(schema[key])) ?? "";
      const all = listOf(schema[key]);
      if (all.length > CANDIDATES_MAX) return schema;
      const [only, ...others] = all.map((one) => followReference(document, one))
        .filter((one) => typesIn(document, one).join() !== "null");
      if (!only || others.length > 0 || membersOf(only) > MEMBERS_MAX) return schema;
      const { [key]: _, ...beside } = schema;
      schema = { ...only, ...beside };
    }
    return schema;
  })
);

/** Many schemas may have the same large one as their only alternative. */
const MEMBERS_MAX = 100;

const membersOf = onceFor((schema: JsonObject) => Object.keys(schema).length);

/** Keys beside a reference that restrict nothing. */
const ANNOTATION = /^(?:\$comment|title|summary|description|default|examples?|x-(?!excludes$).*)$/;

/**
 * Copies schemas, with everything that they refer to in place of the references. The copy of a
 * schema that refers to itself does so, too.
 */
export class SchemaReader {
  readonly #document: JsonObject;
  readonly #copies = new Map<JsonObject, JsonObject>();
  constructor(document: JsonObject) {
    this.#document = document;
  }

  read(value: unknown): JsonObject {
    if (value === false) return { not: {} };
    const { $ref: reference, ...beside } = objectOf(value);
    const isWhole = Object.keys(beside).every((key) => ANNOTATION.test(key));
    if (reference !== undefined && !isWhole) {
      return { allOf: [this.read({ $ref: reference }), this.read(beside)] };
    }
    const schema = followReference(this.#document, value);
    const known = this.#copies.get(schema);
    if (known) return known;
    const copy: JsonObject = {};
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
