/**
 * Type guards and accessors for JSON values, and functions for JSON Pointers (RFC 6901) such as
 * `/paths/~1pets/get`.
 *
 * @module
 */
import { decodePercent } from "../decode.ts";

export type JsonObject = Record<string, unknown>;

/** The keys and list indices that lead from a value to a nested value. */
export type Path = readonly string[];

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

/** An assignment to `__proto__` would change the object's prototype. */
export function setMember(object: JsonObject, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { ...ASSIGNED, value });
}

const ASSIGNED = { writable: true, enumerable: true, configurable: true };

/** Omits a member if `change` returns `undefined`. Returns the same object if no member changes. */
export function mapMembers(
  object: JsonObject,
  change: (member: unknown, key: string) => unknown,
): JsonObject {
  const keys = Object.keys(object);
  let changed: JsonObject | undefined;
  for (const [i, key] of keys.entries()) {
    const member = object[key];
    const value = change(member, key);
    if (!changed && value === member) continue;
    changed ??= firstMembers(object, keys.slice(0, i));
    if (value !== undefined) setMember(changed, key, value);
  }
  return changed ?? object;
}

/** Copies the members with these keys that are not `undefined`. */
export function firstMembers(object: JsonObject, keys: readonly string[]): JsonObject {
  const members: JsonObject = {};
  for (const key of keys) {
    if (object[key] !== undefined) setMember(members, key, object[key]);
  }
  return members;
}

/** Omits the members that are `undefined`. */
export function present(members: JsonObject): JsonObject {
  return firstMembers(members, Object.keys(members));
}

/** Returns `undefined` for a list or an object that is empty. */
export const filled = <T extends object>(value: T): T | undefined =>
  Object.keys(value).length > 0 ? value : undefined;

export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}

/** Caches the result for each object, since many references may lead to one large object. */
export function onceFor<Of extends object, T>(make: (of: Of) => T): (of: Of) => T {
  const made = new WeakMap<Of, { readonly value: T }>();
  return (of) => {
    let known = made.get(of);
    if (!known) made.set(of, known = { value: make(of) });
    return known.value;
  };
}

/** The size is the number of values, plus 1 for every 32 characters of strings and keys. */
export function estimateSize(value: unknown, known: Map<unknown, number> = new Map()): number {
  if (typeof value === "string") return 1 + value.length / 32;
  if (typeof value !== "object" || value === null) return 1;
  const size = known.get(value);
  if (size !== undefined) return size;
  let sum = 1;
  for (const key of Object.keys(value)) {
    sum += key.length / 32 + estimateSize((value as JsonObject)[key], known);
  }
  known.set(value, sum);
  return sum;
}

/**
 * The returned function makes a name unique by appending a number, and adds the unique name to
 * `taken`.
 */
export function createFreeName(
  taken: { has(name: string): boolean; add(name: string): unknown },
  separator: string = "",
): (wanted: string) => string {
  const numbers = new Map<string, number>();
  return (wanted) => {
    let free = wanted;
    for (let i = numbers.get(wanted) ?? 2; taken.has(free); numbers.set(wanted, i)) {
      free = `${wanted}${separator}${i++}`;
    }
    taken.add(free);
    return free;
  };
}

export const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Returns `undefined` if the pointer is malformed (RFC 6901, section 3). */
export function parsePointer(pointer: string): Path | undefined {
  if ((pointer !== "" && !pointer.startsWith("/")) || /~(?![01])/.test(pointer)) return undefined;
  const tokens = pointer.split("/").slice(1);
  if (!pointer.includes("~")) return tokens;
  return tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function formatPointer(path: Path): string {
  return path.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Returns the value at a path, as defined for JSON Pointers (RFC 6901, section 4). */
export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const key of path) {
    // Excludes properties that are not list items, such as `length`.
    const isMember = Array.isArray(current) ? /^\d+$/.test(key) : isObject(current);
    if (!isMember || !Object.hasOwn(current as JsonObject, key)) return undefined;
    current = (current as JsonObject)[key];
  }
  return current;
}

export function resolvePointer(value: unknown, pointer: string): unknown {
  const path = parsePointer(pointer);
  return path && valueAt(value, path);
}

/** Parses a URI fragment without its `#` (RFC 6901, section 6). */
export function parseFragment(fragment: string): Path | undefined {
  if (!fragment.includes("%")) return parsePointer(fragment);
  // Each token is decoded separately, since some tools write `%2F` for a slash in a key.
  const tokens = fragment.split("/").map((token) => decodePercent(token).replaceAll("/", "~1"));
  return parsePointer(tokens.join("/"));
}

export function resolveFragment(value: unknown, fragment: string): unknown {
  const path = parseFragment(fragment);
  return path && valueAt(value, path);
}
