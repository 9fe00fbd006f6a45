/**
 * Type guards and accessors for JSON values.
 *
 * @module
 */

/** An object of JSON values. */
export type Json = Record<string, unknown>;

/** The keys and indices that lead to a value. */
export type Path = readonly string[];

/** Whether a value is an object of JSON, and no list. */
export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value where it is an object; otherwise an empty one. */
export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** The value where it is a list; otherwise an empty one. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A string as it is and a number in digits; `undefined` for anything else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

/** Sets a member of any name: an assignment to `__proto__` would set the prototype instead. */
export function setMember(object: Json, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else {
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}

/** Whether two JSON values are equal; the members of objects may stand in any order. */
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
