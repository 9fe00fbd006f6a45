/**
 * The examples of a description, and those that are generated from schemas.
 *
 * @module
 */
import {
  estimateSize,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  onceFor,
} from "../json/values.ts";
import { followReference } from "../openapi/operations.ts";
import { typesOf } from "../openapi/parameter-schema.ts";

export function exampleOf(root: JsonObject, holder: JsonObject): unknown {
  if (holder.example !== undefined) return holder.example;
  const { value } = followReference(root, firstMemberOf(objectOf(holder.examples)));
  return value === undefined ? exampleOfSchema(followReference(root, holder.schema)) : value;
}

/** Cached, since many references may point to one large object. */
export const firstNameOf: (object: JsonObject) => string | undefined = onceFor(
  (object) => Object.keys(object)[0],
);

export const firstMemberOf = (object: JsonObject): unknown => object[firstNameOf(object) ?? ""];

const exampleOfSchema = (schema: JsonObject): unknown =>
  schema.example ?? listOf(schema.examples)[0] ?? schema.const;

const DEPTH_MAX = 5, VALUES_MAX = 200;
const VALUES: JsonObject = { string: "", integer: 0, number: 0, boolean: false, null: null };

/** The length of an example for a body. A thousand operations may share one of megabytes. */
export const EXAMPLE_MAX = 4000;

/**
 * Makes an example without optional members. Returns `undefined` if the example would have too many
 * values.
 */
export function makeExample(root: JsonObject, schema: unknown): unknown {
  let left = VALUES_MAX;
  // A longer example would not be shown.
  let room = EXAMPLE_MAX;
  const make = (value: unknown, depth: number): unknown => {
    left--;
    const schema = followReference(root, value);
    const known = exampleOfSchema(schema) ?? schema.default;
    room -= sizeOf(known);
    if (known !== undefined && room >= 0) return known;
    if (room < 0) return null;
    if (depth === DEPTH_MAX || left < 0) return null;
    const inner = (value: unknown) => make(value, depth + 1);
    if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
    const [option] = listOf(schema.oneOf ?? schema.anyOf);
    if (option !== undefined) return inner(option);
    const { allOf, type: types, items, properties, required } = schema;
    if (Array.isArray(allOf)) {
      const all = allOf.slice(0, VALUES_MAX).map(inner);
      all.push(inner({ type: types, items, properties, required }));
      const other = all.find((one) => !isObject(one));
      return other === undefined
        ? Object.fromEntries(all.flatMap((one) => Object.entries(objectOf(one))))
        : other;
    }
    const type = typesOf(schema).find((type) => type !== "null");
    if (type === "array") return items ? [inner(items)] : [];
    if (type !== "object" && !properties) {
      return VALUES[String(type)] ?? (type === undefined ? {} : null);
    }
    const writable = requiredOf(schema).filter(([, value]) => objectOf(value).readOnly !== true);
    return Object.fromEntries(writable.map(([name, value]) => [name, inner(value)]));
  };
  const made = make(schema, 0);
  return left < 0 || room < 0 ? undefined : made;
}

const sizeOf = (value: unknown): number =>
  isObject(value) || Array.isArray(value) ? sizeOfObject(value) : estimateSize(value);

const sizeOfObject = onceFor((object: object): number => estimateSize(object));

const requiredOf = onceFor(({ properties, required }: JsonObject) => {
  const names = new Set(listOf(required));
  return Object.entries(objectOf(properties)).filter(([name]) => names.has(name))
    .slice(0, VALUES_MAX + 1);
});
