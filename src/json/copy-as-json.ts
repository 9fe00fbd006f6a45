/**
 * Makes JSON values of those that a program gives.
 *
 * @module
 */
import { DEPTH_MAX } from "./scan.ts";
import { type Json, setMember } from "./values.ts";

/** Takes what is wrong with a value, as the rest of a sentence, and the keys that lead to the value. */
export type ComplainAt = (message: string, path: readonly (string | number)[]) => void;

/**
 * Copies a value as JSON has it. `toJSON` is called, as `JSON.stringify` does; members that are `undefined`
 * are left out. A whole number that `number` holds is one, a larger one a `bigint`.
 *
 * @param show names a value in a message
 * @param complain is called for each value that JSON has no form for. It is left out; in a list, `null` takes
 * its place
 * @returns `undefined` where the value itself has no form
 */
export function toJson(
  value: unknown,
  show: (value: unknown) => string,
  complain: ComplainAt,
): unknown {
  const path: (string | number)[] = [];
  const around = new Set<unknown>();

  const copy = (given: unknown): unknown => {
    const value = hasToJson(given) ? given.toJSON() : given;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (typeof value === "bigint") {
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    }
    if (around.has(value)) return complain("contains itself", [...path]);
    if (!Array.isArray(value) && !isPlainObject(value)) {
      return complain(`must be a JSON value, not ${show(value)}`, [...path]);
    }
    if (path.length >= DEPTH_MAX) {
      // The whole path would be a long line.
      return complain(`is nested more than ${DEPTH_MAX} levels deep`, path.slice(0, 1));
    }
    around.add(value);
    const result = Array.isArray(value) ? copyList(value) : copyObject(value);
    around.delete(value);
    return result;
  };

  const copyMember = (key: string | number, member: unknown): unknown => {
    path.push(key);
    const copied = copy(member);
    path.pop();
    return copied;
  };

  const copyList = (list: readonly unknown[]): unknown[] =>
    Array.from(list, (item, at) => copyMember(at, item) ?? null);

  const copyObject = (object: Json): Json => {
    const copied: Json = {};
    for (const [key, member] of Object.entries(object)) {
      if (member === undefined) continue;
      const value = copyMember(key, member);
      if (value !== undefined) setMember(copied, key, value);
    }
    return copied;
  };

  return copy(value);
}

/** Whether a value is an object that has its members itself, as an object of a class may not. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === "[object Object]";
}

const hasToJson = (value: unknown): value is { toJSON(): unknown } =>
  typeof (value as { toJSON?: unknown } | null | undefined)?.toJSON === "function";
