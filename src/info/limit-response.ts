/**
 * Limits the size and depth of responses from a node, a file, a program or the host.
 *
 * @module
 */
import { buildJson, readNumber } from "../json/lossless.ts";
import { JsonScanner, JsonSyntaxError } from "../json/scan.ts";
import { formatPointer, isObject, mapMembers, type Path } from "../json/values.ts";
import { notJson } from "../node/failures.ts";
import { RESPONSE_MAX, tooLarge } from "../node/request.ts";
import { groupDigits } from "../units.ts";
import { excerpt, startOf } from "../untrusted-text.ts";

export const RESPONSE_LIMITS: Readonly<
  Record<"bytes" | "values" | "depth" | "string" | "digits", number>
> = {
  bytes: RESPONSE_MAX,
  /**
   * A response of `bytes` may hold five times as many values, which would take half a second of
   * processor time.
   */
  values: 50_000,
  depth: 32,
  string: 4096,
  digits: 40,
};

const TOO_LONG = `more than ${RESPONSE_LIMITS.string} characters`;

/** The value of a response, without what exceeds `RESPONSE_LIMITS`. */
export interface LimitedValue {
  readonly value: unknown;
  /** The first omitted members, each as a JSON Pointer with the reason. */
  readonly omitted: readonly string[];
}

const TOO_MANY = `sent a response of more than ${
  groupDigits(String(RESPONSE_LIMITS.values), ",")
} values`;
const NAMED_MAX = 3;
const NAME_LENGTH = 80;

/**
 * Keeps all digits of numbers, and omits values that exceed `RESPONSE_LIMITS`.
 *
 * @throws {SourceError}
 */
export function readResponse(text: string): LimitedValue {
  if (text.length > RESPONSE_LIMITS.bytes) throw tooLarge();
  try {
    let values = 0;
    const scanner = new JsonScanner(text, { depthMax: Infinity });
    const whole = buildJson(scanner, readDigits, (_holder, _key, value) => {
      // What is too deep is omitted, and thus costs little.
      if (value === undefined || scanner.depth > RESPONSE_LIMITS.depth) return;
      if (++values > RESPONSE_LIMITS.values) throw tooLarge(TOO_MANY);
    });
    return limit(whole);
  } catch (error) {
    throw error instanceof JsonSyntaxError ? notJson(text) : error;
  }
}

/**
 * Parses text only if it begins with `{` or `[`. Text such as `1.10` stays a string, since it may
 * be a version.
 */
export function readSourceText(text: string): LimitedValue {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) return readResponse(trimmed);
  if (trimmed.length <= RESPONSE_LIMITS.string) return { value: trimmed, omitted: [] };
  return { value: undefined, omitted: [`the text: ${TOO_LONG}`] };
}

function readDigits(raw: string): number | bigint {
  // `BigInt` needs several seconds to parse a million digits.
  const isLong = raw.length > RESPONSE_LIMITS.digits &&
    raw.replaceAll(/\D/g, "").length > RESPONSE_LIMITS.digits;
  const number = isLong ? NaN : readNumber(raw);
  return typeof number === "string" ? Infinity : number;
}

function limit(whole: unknown): LimitedValue {
  const omitted: string[] = [];
  const path: string[] = [];
  const limitMember = (member: unknown, key: string) => {
    path.push(key);
    const limited = limitValue(member);
    path.pop();
    return limited;
  };
  const limitValue = (value: unknown): unknown => {
    const reason = reasonToOmit(value, path);
    if (reason !== undefined) {
      if (omitted.length < NAMED_MAX) omitted.push(`${nameOfPath(path)}: ${reason}`);
      return undefined;
    }
    if (Array.isArray(value)) return value.map((item, i) => limitMember(item, String(i)) ?? null);
    return isObject(value) ? mapMembers(value, limitMember) : value;
  };
  return { value: limitValue(whole), omitted };
}

function reasonToOmit(value: unknown, path: Path): string | undefined {
  if ((path.at(-1)?.length ?? 0) > RESPONSE_LIMITS.string) return `a name of ${TOO_LONG}`;
  if (typeof value === "string") {
    return value.length > RESPONSE_LIMITS.string ? TOO_LONG : undefined;
  }
  if (typeof value === "number") {
    if (Number.isFinite(value)) return undefined;
    return Number.isNaN(value)
      ? `more than ${RESPONSE_LIMITS.digits} digits`
      : "a number out of range";
  }
  const isDeep = typeof value === "object" && value !== null &&
    path.length >= RESPONSE_LIMITS.depth;
  return isDeep ? `more than ${RESPONSE_LIMITS.depth} levels deep` : undefined;
}

function nameOfPath(path: Path): string {
  const keys = path.map((key) => startOf(key, NAME_LENGTH));
  return excerpt(formatPointer(keys), NAME_LENGTH) || "the response";
}
