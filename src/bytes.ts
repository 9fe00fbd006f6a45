/**
 * Byte arrays.
 *
 * @module
 */

/** Bytes in a buffer of their own; before TypeScript 5.7, `Uint8Array` has no parameter to say so. */
export type Bytes = ReturnType<TextEncoder["encode"]>;

/** Concatenates byte arrays. */
export function joinBytes(parts: readonly Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((size, { byteLength }) => size + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}
