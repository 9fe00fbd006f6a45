/**
 * Makes untrusted text safe for logs, messages and pages.
 *
 * @module
 */

/**
 * Characters that can forge a log line, act like key presses in a terminal, or hide text: controls,
 * line separators, bidirectional controls (UAX #9), zero-width characters, variation selectors,
 * tags and lone surrogates.
 */
export const UNSEEN: RegExp = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const GAP = new RegExp(`(?:${UNSEEN.source}| )+`, "gu");

/**
 * Shortens a text to at most `length` UTF-16 code units, including an ellipsis. Cuts between words
 * if at least half of `length` remains, or else within a word.
 */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const wordEnd = text.slice(0, length).search(/\s\S*$/);
  return `${wordEnd >= length >> 1 ? text.slice(0, wordEnd) : startOf(text, length - 1)}…`;
}

/**
 * Returns at most the first `length` UTF-16 code units of a text, without splitting a surrogate
 * pair.
 */
export function startOf(text: string, length: number): string {
  const isPairCut = text.codePointAt(length - 1)! > 0xffff;
  return text.slice(0, isPairCut ? length - 1 : length);
}

/** Shortens a text to one line of at most `length` UTF-16 code units, for a log or a terminal. */
export function excerpt(text: string, length: number = 120): string {
  // What may be a megabyte is not looked at as a whole.
  return shorten(startOf(text, 100 * length).replaceAll(GAP, " ").trim(), length);
}

export const printable = (line: string): string => line.replaceAll(UNSEEN, "\ufffd");

/** A segment of a path that may be a key, as hosted nodes have it. */
const KEY_IN_PATH = /(?<=\/)(?=[\w-]*\d)(?=[\w-]*[a-z])(?<=[^/:]\/+)[\w-]{20,}(?=[/?#,;:)]|$)/gi;

/** A name, such as that of a chain or a wallet: `crypto-org-chain-mainnet-1`. */
const WORDS = /^[a-z]+(?:[-_][a-z]+)*(?:[-_]?\d{1,9})?$/i;

/** Returns the segments of a URL's path that are probably keys. */
export const keysInPath = (url: string): readonly string[] =>
  (url.match(KEY_IN_PATH) ?? []).filter((segment) => !WORDS.test(segment));

/**
 * Masks possible secrets in the URLs of a text: query values, user names, passwords, and long
 * segments of letters and digits. Takes linear time, so each part of a URL is looked for only in
 * the word that may be one.
 */
export function withoutKeys(text: string): string {
  if (!/[?@]|:\/\//.test(text)) return text;
  return text.replaceAll(/[^\s"'`<>\\]+/g, (word) => {
    const masked = word.replaceAll(/(:\/\/)[^/?#]*@/g, "$1***@")
      .replaceAll(/([?&][\w.~%+[\]-]+=)[^&#]+/g, "$1***");
    // A query may be a key without a name.
    if (!word.includes("://")) return masked;
    return masked.replaceAll(/\?[^=&#?]+(?=[&#?]|$)/g, "?***").replaceAll(KEY_IN_PATH, "***");
  });
}

/** Escapes the characters of JSON that could manipulate a terminal, except line breaks. */
export function printableJson(text: string): string {
  return text.split("\n").map(showUnseen).join("\n");
}

/** Replaces each invisible character with its escapes in JSON; one above U+FFFF has two. */
export const showUnseen = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => character.split("").map(escapeOf).join(""));

/** @param character a single UTF-16 code unit */
export const escapeOf = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

export function quote(value: unknown): string {
  const text = typeof value === "bigint" ? String(value) : JSON.stringify(value);
  return showUnseen(String(text));
}

export function describeValue(value: unknown): string {
  if (typeof value === "string") return quote(shorten(value, 60));
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "an invalid Date" : "a Date";
  if (value instanceof URL) return "a URL object";
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) {
    const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
    return tag === "Object" ? "an object" : `an object of the class ${tag}`;
  }
  return typeof value === "symbol" ? "a symbol" : String(value);
}

/** A name of a header or a method (RFC 9110, section 5.6.2). */
export const isToken = (text: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(text);

/** The references to the characters that HTML interprets. */
export const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
