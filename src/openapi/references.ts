/**
 * The references of a document: where they are, what they say and what they must lead to.
 *
 * @module
 */
import type { Path } from "../json/values.ts";
import { NAMING } from "./shape-tables.ts";
import {
  isReference,
  pathOf,
  type Place,
  type Shape,
  type Structure,
  walk,
} from "./document-structure.ts";

/** A reference and where it stands. */
export interface Reference {
  /** What holds the `$ref`, or the string itself where something is named without one. */
  readonly place: Place;
  readonly ref: string;
  /** What it must lead to; an empty string where that is a file of any kind. */
  readonly expected: Shape;
  /** Whether it is a `$ref`. */
  readonly isPlain: boolean;
}

/** How much of a reference is told, in characters. */
export const REF_MAX = 400;

/** The reference that stands at a place. */
export function referenceAt(place: Place): Reference | undefined {
  const { shape, value } = place;
  if (typeof value === "string") {
    return { place, ref: value, expected: NAMING[shape]!, isPlain: false };
  }
  if (!isReference(shape, value)) return undefined;
  return { place, ref: value.$ref, expected: shape, isPlain: true };
}

/** Finds the references of a value, in the order of its members. */
export function* referencesOf(start: Place, structure: Structure): Generator<Reference> {
  for (const place of walk(start, structure)) {
    const reference = referenceAt(place);
    if (reference) yield reference;
  }
}

/** The keys from where the walk began to the text of a reference. */
export function pathOfReference({ place, isPlain }: Reference): Path {
  return isPlain ? [...pathOf(place), "$ref"] : pathOf(place);
}

/** A reference in its two parts: the file, and the fragment without `#`. */
export function splitReference(ref: string): [file: string, fragment: string] {
  const hash = ref.indexOf("#");
  return hash === -1 ? [ref, ""] : [ref.slice(0, hash), ref.slice(hash + 1)];
}
