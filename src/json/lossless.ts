/**
 * Reads and writes JSON without rounding integers, and converts JavaScript values to JSON values.
 * Integers above 2^53 become `bigint`s, and numbers too large for a double become strings.
 *
 * - `parseJson` is for documents and responses whose values are shown.
 * - `parseComparable` is for values that are only compared with a schema.
 * - `readParts` (`parts.ts`) is for texts that are forwarded, since it leaves them as they are.
 * - `JSON.parse` is for what this service has written itself, and for texts without large numbers.
 *
 * @module
 */
import { DEPTH_MAX, JsonScanner } from "./scan.ts";
import { atOnce, type Work } from "../slices.ts";
import { type JsonObject, onceFor, setMember } from "./values.ts";

/** Matches any number that `JSON.parse` might round. */
const LARGE_NUMBER = /\d{16}|[eE]\+?\d{3}/;
const TOKENS_PER_STEP = 512;
/** Allows an object that contains a parsed value of the maximum depth. */
export const WRITTEN_DEPTH_MAX: number = 2 * DEPTH_MAX;

export function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * If a key occurs twice, the last value is used.
 *
 * @param readDigits parses numbers that `JSON.parse` might round, and possibly other numbers
 * @throws {JsonSyntaxError} if the text is invalid or too deep, with the same message on every
 * runtime
 */
export function parseJson(
  text: string,
  readDigits: typeof readNumber = readNumber,
): unknown {
  if (LARGE_NUMBER.test(text)) return buildJson(new JsonScanner(text), readDigits);
  // Each nesting level needs two brackets, so only a text of more than `2 * DEPTH_MAX` characters
  // can be too deep.
  if (text.length > 2 * DEPTH_MAX) {
    const scanner = new JsonScanner(text);
    while (scanner.next());
  }
  try {
    return JSON.parse(text);
  } catch {
    return buildJson(new JsonScanner(text), readDigits);
  }
}

/**
 * Writes a `bigint` as a number.
 *
 * @throws {RangeError} if the value contains itself or is nested too deep
 */
export function formatJson(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, undefined, indent) ?? "null";
  } catch {
    return formatLarge(value, indent);
  }
}

/** Does the same as `formatJson`, but writes an object once: a document may share large ones. */
export const formatShared = (value: unknown): string =>
  typeof value === "object" && value !== null ? formatOnce(value) : formatJson(value);

const formatOnce = onceFor((value: object) => formatJson(value));

/** A number too large for a double becomes infinite. */
export const parseComparable = (text: string): unknown => parseJson(text, readComparable);

/** Does the same as `parseComparable` in steps. */
export const parsingComparable = (text: string): Work<unknown> =>
  buildingJson(new JsonScanner(text), readComparable);

function readComparable(digits: string): number | bigint {
  const number = readNumber(digits);
  return typeof number === "string" ? Number(number) : number;
}

export const buildJson = (...input: Parameters<typeof buildingJson>): unknown =>
  atOnce(buildingJson(...input));

/**
 * Calls `onToken` for each key and each value. The value has not been added to its object or list
 * yet.
 */
export function* buildingJson(
  scanner: JsonScanner,
  readDigits: typeof readNumber,
  onToken?: (holder: JsonObject | unknown[], key: string, value?: unknown) => void,
): Work<unknown> {
  const root: JsonObject = {};
  let tokens = 0;
  const open: (JsonObject | unknown[])[] = [root];
  let key = "";
  while (scanner.next()) {
    if (++tokens % TOKENS_PER_STEP === 0) yield;
    const { kind } = scanner;
    const holder = open.at(-1)!;
    if (kind === "}" || kind === "]") open.pop();
    else if (kind === "key") {
      key = scanner.string;
      onToken?.(holder, key);
    } else {
      const value = startValue(scanner, readDigits);
      onToken?.(holder, key, value);
      if (Array.isArray(holder)) holder.push(value);
      else setMember(holder, key, value);
      if (kind === "{" || kind === "[") open.push(value as JsonObject | unknown[]);
    }
  }
  return root[""];
}

function startValue({ kind, raw }: JsonScanner, readDigits: typeof readNumber): unknown {
  if (kind === "{") return {};
  if (kind === "[") return [];
  return kind === "number" ? readDigits(raw) : JSON.parse(raw);
}

export function readNumber(digits: string): number | bigint | string {
  const number = Number(digits);
  if (!Number.isFinite(number)) return digits;
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(digits) ? number : BigInt(digits);
}

/** `JSON.stringify` rejects `bigint`s, so they become strings with a mark that nobody can guess. */
function formatLarge(value: unknown, indent: number): string {
  const mark = Math.random().toString(36).slice(2);
  const markLarge = (_: string, member: unknown) =>
    typeof member === "bigint" ? mark + member : member;
  try {
    const text = JSON.stringify(value, markLarge, indent) ?? "null";
    return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
  } catch (cause) {
    const message = "cannot write JSON: the value contains itself, or is nested too deep";
    throw new RangeError(message, { cause });
  }
}

const hasToJson = (value: unknown): value is { toJSON(): unknown } =>
  typeof (value as { toJSON?: unknown } | null)?.toJSON === "function";

/**
 * Like `JSON.stringify`, calls `toJSON` and omits `undefined` members. Reports values that JSON
 * cannot represent. In a list, such a value becomes `null`. Elsewhere, it is omitted.
 */
export function toJson(
  value: unknown,
  describe: (value: unknown) => string,
  report: (message: string, path: readonly (string | number)[]) => void,
): unknown {
  const path: (string | number)[] = [];
  const around = new Set<unknown>();
  const copy = (given: unknown): unknown => {
    const value = hasToJson(given) ? given.toJSON() : given;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (typeof value === "bigint") return exact(value);
    if (around.has(value)) return report("contains itself", [...path]);
    if (!Array.isArray(value) && !isPlainObject(value)) {
      return report(`must be a JSON value, not ${describe(value)}`, [...path]);
    }
    if (path.length >= DEPTH_MAX) {
      return report(`is nested more than ${DEPTH_MAX} levels deep`, path.slice(0, 1));
    }
    around.add(value);
    const result = Array.isArray(value)
      ? Array.from(value, (item, at) => copyMember(item, at) ?? null)
      : Object.fromEntries(
        Object.entries(value).filter(isThere)
          .map(([key, member]) => [key, copyMember(member, key)] as const).filter(isThere),
      );
    around.delete(value);
    return result;
  };

  const copyMember = (member: unknown, key: string | number): unknown => {
    path.push(key);
    const copied = copy(member);
    path.pop();
    return copied;
  };
  return copy(value);
}

const isThere = ([, member]: readonly [string, unknown]): boolean => member !== undefined;

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === "[object Object]";
}
