/**
 * What stands for a value in a document of one piece.
 *
 * @module
 */
import { resolveFragment } from "../json/pointer.ts";
import { type Json, objectOf } from "../json/values.ts";

/** How many references are followed in a row. */
const ROW_MAX = 16;

/**
 * Gives an object, or the one that its `$ref` leads to.
 *
 * @param document whose references lead into itself
 * @returns an empty object where there is none, or too many references stand in a row
 */
export function followReference(document: Json, value: unknown): Json {
  let found = objectOf(value);
  for (let i = 0; typeof found.$ref === "string"; i++) {
    if (i === ROW_MAX || !found.$ref.startsWith("#/")) return {};
    found = objectOf(resolveFragment(document, found.$ref.slice(1)));
  }
  return found;
}
