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

/** How long a part of a content is, in bytes or UTF-16 code units. */
const PART_LENGTH = 65_536;

/**
 * The bytes of a content, part by part, a text in UTF-8. Each part is valid until the next is asked for. To
 * have all of a large text as bytes would leave a hole of that size in the memory of the process.
 */
export function* partsOf(content: string | Bytes): Generator<Bytes> {
  const encoder = new TextEncoder();
  const buffer = new Uint8Array(typeof content === "string" ? 3 * (PART_LENGTH + 1) : 0);
  for (let at = 0, end = 0; at < content.length; at = end) {
    end = at + PART_LENGTH;
    if (typeof content === "string") {
      // Both halves of a character stay together.
      if (content.codePointAt(end - 1)! > 0xffff) end++;
      yield buffer.subarray(0, encoder.encodeInto(content.slice(at, end), buffer).written);
    } else yield content.subarray(at, end);
  }
}

/** How many bytes a text is in UTF-8. */
export function byteLengthOf(text: string): number {
  let length = 0;
  for (const { byteLength } of partsOf(text)) length += byteLength;
  return length;
}
