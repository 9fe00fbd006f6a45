/**
 * Finds an example of what a description asks for, or makes one of its schema.
 *
 * @module
 */
import { isObject, type Json, listOf, objectOf, setMember } from "../json/values.ts";
import { followReference } from "../openapi/follow-reference.ts";

/** How deep schemas are followed, and how many values are made. */
const DEPTH_MAX = 5;
const VALUES_MAX = 200;

/** A value for each type for which nothing better is known. */
const VALUES: Readonly<Record<string, unknown>> = {
  string: "",
  integer: 0,
  number: 0,
  boolean: false,
  null: null,
};

/**
 * The example of a parameter or of a content: its own, or that of its schema.
 *
 * @param holder what may have `example`, `examples` and `schema`
 * @returns `undefined` where there is none
 */
export function exampleOf(root: Json, holder: Json): unknown {
  if (holder.example !== undefined) return holder.example;
  const [named] = Object.values(objectOf(holder.examples));
  const { value } = followReference(root, named);
  return value === undefined ? exampleOfSchema(followReference(root, holder.schema)) : value;
}

function exampleOfSchema(schema: Json): unknown {
  return schema.example ?? listOf(schema.examples)[0] ?? schema.const;
}

/**
 * Makes a value as a schema wants it.
 *
 * @param isWhole whether it has what may be left out as well
 * @returns `undefined` where that takes too many values
 */
export function makeExample(root: Json, schema: unknown, isWhole: boolean): unknown {
  let left = VALUES_MAX;
  const make = (value: unknown, depth: number): unknown => {
    left--;
    const schema = followReference(root, value);
    const known = exampleOfSchema(schema) ?? schema.default;
    if (known !== undefined) return known;
    if (depth === DEPTH_MAX || left < 0) return null;
    const inner = (value: unknown) => make(value, depth + 1);
    if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
    const [option] = listOf(schema.oneOf ?? schema.anyOf);
    if (option !== undefined) return inner(option);
    const { allOf, ...own } = schema;
    if (Array.isArray(allOf)) return join([...allOf.map(inner), inner(own)]);
    const type = [schema.type].flat().find((type) => type !== "null");
    if (type === "array") return schema.items ? [inner(schema.items)] : [];
    if (type === "object" || schema.properties) return makeMembers(schema, isWhole, inner);
    return VALUES[String(type)] ?? (type === undefined ? {} : null);
  };
  const made = make(schema, 0);
  return left < 0 ? undefined : made;
}

/** What all of some schemas say of a value: their members together. */
function join(values: readonly unknown[]): unknown {
  const joined: Json = {};
  for (const value of values) {
    if (!isObject(value)) return value;
    for (const [name, member] of Object.entries(value)) setMember(joined, name, member);
  }
  return joined;
}

function makeMembers(schema: Json, isWhole: boolean, inner: (value: unknown) => unknown): Json {
  const required = listOf(schema.required);
  const members: Json = {};
  for (const [name, value] of Object.entries(objectOf(schema.properties))) {
    const isWanted = isWhole || required.includes(name);
    if (isWanted && objectOf(value).readOnly !== true) setMember(members, name, inner(value));
  }
  return members;
}
