/**
 * Changes to a document as data, so that they can be made to its values and to its text alike.
 *
 * @module
 */
import { type Json, listOf, objectOf, type Path, setMember } from "../json/values.ts";

/** One change. */
export type Edit =
  /** Adds members at the end of an object, which is made where there is none. */
  | { readonly kind: "members"; readonly path: Path; readonly value: Json }
  /** Adds items at the end of a list, which is made where there is none. */
  | { readonly kind: "items"; readonly path: Path; readonly value: readonly unknown[] }
  /** Puts a value in the place of another. */
  | { readonly kind: "value"; readonly path: Path; readonly value: unknown };

/** Makes changes to a document. What is not changed is shared, not copied. */
export function applyEdits(document: Json, edits: readonly Edit[]): Json {
  let result = document;
  for (const edit of edits) result = applyAt(result, edit.path, edit) as Json;
  return result;
}

function applyAt(value: unknown, path: Path, edit: Edit): unknown {
  const [key, ...rest] = path;
  if (key === undefined) {
    if (edit.kind === "members") return { ...objectOf(value), ...edit.value };
    if (edit.kind === "items") return [...listOf(value), ...edit.value];
    return edit.value;
  }
  const copy: Json = { ...objectOf(value) };
  setMember(copy, key, applyAt(copy[key], rest, edit));
  return copy;
}
