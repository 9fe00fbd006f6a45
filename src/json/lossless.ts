/**
 * JSON whose whole numbers keep their digits: `JSON.parse` rounds those above 2^53, and not every
 * runtime lets it see how a number was written.
 *
 * @module
 */

/** A string, which is passed over, or a whole number that `number` may not hold. */
const LARGE = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/** Stands before the digits of a large number while it travels through `JSON` as a string. */
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
  const value = JSON.parse(text);
  if (!mayHoldLarge(text) || !holdsLarge(text)) return value;
  // Written as an escape, the mark leaves a text of one byte a character what it is.
  const marked = text.replaceAll(
    LARGE,
    (token) => token.startsWith('"') ? token : `"\\u0000\\uffff${token}"`,
  );
  return JSON.parse(
    marked,
    (_, value) =>
      typeof value === "string" && MARKED.test(value)
        ? exact(BigInt(value.slice(MARK.length)))
        : value,
  );
}

/**
 * Writes JSON; a `bigint` becomes a number with all of its digits.
 *
 * @param indent how many spaces stand before what is inside; none, and all is one line
 */
export function formatJson(value: unknown, indent = 0): string {
  let hasLarge = false;
  const mark = (_: string, member: unknown) => {
    if (typeof member !== "bigint") return member;
    hasLarge = true;
    return `${MARK}${member}`;
  };
  try {
    return JSON.stringify(value, undefined, indent);
  } catch {
    const marked = JSON.stringify(value, mark, indent);
    return hasLarge ? marked.replaceAll(MARKED_TEXT, "$1") : marked;
  }
}

/** Whether a text that is JSON has a whole number of many digits outside of its strings. */
function holdsLarge(text: string): boolean {
  LARGE.lastIndex = 0;
  while (LARGE.test(text)) if (text[LARGE.lastIndex - 1] !== '"') return true;
  return false;
}
