/**
 * Limits the response of a source: whatever a node, a file, a program or a host says, what comes out is small, shallow
 * JSON.
 *
 * @module
 */
import { parseJson, readNumber } from "../json/lossless.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { formatPointer, type Json, mapMembers, type Path } from "../json/values.ts";
import { SourceError } from "../node/failures.ts";
import { RESPONSE_MAX, TOO_LARGE } from "../node/request.ts";
import { excerpt, printable, quote, shorten, startOf } from "../untrusted-text.ts";

/** The bytes of a text, the levels of objects and lists, the UTF-16 code units of a string, the digits of a number. */
export const LIMITS: Readonly<Record<"bytes" | "depth" | "string" | "digits", number>> = {
  ...{ bytes: RESPONSE_MAX, depth: 32, string: 4096, digits: 40 },
};

export interface SourceResponse {
  readonly value: unknown;
  /** The members that were omitted, for the log: JSON Pointers with the reason, at most a few. */
  readonly omitted: readonly string[];
}

const NAMED_MAX = 3;

const NAME_LENGTH = 80;

/** Reads JSON with all digits. What is beyond the limits is omitted, in a list `null`. Throws if it is no JSON, or too large. */
export function readResponse(text: string): SourceResponse {
  if (text.length > LIMITS.bytes) throw new SourceError("bad_answer", TOO_LARGE);
  try {
    return limit(parseJson(text, readDigits, Infinity));
  } catch (error) {
    throw error instanceof JsonSyntaxError ? notJson(text) : error;
  }
}

export function notJson(text: string): SourceError {
  const start = text.trim() === "" ? "nothing" : quote(excerpt(startOf(text, 400), 40));
  const message = `gives something other than JSON: ${start}`;
  return new SourceError("bad_answer", message, { isForeign: true, isQuoting: true });
}

/** Reads the text of a file or a program: JSON if it begins as an object or a list does, since `1.10` is no number there. */
export function readText(text: string): SourceResponse {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) return readResponse(trimmed);
  if (trimmed.length <= LIMITS.string) return { value: trimmed, omitted: [] };
  return { value: undefined, omitted: [`the text: ${REASONS.string}`] };
}

const REASONS = {
  depth: `more than ${LIMITS.depth} levels deep`,
  key: `a name of more than ${LIMITS.string} characters`,
  string: `more than ${LIMITS.string} characters`,
  digits: `more than ${LIMITS.digits} digits`,
  number: "beyond all numbers",
} as const;

/** Reads a number of JSON; `NaN` of too many digits, and an infinite one beyond all numbers. */
function readDigits(raw: string): number | bigint {
  // `BigInt` takes seconds for a million digits.
  const isLong = raw.length > LIMITS.digits && raw.replaceAll(/\D/g, "").length > LIMITS.digits;
  const number = isLong ? NaN : readNumber(raw);
  return typeof number === "string" ? Infinity : number;
}

function limit(whole: unknown): SourceResponse {
  const omitted: string[] = [];
  const path: string[] = [];
  const copyMember = (member: unknown, key: string) => {
    path.push(key);
    const copied = copy(member);
    path.pop();
    return copied;
  };
  const copy = (value: unknown): unknown => {
    const reason = reasonToOmit(value, path);
    if (reason !== undefined) {
      if (omitted.length < NAMED_MAX) omitted.push(`${nameOf(path)}: ${reason}`);
      return undefined;
    }
    if (typeof value !== "object" || value === null) return value;
    if (!Array.isArray(value)) return mapMembers(value as Json, copyMember);
    return value.map((item, at) => copyMember(item, String(at)) ?? null);
  };
  return { value: copy(whole), omitted };
}

function reasonToOmit(value: unknown, path: Path): string | undefined {
  if (path.length > 0 && path.at(-1)!.length > LIMITS.string) return REASONS.key;
  if (typeof value === "object" && value !== null) {
    return path.length >= LIMITS.depth ? REASONS.depth : undefined;
  }
  if (typeof value === "string") return value.length > LIMITS.string ? REASONS.string : undefined;
  if (typeof value !== "number" || Number.isFinite(value)) return undefined;
  return Number.isNaN(value) ? REASONS.digits : REASONS.number;
}

function nameOf(path: Path): string {
  const keys = path.map((key) => excerpt(startOf(key, NAME_LENGTH), NAME_LENGTH));
  const pointer = printable(formatPointer(keys));
  return pointer === "" ? "the response" : shorten(pointer, NAME_LENGTH);
}
