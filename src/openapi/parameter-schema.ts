/**
 * Reads the schemas of parameters: the types of a method's parameters, and the whole schemas of
 * operations that are checked.
 *
 * @module
 */
import { isObject, type Json, listOf, mapMembers, objectOf, textOf } from "../json/values.ts";
import { followReference } from "./operations.ts";

const DEPTH_MAX = 4;

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
    for (const one of values) types.add(typeof one === "bigint" ? "number" : typeof one);
    if (QUANTITY_PATTERN.test(textOf(schema.pattern) ?? "")) types.add(QUANTITY);
    const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].flatMap(listOf);
    for (const one of alternatives.slice(0, ALTERNATIVES_MAX - schemas.size)) {
      schemas.add(followReference(document, one));
    }
  }
  return [...types];
}

/** Copies a schema with what its references lead to, down to a depth of `DEPTH_MAX`. */
export function schemaOf(document: Json, value: unknown, depth: number = 0): Json {
  if (depth === DEPTH_MAX) return {};
  const inner = (one: unknown): unknown => isObject(one) ? schemaOf(document, one, depth + 1) : one;
  return mapMembers(followReference(document, value), (member, key) => {
    if (Array.isArray(member)) return member.map(inner);
    if (key !== "properties") return inner(member);
    return mapMembers(objectOf(member), inner);
  });
}
