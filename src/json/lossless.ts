/**
 * JSON whose whole numbers keep all of their digits. `JSON.parse` rounds those above 2^53, and
 * `JSON.stringify` refuses a `bigint`.
 *
 * What a double cannot hold is read as follows:
 *
 * - a whole number above 2^53, such as `9007199254740993`, becomes a `bigint`;
 * - a number above all doubles, such as `1e400`, becomes a string of what is written;
 * - a fraction, or a number with an exponent, is rounded to the nearest double, as by `JSON.parse`.
 *
 * `-0` is read as it is, and written as `0`, as by `JSON.stringify`.
 *
 * @module
 */
import { DEPTH_MAX, JsonScanner } from "./scan.ts";
import { type Json, setMember } from "./values.ts";

/** An exponent that may lead above all doubles. */
const LARGE_EXPONENT = /[eE]\+?\d{3}/;

/** A text of this length cannot be nested too deep: a level takes two characters. */
const SHALLOW_LENGTH = 2 * DEPTH_MAX;

/** How deep the values written here may be nested: what is read, within something around it. */
const WRITTEN_DEPTH_MAX = 2 * DEPTH_MAX;

/** Whether a text may hold a whole number that `number` cannot. */
export function mayHoldLarge(text: string): boolean {
  return /\d{16}/.test(text);
}

/** A number where it is exact, otherwise a `bigint`. */
export function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * Reads JSON (RFC 8259). Of a key that stands twice, the last one counts.
 *
 * @throws {JsonSyntaxError} where the text is not JSON; the message is the same on every runtime
 * @throws {JsonDepthError} where it is nested more than {@linkcode DEPTH_MAX} levels deep
 */
export function parseJson(text: string): unknown {
  if (mayHoldLarge(text) || LARGE_EXPONENT.test(text)) return build(text);
  if (text.length > SHALLOW_LENGTH) validate(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    validate(text);
    throw error;
  }
}

/**
 * Writes JSON; a `bigint` becomes a number with all of its digits. What JSON has no form for is
 * written as by `JSON.stringify`: a member of `undefined` is left out, `NaN` is `null`.
 *
 * @param indent how many spaces stand before what is inside; none, and all is one line
 * @throws {RangeError} where the value is nested too deep, or contains itself
 */
export function formatJson(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, undefined, indent) ?? "null";
  } catch {
    return write(value, indent, "\n", 0) ?? "null";
  }
}

/** Reads a text to its end, for the sake of the error. */
function validate(text: string): void {
  const scanner = new JsonScanner(text);
  while (scanner.next());
}

/** Makes the value of a text from its tokens. */
function build(text: string): unknown {
  const scanner = new JsonScanner(text);
  const root: Json = {};
  /** The objects and lists around the place. */
  const around: (Json | unknown[])[] = [root];
  let key = "";
  while (scanner.next()) {
    if (scanner.kind === "key") key = scanner.string;
    else if (scanner.kind === "}" || scanner.kind === "]") around.pop();
    else {
      const parent = around.at(-1)!;
      const value = valueOf(scanner);
      if (Array.isArray(parent)) parent.push(value);
      else setMember(parent, key, value);
      if (scanner.kind === "{" || scanner.kind === "[") around.push(value as Json | unknown[]);
    }
  }
  return root[""];
}

/** The value that a token is, or begins. */
function valueOf(scanner: JsonScanner): unknown {
  if (scanner.kind === "{") return {};
  if (scanner.kind === "[") return [];
  return scanner.kind === "number" ? numberOf(scanner.raw) : JSON.parse(scanner.raw);
}

function numberOf(digits: string): unknown {
  const number = Number(digits);
  if (!Number.isFinite(number)) return digits;
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(digits) ? number : BigInt(digits);
}

/** Writes a value that holds a `bigint`; `undefined` where JSON has no form for it. */
function write(value: unknown, indent: number, before: string, depth: number): string | undefined {
  const plain = hasToJson(value) ? value.toJSON() : value;
  if (typeof plain === "bigint") return String(plain);
  if (typeof plain !== "object" || plain === null) return JSON.stringify(plain);
  if (depth === WRITTEN_DEPTH_MAX) {
    throw new RangeError(
      `a value that contains itself, or is nested more than ${WRITTEN_DEPTH_MAX} levels deep, ` +
        "cannot be written as JSON",
    );
  }
  const inside = before + " ".repeat(indent);
  const nested = (member: unknown) => write(member, indent, inside, depth + 1);
  const colon = indent > 0 ? ": " : ":";
  const members = Array.isArray(plain)
    ? plain.map((item) => nested(item) ?? "null")
    : Object.entries(plain).flatMap(([key, member]) => {
      const text = nested(member);
      return text === undefined ? [] : [JSON.stringify(key) + colon + text];
    });
  const [open, close] = Array.isArray(plain) ? "[]" : "{}";
  if (members.length === 0 || indent === 0) return `${open}${members.join()}${close}`;
  return `${open}${inside}${members.join(`,${inside}`)}${before}${close}`;
}

const hasToJson = (value: unknown): value is { toJSON(): unknown } =>
  typeof (value as { toJSON?: unknown } | null)?.toJSON === "function";
