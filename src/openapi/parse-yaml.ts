/**
 * Reads YAML 1.2 by the core schema: dates and `yes` are strings, `<<` is a key like any other.
 *
 * A large text is read in pieces, an entry of a block mapping after the other, since the library
 * needs twenty times the size of a text to read it at once. Where a piece is not plainly right, the
 * text is read as a whole, and that says what is wrong.
 *
 * @module
 */
import {
  type Document,
  parseDocument,
  type ParseOptions,
  type SchemaOptions,
  type YAMLError,
} from "yaml";
import {
  type Block,
  type Characters,
  contentStart,
  type Entry,
  ofBytes,
  splitBlock,
} from "./yaml-blocks.ts";
import { areEqual, decode } from "./utf8.ts";
import type { Problem } from "./diagnostics.ts";
import { exact, formatJson, mayHoldLarge, parseJson } from "../json/lossless.ts";
import { DEPTH_MAX, JsonDepthError } from "../json/scan.ts";
import { isObject, type Json, setMember } from "../json/values.ts";
import { breathe } from "./yield-to-requests.ts";

/** What a text says, and what is wrong with it. */
export interface Parsed {
  /** `undefined` where a problem is fatal. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
}

/** The values of pieces that have been read: by a number that is the same for the same bytes. */
export type Known = Map<number, { readonly bytes: Uint8Array; readonly value: unknown }>;

/** How long a piece is at least, in characters, unless the text ends. */
const PIECE = 4096;

/** How many values aliases may stand for: so many, or ten for each that is written. */
const EXPANDED_MIN = 100_000, EXPANDED_RATIO = 10;

/** What is said of a key that stands twice in its object. */
export const DUPLICATE_KEY = "the same key stands here a second time; the last one counts";

/** What the library says of an error where there is something better to say. */
const MESSAGES: Readonly<Record<string, string>> = {
  DUPLICATE_KEY,
  MULTIPLE_DOCS: "a second document begins here; a description is a single one",
};

/**
 * Reads a text.
 *
 * @param bytes YAML 1.2 in UTF-8
 * @param known pieces that have been read before; those read now are added
 */
export async function parseYaml(bytes: Uint8Array, known: Known = new Map()): Promise<Parsed> {
  const text = ofBytes(bytes);
  const pieces = await parsePieces(bytes, text, contentStart(text), text.length, known);
  return pieces ? { value: pieces.value, problems: [] } : parseWhole(decode(bytes));
}

/** How the library reads a piece. */
export function parsingOptions(text: string): ParseOptions & SchemaOptions {
  return {
    prettyErrors: false,
    resolveKnownTags: false,
    intAsBigInt: mayBeLarge(text),
    logLevel: "error",
  } as ParseOptions & SchemaOptions;
}

/** Reads a part entry by entry; `undefined` where that is not certain to be right. */
async function parsePieces(
  bytes: Uint8Array,
  text: Characters,
  start: number,
  end: number,
  known: Known,
): Promise<{ value: Json } | undefined> {
  const block = splitBlock(text, start, end);
  if (!block) return undefined;
  const value: Json = {};
  for (const { from, to, entry } of groupsOf(block)) {
    await breathe();
    const inner = entry && await parsePieces(bytes, text, entry.bodyStart, entry.end, known);
    const members = inner && entry
      ? withValue(parsePiece(bytes.subarray(entry.keyStart, entry.bodyStart), known), inner.value)
      : parsePiece(bytes.subarray(from, to), known);
    if (!isObject(members)) return undefined;
    for (const key of Object.keys(members)) {
      if (Object.hasOwn(value, key)) return undefined;
      setMember(value, key, members[key]);
    }
  }
  return { value };
}

/** What a key with nothing after it says, with a value in its place. */
function withValue(members: unknown, value: Json): Json | undefined {
  const [key, ...others] = isObject(members) ? Object.keys(members) : [];
  if (key === undefined || others.length > 0) return undefined;
  const entry: Json = {};
  setMember(entry, key, value);
  return entry;
}

/** A part of a text that is read at once. */
interface Group {
  from: number;
  to: number;
  /** The only entry of a group, where it is large enough to be read in pieces itself. */
  entry?: Entry;
}

/** Puts small entries together, and leaves large ones alone. */
function groupsOf({ entries }: Block): Group[] {
  const groups: Group[] = [];
  let open: Group | undefined;
  for (const entry of entries) {
    const { start: from, end: to, isBare } = entry;
    if (isBare && to - from > PIECE) {
      groups.push({ from, to, entry });
      open = undefined;
    } else if (open && open.to - open.from < PIECE) open.to = to;
    else groups.push(open = { from, to });
  }
  return groups;
}

function parsePiece(bytes: Uint8Array, known: Known): unknown {
  const hash = hashOf(bytes);
  const found = known.get(hash);
  if (found && areEqual(found.bytes, bytes)) return found.value;
  const text = decode(bytes);
  const document = parseDocument(text, parsingOptions(text));
  if (document.errors.length > 0 || document.warnings.length > 0) return undefined;
  try {
    const value = valueOf(document, text);
    known.set(hash, { bytes, value });
    return value;
  } catch {
    // An alias, whose anchor is in another piece.
    return undefined;
  }
}

/** A number of 32 bits for some bytes (FNV-1a). */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash;
}

