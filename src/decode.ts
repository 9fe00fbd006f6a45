/**
 * Decodes percent-encoding (RFC 3986, section 2.1) and base64 (RFC 4648).
 *
 * @module
 */

/** Returns `undefined` if the percent-encoding or the UTF-8 is malformed. */
export function parsePercent(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export const decodePercent = (text: string): string => parsePercent(text) ?? text;

/** Decodes what is not UTF-8 byte by byte, and keeps what is no percent-encoding. */
export const decodeLeniently = (text: string): string =>
  text.replaceAll(/(?:%[\da-f]{2})+/gi, (escapes) =>
    parsePercent(escapes) ??
      escapes.replaceAll(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))));

/** Decodes base64, of which each byte becomes a character. Returns `undefined` for other texts. */
export function decodeBase64(text: string): string | undefined {
  try {
    return atob(text);
  } catch {
    return undefined;
  }
}

/** Does the same for base64url, and for base64. */
export const decodeBase64Url = (text: string): string | undefined =>
  decodeBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
