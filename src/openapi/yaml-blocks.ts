/**
 * The outline of a YAML text that its indentation gives away: which lines belong to which entry of
 * a block mapping (YAML 1.2.2, section 8.2.2). Whatever an entry holds, a block scalar or a quoted text
 * over many lines, stands further to the right than its key, so the lines need not be understood.
 *
 * @module
 */
import { parse } from "yaml";
import { decode } from "./utf8.ts";

/** A text, as it is or in UTF-8. Offsets count in its own units, characters or bytes. */
export interface Characters {
  readonly length: number;
  /** What stands at an offset: a code of ASCII, or something above. */
  code(at: number): number;
  /** Where the next line feed is, from an offset on; -1 where there is none. */
  lineFeed(from: number): number;
  slice(start: number, end: number): string;
}

/** A text as it is. */
export function ofText(text: string): Characters {
  return {
    length: text.length,
    code: (at) => text.charCodeAt(at),
    lineFeed: (from) => text.indexOf("\n", from),
    slice: (start, end) => text.slice(start, end),
  };
}

/** A text in UTF-8, of which only small parts are ever there as strings. */
export function ofBytes(bytes: Uint8Array): Characters {
  return {
    length: bytes.length,
    code: (at) => bytes[at]!,
    lineFeed: (from) => bytes.indexOf(LF, from),
    slice: (start, end) => decode(bytes.subarray(start, end)),
  };
}

/** One key of a block mapping, with all the lines up to the next. */
export interface Entry {
  /** The key as it is written. */
  readonly key: string;
  /** Where the key begins. */
  readonly keyStart: number;
  /** Where the key's line begins. */
  readonly start: number;
  /** Where the line after the key begins. */
  readonly bodyStart: number;
  /** Where the line after the last with a content begins: blank lines and comments may follow. */
  readonly contentEnd: number;
  /** Where the next entry begins. */
  readonly end: number;
  /** Whether nothing but a comment stands beside the key. */
  readonly isBare: boolean;
}

/** Begins or ends a document (YAML 1.2.2, section 9.1). */
const MARKER = /^(?:---|\.\.\.)(?:\s|$)/;

/** A block mapping. */
export interface Block {
  readonly indent: number;
  readonly entries: readonly Entry[];
}

const SPACE = 32, TAB = 9, LF = 10, CR = 13, HASH = 35, DASH = 45;

/** How much of a line is looked at: keys are shorter than 1024 characters. */
const LINE_MAX = 8192;

/** A key in quotes or plain, and the colon after it. */
const KEY =
  /("(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|(?:[^\s,[\]{}#&*!|>'"%@`?:-]|[?:-](?=\S))(?:[^\n\r:]|:(?=\S))*?)[ \t]*:(?=[ \t\r\n]|$)/y;

/** The rest of a line on which nothing stands. */
const REST = /(?:[ \t]+#[^\n]*|[ \t]*)\r?(?:\n|$)/y;

/**
 * Splits a part of a text into the entries of the block mapping that it is.
 *
 * @param text the whole text
 * @param start where a line begins
 * @param end where the part ends
 * @returns `undefined` where the part is no block mapping, or one that cannot be split with certainty
 */
export function splitBlock(text: Characters, start: number, end: number): Block | undefined {
  const entries: Writable<Entry>[] = [];
  let indent = -1;
  for (let at = start, next = start; at < end; at = next) {
    next = nextLine(text, at, end);
    let first = at;
    while (first < next && text.code(first) === SPACE) first++;
    const code = first < next ? text.code(first) : LF;
    const column = first - at;
    if (code === LF || code === CR) continue;
    if (code === HASH && column <= Math.max(indent, 0)) continue;
    const entry = entries.at(-1);
    if (code === HASH && !entry) continue;
    if (code === TAB && text.slice(first, next).trim() === "") continue;
    const isItem = code === DASH && (first + 1 >= next || text.code(first + 1) <= SPACE);
    if (entry && (column > indent || (isItem && column === indent))) {
      entry.contentEnd = next;
      continue;
    }
    if (entry && column < indent) return undefined;
    const line = text.slice(first, Math.min(next, first + LINE_MAX));
    if (column === 0 && MARKER.test(line)) return undefined;
    KEY.lastIndex = 0;
    const key = isItem ? null : KEY.exec(line);
    if (!key) return undefined;
    indent = column;
    if (entry) entry.end = at;
    REST.lastIndex = KEY.lastIndex;
    entries.push({
      key: key[1]!,
      keyStart: first,
      start: at,
      bodyStart: next,
      contentEnd: next,
      end,
      isBare: next - first <= LINE_MAX && REST.test(line),
    });
  }
  return entries.length > 0 ? { indent, entries } : undefined;
}

/** Where the content of a text begins: after a line of three dashes, if there is one. */
export function contentStart(text: Characters): number {
  for (let at = 0, next = 0; at < text.length; at = next) {
    next = nextLine(text, at, text.length);
    const line = text.slice(at, Math.min(next, at + LINE_MAX));
    if (/^---[ \t]*(?:#[^\n]*)?\r?\n?$/.test(line)) return next;
    if (!/^[ \t]*(?:#[^\n]*)?\r?\n?$/.test(line)) return 0;
  }
  return 0;
}

function nextLine(text: Characters, at: number, end: number): number {
  const feed = text.lineFeed(at);
  return feed === -1 || feed >= end ? end : feed + 1;
}

/** The key of an entry as a member of an object is called. */
export function nameOf({ key }: Entry): string {
  if (/^[A-Za-z/][\w/{}.$-]*$/.test(key) && !/^(?:true|false|null)$/i.test(key)) return key;
  try {
    const value: unknown = parse(key, { intAsBigInt: true });
    return value === null ? "" : String(value);
  } catch {
    // What is wrong with it is said of the whole text.
    return key;
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
