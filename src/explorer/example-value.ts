/**
 * Finds an example of what a description asks for, or makes one of its schema.
 *
 * @module
 */
import { isObject, type Json, listOf, objectOf, onceFor, setMember } from "../json/values.ts";
import { followReference } from "../openapi/operations.ts";

/** The depth to which schemas are followed, and the values that are made. */
const DEPTH_MAX = 5, VALUES_MAX = 200;

const VALUES: Readonly<Record<string, unknown>> = {
  string: "",
  integer: 0,
  number: 0,
  boolean: false,
  null: null,
};

/** Finds the example of a parameter or of a content: its own, or that of its schema; `undefined` where there is none. */
export function exampleOf(root: Json, holder: Json): unknown {
  if (holder.example !== undefined) return holder.example;
  const { value } = followReference(root, firstMemberOf(objectOf(holder.examples)));
  return value === undefined ? exampleOfSchema(followReference(root, holder.schema)) : value;
}

/** The first member of an object, which many may refer to. */
export const firstMemberOf: (object: Json) => unknown = onceFor((object) =>
  Object.values(object)[0]
);

function exampleOfSchema(schema: Json): unknown {
  return schema.example ?? listOf(schema.examples)[0] ?? schema.const;
}

/** Makes a value of a schema, without optional members; `undefined` where that takes too many values. */
export function makeExample(root: Json, schema: unknown): unknown {
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
    const { allOf, type: types, items, properties, required } = schema;
    if (Array.isArray(allOf)) {
      const all = allOf.slice(0, VALUES_MAX).map(inner);
      return join([...all, inner({ type: types, items, properties, required })]);
    }
    const type = [types].flat().find((type) => type !== "null");
    if (type === "array") return items ? [inner(items)] : [];
    if (type === "object" || properties) return makeMembers(schema, inner);
    return VALUES[String(type)] ?? (type === undefined ? {} : null);
  };
  const made = make(schema, 0);
  return left < 0 ? undefined : made;
}

/** Joins the members of what all of some schemas say of a value. */
function join(values: readonly unknown[]): unknown {
  const joined: Json = {};
  for (const value of values) {
    if (!isObject(value)) return value;
    for (const [name, member] of Object.entries(value)) setMember(joined, name, member);
  }
  return joined;
}

function makeMembers(schema: Json, inner: (value: unknown) => unknown): Json {
  const members: Json = {};
  for (const [name, value] of neededOf(schema)) {
    if (objectOf(value).readOnly !== true) setMember(members, name, inner(value));
  }
  return members;
}

/** The properties of a schema that may not be left out, as many as are made: many may refer to a large one. */
const neededOf = onceFor(({ properties, required }: Json) => {
  const needed = new Set(listOf(required));
  return Object.entries(objectOf(properties)).filter(([name]) => needed.has(name))
    .slice(0, VALUES_MAX + 1);
});
