/**
 * Decodes and encodes UTF-8. Long texts are done in parts, with a turn for others between them:
 * fresh memory for 30 MB may take longer than another client should wait.
 *
 * @module
 */
import { type Bytes, encodeText, joinBytes, partsOf } from "./bytes.ts";
import { isLong, nextTurn, pause } from "./slices.ts";

const OPTIONS = { fatal: true, ignoreBOM: true };
const decoder = new TextDecoder("utf-8", OPTIONS);
const encoder = new TextEncoder();

/** Keeps a byte order mark as part of the text. Returns `undefined` for what is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Does the same as `decodeUtf8` for bytes in parts, of `size` bytes together. */
export async function decodeParts(
  parts: readonly Bytes[],
  size: number,
): Promise<string | undefined> {
  if (!isLong(size)) return decodeUtf8(parts.length === 1 ? parts[0]! : joinBytes(parts));
  await nextTurn();
  const decoder = new TextDecoder("utf-8", OPTIONS);
  let text = "";
  try {
    for (const long of parts) {
      for (const part of partsOf(long)) {
        text += decoder.decode(part, { stream: true });
        await pause();
      }
    }
    text += decoder.decode();
  } catch {
    return undefined;
  }
  // Whoever reads the text first makes it one piece.
  await nextTurn();
  return text;
}

/** Returns the number of characters (UTF-16 code units) of all texts. */
export const characterCount = (texts: readonly string[]): number =>
  texts.reduce((sum, { length }) => sum + length, 0);

/**
 * Encodes texts one after the other. Each is well-formed, and is not cut within a character. The
 * bytes are in one piece, since Bun sends several pieces without their length.
 */
export async function encodeTexts(texts: readonly string[]): Promise<Bytes> {
  const length = characterCount(texts);
  if (!isLong(length)) return encodeText(texts.join(""));
  await nextTurn();
  const bytes: Bytes = new Uint8Array(await countBytes(texts));
  let at = 0;
  for (const part of shortTextsOf(texts)) {
    at += encoder.encodeInto(part, bytes.subarray(at)).written;
    await pause();
  }
  return bytes;
}

/** Resolves to the number of bytes that texts, which are well-formed, have as UTF-8. */
export async function countBytes(texts: readonly string[]): Promise<number> {
  let size = 0;
  for (const part of shortTextsOf(texts)) {
    size += sizeOf(part);
    await pause();
  }
  return size;
}

const sizeOf = (part: string): number =>
  IS_ASCII.test(part) ? part.length : encodeText(part).byteLength;

// deno-lint-ignore no-control-regex
const IS_ASCII = /^[\x00-\x7f]*$/;

/** In UTF-16 code units. */
const PART_MAX = 65_536;

/** Joins short texts, and cuts long ones. */
function* shortTextsOf(texts: readonly string[]): Generator<string, undefined> {
  let joined = "";
  for (const text of texts) {
    if (joined.length + text.length <= PART_MAX) {
      joined += text;
      continue;
    }
    yield joined;
    joined = "";
    for (let at = 0, end = 0; at < text.length; at = end) {
      end = endOfPart(text, at);
      yield text.slice(at, end);
    }
  }
  yield joined;
}

function endOfPart(text: string, at: number): number {
  const end = at + PART_MAX;
  const isWithin = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isWithin ? end + 1 : end;
}