function parseWhole(text: string): Parsed {
  try {
    return parseAtOnce(text);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof JsonDepthError)) throw error;
    const message = `is nested more than ${DEPTH_MAX} levels deep`;
    return { value: undefined, problems: [{ offset: 0, message, isFatal: true }] };
  }
}

function parseAtOnce(text: string): Parsed {
  const document = parseDocument(text, { ...parsingOptions(text), uniqueKeys: true });
  const problems = [...document.errors, ...document.warnings].map(problemOf);
  if (problems.some((problem) => problem.isFatal)) return { value: undefined, problems };
  try {
    return { value: valueOf(document, text), problems };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    const name = /: (\S+)$/.exec((error as Error).message)?.[1] ?? "";
    const offset = Math.max(text.indexOf(` *${name}`) + 1, 0);
    const message = `the alias *${name} has no anchor before it`;
    return { value: undefined, problems: [...problems, { offset, message, isFatal: true }] };
  }
}

function valueOf(document: Document, text: string): unknown {
  // Aliases are bounded by what they stand for, not by how many there are.
  const value: unknown = document.toJS({ maxAliasCount: -1 });
  // The strings that the library puts together take up to thirty times their size, those it cuts out
  // keep the whole text; JSON makes new ones of them.
  if (!ANCHOR.test(text) && !UNWRITABLE.test(text)) return parseJson(formatJson(value));
  return mayBeLarge(text) ? withExactNumbers(value) : value;
}

/** Whether a text may hold a whole number that `number` cannot, in any base. */
function mayBeLarge(text: string): boolean {
  return mayHoldLarge(text) || /0x[\da-f]{14}|0o[0-7]{18}/i.test(text);
}

function problemOf({ code, message, name, pos }: YAMLError): Problem {
  return {
    offset: pos[0],
    message: MESSAGES[code] ?? `is not YAML: ${message}`,
    isFatal: name === "YAMLParseError" && code !== "DUPLICATE_KEY",
  };
}

/** Makes numbers of the whole numbers that a number can hold. */
function withExactNumbers(value: unknown, done: Set<unknown> = new Set()): unknown {
  if (typeof value === "bigint") return exact(value);
  if (typeof value !== "object" || value === null || done.has(value)) return value;
  done.add(value);
  for (const [key, member] of Object.entries(value)) {
    const number = withExactNumbers(member, done);
    if (number !== member) setMember(value as Json, key, number);
  }
  return value;
}

/** What may be a number that JSON has no form for: infinite, none, or above all others. */
export const UNWRITABLE: RegExp = /\.(?:inf|nan)\b|\de\+?\d{3}|\d{309}/i;

/** What stands before a name that aliases refer to. */
export const ANCHOR: RegExp = /(?:^|[\s[{,:-])&[^\s,[\]{}]/m;

/** What is wrong with the aliases in a value, whose members may be shared. */
export function excessOf(value: unknown): string | undefined {
  const sizes = new Map<unknown, number>();
  let written = 0;
  /** Counts the values that a value stands for; 0 while it is being counted. */
  const count = (value: unknown): number => {
    written++;
    if (typeof value !== "object" || value === null) return 1;
    const known = sizes.get(value);
    if (known === 0) throw new RangeError();
    if (known !== undefined) return known;
    sizes.set(value, 0);
    let size = 1;
    for (const member of Object.values(value)) size += count(member);
    sizes.set(value, size);
    return size;
  };
  try {
    if (count(value) <= Math.max(EXPANDED_MIN, EXPANDED_RATIO * written)) return undefined;
    return `the aliases stand for more than ${EXPANDED_RATIO} times what is written`;
  } catch {
    return "an alias stands for a value that it is a part of";
  }
}
