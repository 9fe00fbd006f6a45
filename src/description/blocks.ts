/**
 * The outline of a YAML text that its indentation gives away: which lines belong to which entry of
 * a block mapping (YAML 1.2.2, section 8.2.2). Whatever an entry holds, a block scalar or a quoted text
 * over many lines, stands further to the right than its key, so the lines need not be understood.
 *
 * @module
 */
import { parse } from "yaml";

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

/** A block mapping. */
export interface Block {
  readonly indent: number;
  readonly entries: readonly Entry[];
}

const SPACE = 32, TAB = 9, LF = 10, CR = 13, HASH = 35, DASH = 45;

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
export function splitBlock(text: string, start: number, end: number): Block | undefined {
  const entries: Writable<Entry>[] = [];
  let indent = -1;
  for (let at = start, next = start; at < end; at = next) {
    const newline = text.indexOf("\n", at);
    next = newline === -1 || newline >= end ? end : newline + 1;
    let first = at;
    while (first < next && text.charCodeAt(first) === SPACE) first++;
    const code = first < next ? text.charCodeAt(first) : LF;
    const column = first - at;
    if (code === LF || code === CR) continue;
    if (code === HASH && column <= Math.max(indent, 0)) continue;
    const entry = entries.at(-1);
    if (code === HASH && !entry) continue;
    if (code === TAB && text.slice(first, next).trim() === "") continue;
    const isItem = code === DASH && /\s/.test(text.charAt(first + 1) || "\n");
    if (entry && (column > indent || (isItem && column === indent))) {
      entry.contentEnd = next;
      continue;
    }
    if (entry && column < indent) return undefined;
    KEY.lastIndex = first;
    const key = KEY.exec(text);
    if (isItem || !key || key.index + key[0].length > next) return undefined;
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
      isBare: REST.test(text),
    });
  }
  return entries.length > 0 ? { indent, entries } : undefined;
}

/** Where the content of a text begins: after a line of three dashes, if there is one. */
export function contentStart(text: string): number {
  return /^(?:[ \t]*(?:#[^\n]*)?\r?\n)*---[ \t]*(?:#[^\n]*)?\r?\n/.exec(text)?.[0].length ?? 0;
}

/** The key of an entry as a member of an object is called. */
export function nameOf({ key }: Entry): string {
  if (/^[A-Za-z/][\w/{}.$-]*$/.test(key) && !/^(?:true|false|null)$/i.test(key)) return key;
  const value: unknown = parse(key, { intAsBigInt: true });
  return value === null ? "" : String(value);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
