/**
 * The settings of the page: the view that opens first, and the logo.
 *
 * @module
 */
import { formatSize } from "../units.ts";

export const VIEWS = ["reference", "simple"] as const;
export type View = (typeof VIEWS)[number];
export const LOGO_BYTES_MAX = 262_144;
export const LOGO_TYPES = "PNG, SVG, JPEG, WebP, GIF or ICO";

const COMMENTS = String.raw`(?:<!--(?:(?!-->)[^])*-->\s*)*`;
/** Patterns for the first bytes of each image type, with one character per byte. */
const STARTS: Readonly<Record<string, RegExp>> = {
  "image/png": /^\x89PNG\r\n/,
  "image/jpeg": /^\xff\xd8\xff/,
  "image/gif": /^GIF8[79]a/,
  "image/webp": /^RIFF[^]{4}WEBP/,
  "image/x-icon": /^\0\0.\0/,
  "image/svg+xml": new RegExp(
    // A byte order mark, a declaration, comments and a document type may come before the first
    // element.
    String.raw`^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?${COMMENTS}` +
      String.raw`(?:<!DOCTYPE[^>[]*(?:\[[^\]]*\]\s*)?>\s*)?${COMMENTS}<(?:\w+:)?svg[\s>/]`,
  ),
};

export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 8192));
  return Object.keys(STARTS).find((type) => STARTS[type]!.test(start));
}

/** Returns a predicate such as `is larger than 256 KiB`, or `undefined` if the logo is valid. */
export function mistakeInLogo(bytes: Uint8Array): string | undefined {
  if (bytes.byteLength > LOGO_BYTES_MAX) return `is larger than ${formatSize(LOGO_BYTES_MAX)}`;
  return imageTypeOf(bytes)
    ? undefined
    : `must be an image of a type that browsers show: ${LOGO_TYPES}`;
}
