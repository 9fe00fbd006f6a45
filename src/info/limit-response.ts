/**
 * Limits the response of a source: whatever a node, a file, a program or a host says, what comes out is small, shallow
 * JSON.
 *
 * @module
 */
import { readNumber } from "../json/lossless.ts";
import { formatPointer, type Json, setMember } from "../json/values.ts";
import { JsonScanner, JsonSyntaxError } from "../json/scan.ts";
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
    return build(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw notJson(text);
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

interface Open {
  readonly value: Json | unknown[];
  /** The name of the current member; `undefined` if it is too long. A list has no names. */
  key: string | undefined;
}

function build(text: string): SourceResponse {
  // What is nested deeper is passed over, however deep it is.
  const scanner = new JsonScanner(text, Infinity);
  const root: Json = {};
  const open: Open[] = [{ value: root, key: "" }];
  const omitted: string[] = [];
  /** The number of levels that are open around what is passed over. */
  let around: number | undefined;
  while (scanner.next()) {
    const { kind, depth } = scanner;
    const parent = open.at(-1)!;
    if (around !== undefined) {
      if (depth === around) around = undefined;
    } else if (kind === "key") {
      const { string } = scanner;
      parent.key = string.length > LIMITS.string ? undefined : string;
    } else if (kind === "}" || kind === "]") {
      open.pop();
    } else {
      const isNested = kind === "{" || kind === "[";
      const member = parent.key === undefined ? { reason: REASONS.key } : read(scanner);
      if ("reason" in member) {
        if (omitted.length < NAMED_MAX) omitted.push(`${nameOf(open)}: ${member.reason}`);
        if (isNested) around = depth - 1;
      }
      put(parent, member);
      if (isNested && "value" in member) {
        open.push({ value: member.value as Json | unknown[], key: "" });
      }
    }
  }
  return { value: root[""], omitted };
}

type Member = { readonly value: unknown } | { readonly reason: string };

function read({ kind, depth, raw }: JsonScanner): Member {
  if (kind === "{" || kind === "[") {
    if (depth > LIMITS.depth) return { reason: REASONS.depth };
    return { value: kind === "{" ? {} : [] };
  }
  if (kind === "number") {
    // `BigInt` takes seconds for a million digits.
    if (raw.length > LIMITS.digits && raw.replaceAll(/\D/g, "").length > LIMITS.digits) {
      return { reason: REASONS.digits };
    }
    const value = readNumber(raw);
    return typeof value === "string" ? { reason: REASONS.number } : { value };
  }
  const value: unknown = JSON.parse(raw);
  const isTooLong = typeof value === "string" && value.length > LIMITS.string;
  return isTooLong ? { reason: REASONS.string } : { value };
}

function put(parent: Open, member: Member): void {
  const { value, key } = parent;
  if (Array.isArray(value)) value.push("value" in member ? member.value : null);
  else if (key !== undefined) {
    if ("value" in member) setMember(value, key, member.value);
    // The last of duplicate keys wins, even if it is omitted.
    else delete value[key];
  }
}

/** Writes the JSON Pointer of the current member, for the log. */
function nameOf([, ...open]: readonly Open[]): string {
  const path = open.map(({ value, key = "…" }, level) => {
    if (!Array.isArray(value)) return excerpt(startOf(key, NAME_LENGTH), NAME_LENGTH);
    // The lists around the member have what leads to it already.
    return String(level === open.length - 1 ? value.length : value.length - 1);
  });
  const pointer = printable(formatPointer(path));
  return pointer === "" ? "the response" : shorten(pointer, NAME_LENGTH);
}
