/**
 * Byte arrays.
 *
 * @module
 */

/**
 * A `Uint8Array` backed by an `ArrayBuffer`. Before TypeScript 5.7, `Uint8Array` has no type
 * parameter. Without the types of browsers, `TextEncoder` is no type.
 */
export type Bytes = ReturnType<InstanceType<typeof TextEncoder>["encode"]>;

const encoder = new TextEncoder();

/** Encodes a text as UTF-8; `encodeTexts` encodes long ones in parts. */
export const encodeText = (text: string): Bytes => encoder.encode(text);

/** If the total exceeds `limit` bytes, cancels the stream and resolves to `undefined`. */
export async function gatherBytes(
  parts: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<Bytes | undefined> {
  const collector = createCollector();
  let length = 0;
  for await (const part of parts) {
    length += part.byteLength;
    if (length > limit) return undefined;
    collector.push(part as Bytes);
  }
  return joinBytes(collector.empty());
}

export const byteLengthOf = (parts: readonly Uint8Array[]): number =>
  parts.reduce((size, { byteLength }) => size + byteLength, 0);

export function joinBytes(parts: readonly Uint8Array[]): Bytes {
  const length = byteLengthOf(parts);
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}

const SHORT = 4096, BLOCK = 16_384;

/** Collects parts, and saves memory by copying short parts into larger blocks. */
export function createCollector(): { push(part: Bytes): void; empty(): Bytes[] } {
  const parts: Bytes[] = [];
  let block: Bytes = new Uint8Array();
  /** The range of `block` that has not been added to `parts` yet. */
  let start = 0, end = 0;
  const seal = () => {
    if (end > start) parts.push(block.subarray(start, end));
    start = end;
  };
  return {
    push(part) {
      if (part.byteLength >= SHORT || (parts.length === 0 && start === end)) {
        seal();
        parts.push(part);
        return;
      }
      if (end + part.byteLength > block.byteLength) {
        seal();
        block = new Uint8Array(BLOCK);
        start = end = 0;
      }
      block.set(part, end);
      end += part.byteLength;
    },
    empty() {
      seal();
      return parts.splice(0);
    },
  };
}

/** The maximum length of a part, in bytes. */
export const PART_LENGTH = 65_536;

export function* partsOf(content: Bytes): Generator<Bytes> {
  for (let at = 0; at < content.byteLength; at += PART_LENGTH) {
    yield content.subarray(at, at + PART_LENGTH);
  }
}

/**
 * Tells whether content is split into so many tiny parts that their overhead exceeds their bytes.
 */
export const isInTinyParts = (parts: number, length: number): boolean =>
  parts > 1024 && length < parts * 64;
