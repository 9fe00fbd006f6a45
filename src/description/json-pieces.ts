/**
 * Reads JSON piece by piece, so that a large text is never there as a string, and requests are answered
 * in between.
 *
 * @module
 */
import { parseJson } from "../json.ts";
import { breathe } from "./breathe.ts";
import { decode } from "./bytes.ts";
import { isObject, type Json, setMember } from "./values.ts";

/** How long a piece is at least, in bytes, unless the text ends: V8 keeps what is longer out of the young generation. */
const PIECE = 131_072;

const TAB = 9, LF = 10, CR = 13, SPACE = 32, QUOTE = 34, COMMA = 44, COLON = 58, BACKSLASH = 92;
const LIST = 91, LIST_END = 93, OBJECT = 123, OBJECT_END = 125;

/** A member of an object, from its key on. */
interface Member {
  readonly start: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly end: number;
}

/**
 * Reads a text.
 *
 * @param bytes JSON in UTF-8
 * @returns `undefined` where the text is no JSON, or a key stands twice
 */
export async function parseJsonPieces(bytes: Uint8Array): Promise<{ value: unknown } | undefined> {
  const start = skipSpace(bytes, 0);
  let end = bytes.length;
  while (end > start && isSpace(bytes[end - 1]!)) end--;
  return await parsePart(bytes, start, end);
}

async function parsePart(
  bytes: Uint8Array,
  start: number,
  end: number,
): Promise<{ value: unknown } | undefined> {
  if (end - start <= PIECE || bytes[start] !== OBJECT) {
    return parsePiece(decode(bytes.subarray(start, end)));
  }
  const members = membersOf(bytes, start, end);
  if (!members) return undefined;
  const value: Json = {};
  for (let i = 0; i < members.length;) {
    const first = members[i++]!;
    let last = first;
    const isLarge = ({ start, end }: Member) => end - start > PIECE;
    let part: { value: unknown } | undefined;
    if (isLarge(first)) {
      const key = parsePiece(`[${decode(bytes.subarray(first.start, first.keyEnd))}]`);
      const inner = await parsePart(bytes, first.valueStart, first.end);
      const name = key && (key.value as string[])[0];
      if (typeof name !== "string" || !inner) return undefined;
      part = { value: Object.fromEntries([[name, inner.value]]) };
    } else {
      while (i < members.length && !isLarge(members[i]!) && last.end - first.start < PIECE) {
        last = members[i++]!;
      }
      part = parsePiece(`{${decode(bytes.subarray(first.start, last.end))}}`);
    }
    if (!isObject(part?.value)) return undefined;
    for (const key of Object.keys(part.value)) {
      if (Object.hasOwn(value, key)) return undefined;
      setMember(value, key, part.value[key]);
    }
    await breathe();
  }
  return { value };
}

function parsePiece(text: string): { value: unknown } | undefined {
  try {
    const value = parseJson(text);
    return countKeys(value) === countWrittenKeys(text) ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members = Object.values(value);
  let count = Array.isArray(value) ? 0 : members.length;
  for (const member of members) count += countKeys(member);
  return count;
}

function countWrittenKeys(text: string): number {
  const string = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?/g;
  let count = 0;
  while (string.test(text)) if (text[string.lastIndex - 1] === ":") count++;
  return count;
}

/** The members of an object; `undefined` where it is none. */
function membersOf(bytes: Uint8Array, start: number, end: number): Member[] | undefined {
  const members: Member[] = [];
  for (let at = start;;) {
    const from = skipSpace(bytes, at + 1);
    if (bytes[from] !== QUOTE) return undefined;
    const keyEnd = skipString(bytes, from);
    const colon = skipSpace(bytes, keyEnd);
    if (bytes[colon] !== COLON) return undefined;
    const valueStart = skipSpace(bytes, colon + 1);
    const to = skipValue(bytes, valueStart, end);
    members.push({ start: from, keyEnd, valueStart, end: to });
    at = skipSpace(bytes, to);
    if (bytes[at] === OBJECT_END) return at === end - 1 ? members : undefined;
    if (bytes[at] !== COMMA || at >= end) return undefined;
  }
}

/** The offset after a value. What is inside of it is read later. */
function skipValue(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at]!;
    if (byte === QUOTE) at = skipString(bytes, at);
    else if (byte === OBJECT || byte === LIST) {
      depth++;
      at++;
    } else if (byte === OBJECT_END || byte === LIST_END) {
      if (depth === 0) return at;
      depth--;
      at++;
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) return at;
    else {
      at++;
      continue;
    }
    if (depth === 0) return at;
  }
  return at;
}

function skipString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    let escapes = 0;
    while (bytes[quote - 1 - escapes] === BACKSLASH) escapes++;
    at = quote + 1;
    if (escapes % 2 === 0) return at;
  }
}

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isSpace(bytes[at]!)) at++;
  return at;
}

const isSpace = (byte: number): boolean =>
  byte === SPACE || byte === LF || byte === CR || byte === TAB;
