/**
 * Places in answers: `source#/json/pointer` (RFC 6901).
 *
 * @module
 */
import type { Reference } from "../kinds/kind.ts";

/** The form of a reference. */
export const REFERENCE: RegExp = /^[\w-]+#(?:\/(?:[^~]|~[01])*)?$/;

/** Takes a reference apart: the source's name and the pointer. */
export function parseReference(reference: Reference): [source: string, pointer: string] {
  const hash = reference.indexOf("#");
  return [reference.slice(0, hash), reference.slice(hash + 1)];
}
