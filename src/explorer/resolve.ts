/**
 * Follows the references of a description. It is untrusted: what leads nowhere is an empty object.
 *
 * @module
 */
import { resolveFragment } from "../json/pointer.ts";
import { type Json, listOf, objectOf, textOf } from "../json/values.ts";

/** How many references are followed in a row; they may form a cycle. */
const REFERENCES_MAX = 8;

/** Follows references within the document; an invalid one resolves to an empty object. */
export function resolve(root: Json, value: unknown): Json {
  let found = objectOf(value);
  for (let i = 0; typeof found.$ref === "string"; i++) {
    if (i === REFERENCES_MAX || !found.$ref.startsWith("#/")) return {};
    found = objectOf(resolveFragment(root, found.$ref.slice(1)));
  }
  return found;
}

/** A parameter, as it stands and with its reference followed. */
export interface LocatedParameter {
  readonly value: unknown;
  readonly parameter: Json;
}

/** The parameters of an operation, which override those of its path with the same name and location. */
export function parametersOf(root: Json, item: Json, operation: Json): LocatedParameter[] {
  const parameters = new Map<string, LocatedParameter>();
  for (const value of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
    const parameter = resolve(root, value);
    const name = textOf(parameter.name);
    if (name) parameters.set(`${textOf(parameter.in) ?? ""} ${name}`, { value, parameter });
  }
  return [...parameters.values()];
}

/** The type of a schema and its format, such as `string or null` and `date-time`, where it says them. */
export function typeOf(schema: Json): string[] {
  const text = (value: unknown) => textOf(value) ?? "";
  const types = Array.isArray(schema.type) ? schema.type.map(text) : [text(schema.type)];
  return [types.filter(Boolean).slice(0, 4).join(" or "), text(schema.format)].filter(Boolean);
}
