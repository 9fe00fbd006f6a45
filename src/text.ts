/**
 * Shortens and quotes text that others wrote, for the page and for logs.
 *
 * @module
 */

/** How long an {@linkcode excerpt} is, in UTF-16 code units. */
const EXCERPT_MAX = 120;

/**
 * What may not stand in a line of a log: control characters, line separators, and what changes the
 * direction of the text around it (Unicode UAX #9).
 */
const UNPRINTABLE =
  // deno-lint-ignore no-control-regex
  /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The same, with the spaces around it. */
const GAP = new RegExp(`(?:${UNPRINTABLE.source}| )+`, "g");

/**
 * Shortens a text, at the end of a word where there is one in its second half.
 *
 * @param length how long the result may be, in UTF-16 code units; no surrogate pair is cut
 * @returns the text, or the start of it with an ellipsis
 */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const wordEnd = text.slice(0, length).search(/\s\S*$/);
  return `${wordEnd >= length >> 1 ? text.slice(0, wordEnd) : startOf(text, length - 1)}…`;
}

/** As much of a text as fits into a length, in UTF-16 code units, without half of a surrogate pair. */
export function startOf(text: string, length: number): string {
  const isHighLast = /[\ud800-\udbff]/.test(text.charAt(length - 1));
  const isPairCut = isHighLast && /[\udc00-\udfff]/.test(text.charAt(length));
  return text.slice(0, isPairCut ? length - 1 : length);
}

/**
 * The start of a text on one line, for a log or a terminal.
 *
 * @param length how long it may be, in UTF-16 code units
 */
export function excerpt(text: string, length: number = EXCERPT_MAX): string {
  return shorten(text.replaceAll(GAP, " ").trim(), length);
}

/** A line as a log or a terminal may show it: what could pass for something else than text is replaced. */
export function printable(line: string): string {
  return line.replaceAll(UNPRINTABLE, "\ufffd");
}

/** A value in double quotes as in JSON, on one line, for a message. */
export function quote(value: unknown): string {
  const text = typeof value === "bigint" ? String(value) : JSON.stringify(value);
  return String(text).replaceAll(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
