/**
 * JSON whose whole numbers keep their digits: `JSON.parse` rounds those above 2^53, and not every
 * runtime lets it see how a number was written.
 *
 * @module
 */

/** A string, or a number as RFC 8259 writes it. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Stands around the digits of a large number while it travels through `JSON` as a string. */
const MARK = "\0\uffff";
const MARKED = /^\0\uffff-?\d+$/;
const MARKED_TEXT = /"\\u0000\uffff(-?\d+)"/g;

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
 * Parses JSON; a whole number that `number` cannot hold becomes a `bigint`.
 *
 * @throws {SyntaxError} where the text is not JSON
 */
export function parseJson(text: string): unknown {
  if (!mayHoldLarge(text)) return JSON.parse(text);
  const marked = text.replaceAll(
    TOKEN,
    (token) => isLarge(token) ? `"\\u0000\uffff${token}"` : token,
  );
  if (marked.length === text.length) return JSON.parse(text);
  return JSON.parse(
    marked,
    (_, value) =>
      typeof value === "string" && MARKED.test(value) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/** Writes JSON in one line; a `bigint` becomes a number with all of its digits. */
export function formatJson(value: unknown): string {
  let hasLarge = false;
  const mark = (_: string, member: unknown) => {
    if (typeof member !== "bigint") return member;
    hasLarge = true;
    return `${MARK}${member}`;
  };
  try {
    return JSON.stringify(value);
  } catch {
    const marked = JSON.stringify(value, mark);
    return hasLarge ? marked.replaceAll(MARKED_TEXT, "$1") : marked;
  }
}

function isLarge(token: string): boolean {
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token));
}
