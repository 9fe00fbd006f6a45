/**
 * Byte arrays.
 *
 * @module
 */

/** Bytes in a buffer of their own; before TypeScript 5.7, `Uint8Array` has no parameter to say so. */
export type Bytes = ReturnType<TextEncoder["encode"]>;

/**
 * Bytes, all zero, that go back to the system when they are dropped: of a large file, and nothing that is
 * answered with. A buffer that can be resized is mapped by the runtime; any other comes from `malloc`. When
 * glibc's frees one of over 128 kB, it keeps up to twice as much free in each thread from then on
 * (mallopt(3), `M_MMAP_THRESHOLD`): 20 MB after a description of 13 MB (Node 26.10).
 *
 * @param length in bytes
 */
export function mapBytes(length: number): Bytes {
  return new Uint8Array(new ArrayBuffer(length, { maxByteLength: length }));
}

/**
 * Gathers what comes in parts, as {@linkcode mapBytes} makes it; no part is kept.
 *
 * @param limit in bytes
 * @returns `undefined`, and what comes is cancelled, beyond the limit
 */
export async function gatherBytes(
  parts: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<Bytes | undefined> {
  let bytes = mapBytes(PART_LENGTH);
  let length = 0;
  for await (const part of parts) {
    const needed = length + part.byteLength;
    if (needed > limit) return undefined;
    if (needed > bytes.byteLength) {
      const larger = mapBytes(Math.max(needed, 2 * bytes.byteLength));
      larger.set(bytes);
      bytes = larger;
    }
    bytes.set(part, length);
    length = needed;
  }
  bytes.buffer.resize(length);
  return bytes;
}

/** Concatenates byte arrays. */
export function joinBytes(parts: readonly Uint8Array[]): Bytes {
  const length = parts.reduce((size, { byteLength }) => size + byteLength, 0);
  return fill(new Uint8Array(length), parts);
}

/** Collects bytes that come in parts of any length: short ones are copied together, so that each costs its size alone. */
export interface Collector {
  push(part: Bytes): void;
  /** Gives what has come since the last time. */
  take(): Bytes[];
}

/** Shorter parts are copied, into blocks of this length, in bytes. */
const SHORT = 4096, BLOCK = 16_384;

/** Makes what collects bytes. */
export function createCollector(): Collector {
  const parts: Bytes[] = [];
  let block: Bytes = new Uint8Array();
  /** The bytes of the block that are in no part yet. */
  let start = 0, end = 0;
  const seal = () => {
    if (end > start) parts.push(block.subarray(start, end));
    start = end;
  };
  return {
    push(part) {
      // Most contents have one part.
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
    take() {
      seal();
      return parts.splice(0);
    },
  };
}

/** Copies parts into bytes, one behind the other; each is done with when the next is asked for. */
function fill(bytes: Bytes, parts: Iterable<Uint8Array>): Bytes {
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}

/** How long a part of a content is, in bytes or UTF-16 code units. */
const PART_LENGTH = 65_536;

/** The parts of a text. */
export function* slicesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += PART_LENGTH) yield text.slice(at, at + PART_LENGTH);
}

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

/** A text in UTF-8, as {@linkcode mapBytes} makes it. */
export function mapText(text: string): Bytes {
  return fill(mapBytes(byteLengthOf(text)), partsOf(text));
}

/** More parts than that are too many where they are shorter than that on average, in bytes. */
const PARTS_MAX = 1024, PART_MIN = 64;

/** Says whether a content of so many bytes has come in so many parts that these cost more than the bytes. */
export function isInTinyParts(parts: number, length: number): boolean {
  return parts > PARTS_MAX && length < parts * PART_MIN;
}
