/**
 * Makes bytes of a long text that is never there as a whole.
 *
 * @module
 */
import { breathe } from "./breathe.ts";

/** How large a part of the bytes is while it is not known how many there will be. */
const PART = 262_144;

const encoder = new TextEncoder();

/**
 * Puts pieces of a text together in UTF-8, with pauses.
 *
 * @param pieces what makes them, one when the one before has been taken
 */
export async function joinPieces(pieces: Iterable<string>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let part = new Uint8Array(PART);
  let at = 0;
  for (const piece of pieces) {
    for (let rest = piece; rest !== "";) {
      const { read, written } = encoder.encodeInto(rest, part.subarray(at));
      at += written;
      rest = rest.slice(read);
      if (rest === "") break;
      parts.push(part.subarray(0, at));
      part = new Uint8Array(PART);
      at = 0;
    }
    await breathe();
  }
  return joinBytes([...parts, part.subarray(0, at)]);
}

/** Puts bytes one after the other. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((size, { byteLength }) => size + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}
