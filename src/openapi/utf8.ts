/**
 * Texts as bytes in UTF-8: a long one is never there as a whole.
 *
 * @module
 */
import { breathe, isDue } from "./yield-to-requests.ts";

/** How much of a text is encoded at a time while it is measured, in bytes. */
const PART = 65_536;

const LF = 10;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes in UTF-8 as text. */
export function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Some bytes as text, in parts that end where a line does; throws where they are not in UTF-8. */
export function* decodeLines(bytes: Uint8Array): Generator<string> {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let at = 0, end = 0; at < bytes.length; at = end) {
    end = bytes.indexOf(LF, at + PART) + 1 || bytes.length;
    yield strict.decode(bytes.subarray(at, end));
  }
}

/** Whether some bytes are the same. */
export function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * Puts pieces of a text together in UTF-8, with pauses. They are made twice: the first time shows how
 * many bytes there will be, so that nothing has to grow.
 *
 * @param make makes the pieces, one when the one before has been taken
 */
export async function joinPieces(make: () => Iterable<string>): Promise<Uint8Array<ArrayBuffer>> {
  const part = new Uint8Array(PART);
  let size = 0;
  for (const piece of make()) {
    for (let rest = piece; rest !== "";) {
      const { read, written } = encoder.encodeInto(rest, part);
      size += written;
      rest = rest.slice(read);
    }
    if (isDue()) await breathe();
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of make()) {
    at += encoder.encodeInto(piece, bytes.subarray(at)).written;
    if (isDue()) await breathe();
  }
  return bytes;
}
