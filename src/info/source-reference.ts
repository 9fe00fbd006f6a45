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

/**
 * What lies at a pointer; `undefined` where nothing does.
 *
 * @param value a JSON value
 * @param pointer such as `/a/0/b~1c`; the empty one means the whole value
 */
export function resolvePointer(value: unknown, pointer: string): unknown {
  let current = value;
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof current !== "object" || current === null) return undefined;
    if (Array.isArray(current) && !/^\d+$/.test(key)) return undefined;
    if (!Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}
