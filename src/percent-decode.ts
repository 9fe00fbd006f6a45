/**
 * Reads percent-encoded text (RFC 3986, section 2.1).
 *
 * @module
 */

/** Percent-decodes a text as UTF-8; `undefined` if it is malformed. */
export function parsePercent(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Percent-decodes a text as UTF-8; returns it unchanged if it is malformed. */
export const decodePercent = (text: string): string => parsePercent(text) ?? text;
