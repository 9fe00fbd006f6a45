/**
 * The parameters of operations, and the types of what they have.
 *
 * @module
 */
import { type Json, listOf, textOf } from "../json/values.ts";
import { followReference } from "../openapi/operations.ts";

/** A parameter, as it stands and with its reference followed. */
export interface LocatedParameter {
  readonly value: unknown;
  readonly parameter: Json;
}

/** The parameters of an operation, which override those of its path with the same name and location. */
export function parametersOf(root: Json, item: Json, operation: Json): LocatedParameter[] {
  const parameters = new Map<string, LocatedParameter>();
  for (const value of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
    const parameter = followReference(root, value);
    const name = textOf(parameter.name);
    if (name) parameters.set(`${textOf(parameter.in) ?? ""} ${name}`, { value, parameter });
  }
  return [...parameters.values()];
}

/** The type of a schema and its format, such as `string or null` and `date-time`, where it says them. */
export function typeOf(schema: Json): string[] {
  const text = (value: unknown) => textOf(value) ?? "";
  const types = Array.isArray(schema.type)
    ? schema.type.slice(0, 8).map(text)
    : [text(schema.type)];
  return [types.filter(Boolean).slice(0, 4).join(" or "), text(schema.format)].filter(Boolean);
}
