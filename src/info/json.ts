/**
 * JSON whose whole numbers keep their digits: `JSON.parse` rounds those above 2^53, and not every
 * runtime lets it see how a number was written.
 *
 * @module
 */

/** A string, or a number as RFC 8259 writes it. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Stands before the digits of a large number while it travels through `JSON` as a string. */
const MARK = "\0";
const MARKED = /^\0-?\d+$/;
const MARKED_TEXT = /"\\u0000(-?\d+)"/g;

/**
 * Parses JSON; a whole number that `number` cannot hold becomes a `bigint`.
 *
 * @throws {SyntaxError} where the text is not JSON
 */
export function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = text.replaceAll(TOKEN, (token) => isLarge(token) ? `"\\u0000${token}"` : token);
  return JSON.parse(
    marked,
    (_, value) => typeof value === "string" && MARKED.test(value) ? BigInt(value.slice(1)) : value,
  );
}

/** Writes JSON for people to read; a `bigint` becomes a number with all of its digits. */
export function formatJson(value: unknown): string {
  const marked = JSON.stringify(
    value,
    (_, member) => typeof member === "bigint" ? `${MARK}${member}` : member,
    2,
  );
  return marked.replaceAll(MARKED_TEXT, "$1");
}

/** A number where it is exact, otherwise a `bigint`. */
export function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function isLarge(token: string): boolean {
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token));
}
