/**
 * Stands between an answer and everything else: whatever a node, a file, a program or a host says, what comes
 * out is small, shallow JSON.
 *
 * @module
 */
import { readNumber } from "../json/lossless.ts";
import { formatPointer, type Json, setMember } from "../json/values.ts";
import { JsonScanner, JsonSyntaxError } from "../json/scan.ts";
import { SourceError } from "../node/failures.ts";
import { RESPONSE_MAX, TOO_LARGE } from "../node/request.ts";
import { excerpt, printable, quote, shorten, startOf } from "../untrusted-text.ts";

/** What is read of an answer. */
export const BOUNDS: Readonly<Record<"bytes" | "depth" | "string" | "digits", number>> = {
  /** The whole text, in bytes. */
  bytes: RESPONSE_MAX,
  /** Levels of objects and lists. */
  depth: 32,
  /** One string, in UTF-16 code units. */
  string: 4096,
  /** Digits of one number. */
  digits: 40,
};

/** An answer within the bounds. */
export interface SourceAnswer {
  readonly value: unknown;
  /** What was left out, for the log: JSON Pointers with the reason, at most a few. */
  readonly leftOut: readonly string[];
}

const NAMED_MAX = 3;

/** The length of a name for the log, in UTF-16 code units. */
const NAME_LENGTH = 80;

/**
 * Reads an answer as JSON. A member beyond the bounds is left out; in a list `null` takes its place. Integers
 * keep all of their digits: above 2^53 they are `bigint`s.
 *
 * @throws {SourceError} if the text is not JSON, or is too large as a whole
 */
export function readAnswer(text: string): SourceAnswer {
  if (text.length > BOUNDS.bytes) throw new SourceError("bad_answer", TOO_LARGE);
  try {
    return build(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw notJson(text);
  }
}

/** The failure of a response that is no JSON. */
export function notJson(text: string): SourceError {
  const start = text.trim() === "" ? "nothing" : quote(excerpt(startOf(text, 400), 40));
  const message = `gives something other than JSON: ${start}`;
  return new SourceError("bad_answer", message, { isForeign: true });
}

/**
 * Reads what a file holds or a program prints: JSON if it begins as an object or a list does, otherwise the
 * text itself, since `1.10` is no number there.
 *
 * @throws {SourceError} as {@linkcode readAnswer}
 */
export function readTextAnswer(text: string): SourceAnswer {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) return readAnswer(trimmed);
  if (trimmed.length <= BOUNDS.string) return { value: trimmed, leftOut: [] };
  return { value: undefined, leftOut: [`the text: ${REASONS.string}`] };
}

const REASONS = {
  depth: `more than ${BOUNDS.depth} levels deep`,
  key: `a name of more than ${BOUNDS.string} characters`,
  string: `more than ${BOUNDS.string} characters`,
  digits: `more than ${BOUNDS.digits} digits`,
  number: "beyond all numbers",
} as const;

interface Open {
  readonly value: Json | unknown[];
  /** The name of the current member; `undefined` if it is too long. A list has no names. */
  key: string | undefined;
}

function build(text: string): SourceAnswer {
  // What is nested deeper is passed over, however deep it is.
  const scanner = new JsonScanner(text, Infinity);
  const root: Json = {};
  const open: Open[] = [{ value: root, key: "" }];
  const leftOut: string[] = [];
  /** How many levels are open around what is passed over. */
  let around: number | undefined;
  while (scanner.next()) {
    const { kind, depth } = scanner;
    const parent = open.at(-1)!;
    if (around !== undefined) {
      if (depth === around) around = undefined;
    } else if (kind === "key") {
      const { string } = scanner;
      parent.key = string.length > BOUNDS.string ? undefined : string;
    } else if (kind === "}" || kind === "]") {
      open.pop();
    } else {
      const isNested = kind === "{" || kind === "[";
      const member = parent.key === undefined ? { reason: REASONS.key } : read(scanner);
      if ("reason" in member) {
        if (leftOut.length < NAMED_MAX) leftOut.push(`${nameOf(open)}: ${member.reason}`);
        if (isNested) around = depth - 1;
      }
      put(parent, member);
      if (isNested && "value" in member) {
        open.push({ value: member.value as Json | unknown[], key: "" });
      }
    }
  }
  return { value: root[""], leftOut };
}

type Member = { readonly value: unknown } | { readonly reason: string };

/** The value of the current token, or why it is left out. */
function read({ kind, depth, raw }: JsonScanner): Member {
  if (kind === "{" || kind === "[") {
    if (depth > BOUNDS.depth) return { reason: REASONS.depth };
    return { value: kind === "{" ? {} : [] };
  }
  if (kind === "number") {
    // `BigInt` takes seconds for a million digits.
    if (raw.length > BOUNDS.digits && raw.replaceAll(/\D/g, "").length > BOUNDS.digits) {
      return { reason: REASONS.digits };
    }
    const value = readNumber(raw);
    return typeof value === "string" ? { reason: REASONS.number } : { value };
  }
  const value: unknown = JSON.parse(raw);
  const isTooLong = typeof value === "string" && value.length > BOUNDS.string;
  return isTooLong ? { reason: REASONS.string } : { value };
}

function put(parent: Open, member: Member): void {
  const { value, key } = parent;
  if (Array.isArray(value)) value.push("value" in member ? member.value : null);
  else if (key !== undefined) {
    if ("value" in member) setMember(value, key, member.value);
    // The last of duplicate keys wins, even if it is left out.
    else delete value[key];
  }
}

/** The JSON Pointer of the current member, for the log. */
function nameOf([, ...open]: readonly Open[]): string {
  const path = open.map(({ value, key = "…" }, level) => {
    if (!Array.isArray(value)) return excerpt(startOf(key, NAME_LENGTH), NAME_LENGTH);
    // The lists around the member have what leads to it already.
    return String(level === open.length - 1 ? value.length : value.length - 1);
  });
  const pointer = printable(formatPointer(path));
  return pointer === "" ? "the answer" : shorten(pointer, NAME_LENGTH);
}
