/**
 * The settings of the page: the view that comes first, and the logo, whose type its bytes tell.
 *
 * @module
 */

export const VIEWS = ["reference", "simple"] as const;

export type View = (typeof VIEWS)[number];

export const LOGO_BYTES_MAX = 262_144;

export const LOGO_TYPES = "PNG, SVG, JPEG, WebP, GIF or ICO";

/** The start of an image of each type, with a character for each byte. */
const STARTS: readonly (readonly [type: string, start: string | RegExp])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
  ["image/x-icon", "\x00\x00\x01\x00"],
  // Before its first element may be a byte order mark, a declaration, comments, and a type with entities.
  [
    "image/svg+xml",
    /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*)*(?:<!DOCTYPE[^>[]*(?:\[[^\]]*\]\s*)?>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*)*<(?:\w+:)?svg[\s>/]/,
  ],
];

const START_LENGTH = 8192;

/** Finds the media type of an image; `undefined` if it is none that a page can show as a logo. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  let start = "";
  for (const byte of bytes.subarray(0, START_LENGTH)) start += String.fromCharCode(byte);
  const isOf = (expected: string | RegExp) =>
    typeof expected === "string" ? start.startsWith(expected) : expected.test(start);
  return STARTS.find(([, expected]) => isOf(expected))?.[0];
}

/** Says what is wrong with the bytes of a logo, after "it"; `undefined` where nothing is. */
export function mistakeInLogo(bytes: Uint8Array): string | undefined {
  if (bytes.byteLength > LOGO_BYTES_MAX) return `is larger than ${LOGO_BYTES_MAX / 1024} KiB`;
  return imageTypeOf(bytes)
    ? undefined
    : `must be an image of a type that browsers show: ${LOGO_TYPES}`;
}
