/**
 * One file of a description: its text, what it says and where what stands in it.
 *
 * @module
 */
import { decode, decodeLines } from "./utf8.ts";
import { type Finding, findingsOf, type Problem } from "./diagnostics.ts";
import { parseJson } from "../json/lossless.ts";
import { findDuplicateKeys, JsonDepthError, JsonScanner, JsonSyntaxError } from "../json/scan.ts";
import { locate, type Range } from "./locate-values.ts";
import type { File } from "./read-file-or-url.ts";
import { isObject, type Json, type Path, setMember } from "../json/values.ts";
import {
  ANCHOR,
  DUPLICATE_KEY,
  excessOf,
  type Known,
  type Parsed,
  parseYaml,
  UNWRITABLE,
} from "./parse-yaml.ts";

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const SPACE = 32, OBJECT = 123, LIST = 91;

/** A file that has been read. */
export interface Source {
  /** What the file is called in findings. */
  readonly name: string;
  /** The text in UTF-8, without a byte order mark. */
  readonly bytes: Uint8Array;
  /** Whether the text is JSON rather than YAML. */
  readonly isJson: boolean;
  /** What it says; `undefined` where it could not be understood. */
  readonly value: unknown;
  readonly findings: readonly Finding[];
  /** The pieces of the text that are known. */
  readonly known: Known;
  /** Whether the text says what `value` is: not so where a key stands twice, or a number is none. */
  readonly isFaithful: boolean;
}

/** Something wrong at a path within a file. */
export interface Complaint {
  readonly path: Path;
  readonly message: string;
  readonly isFatal?: boolean;
  readonly isError?: boolean;
}

/**
 * Reads a file.
 *
 * @param name what the file is called in findings
 * @param file JSON or YAML in UTF-8
 */
export async function readSource(
  name: string,
  file: Pick<File, "bytes" | "isJson">,
): Promise<Source> {
  const known: Known = new Map();
  const hasMark = BYTE_ORDER_MARK.every((byte, i) => file.bytes[i] === byte);
  const bytes = hasMark ? file.bytes.subarray(BYTE_ORDER_MARK.length) : file.bytes;
  const traits = traitsOf(bytes);
  if (!traits) return unreadable(name, "is not text in UTF-8");
  if (bytes.includes(0)) return unreadable(name, "is binary, not text");
  const first = bytes.find((byte) => byte > SPACE);
  if (first === undefined) return unreadable(name, "is empty");
  // Some call everything JSON.
  if (first === OBJECT || first === LIST) {
    const text = decode(bytes);
    const { value, problems, isYaml } = parseStrictly(text);
    if (value !== undefined) {
      const all = [...problems, ...traits.hasUnwritable ? findLargeNumbers(text) : []];
      const findings = findingsOf(name, text, all);
      return { name, bytes, isJson: true, value, known, findings, isFaithful: all.length === 0 };
    }
    if (file.isJson || !isYaml) {
      return { ...unreadable(name, ""), findings: findingsOf(name, text, problems) };
    }
  }
  const parsed = await parseYaml(bytes, known);
  const { value, problems } = traits.hasAnchor ? boundAliases(parsed, bytes) : parsed;
  const source = { name, bytes, isJson: false, value, known, findings: [] };
  const unwritable = traits.hasUnwritable ? replaceInfinities(value) : [];
  const findings = [
    ...problems.length > 0 ? findingsOf(name, decode(bytes), problems) : [],
    ...complain(source, [...unwritable, ...traits.hasMergeKey ? mergeKeys(value) : []]),
  ];
  return { ...source, findings, isFaithful: problems.length + unwritable.length === 0 };
}

/** Gives complaints about a file their lines and columns. */
export function complain(
  { name, bytes, isJson }: Pick<Source, "name" | "bytes" | "isJson">,
  complaints: readonly Complaint[],
): Finding[] {
  if (complaints.length === 0) return [];
  const text = decode(bytes);
  const ranges: Range[] = locate(text, isJson, complaints.map(({ path }) => path));
  const problems = complaints.map(({ message, isFatal = false, isError }, i): Problem => ({
    offset: ranges[i]![0],
    message,
    isFatal,
    isError,
  }));
  return findingsOf(name, text, problems);
}

/** A file that cannot be understood, as a source whose finding is fatal. */
export function unreadable(name: string, message: string): Source {
  const level = "error" as const;
  const findings = [{ file: name, line: 1, column: 1, message, isFatal: true, level }];
  return {
    name,
    bytes: new Uint8Array(),
    isJson: false,
    value: undefined,
    findings,
    known: new Map(),
    isFaithful: false,
  };
}

/** What is to be looked for in a text; nothing where it is not in UTF-8. */
function traitsOf(bytes: Uint8Array) {
  const traits = { hasAnchor: false, hasUnwritable: false, hasMergeKey: false };
  try {
    for (const text of decodeLines(bytes)) {
      traits.hasAnchor ||= ANCHOR.test(text);
      traits.hasUnwritable ||= UNWRITABLE.test(text);
      traits.hasMergeKey ||= /<<["']?\s*:/.test(text);
    }
    return traits;
  } catch {
    return undefined;
  }
}

/** What a text says whose aliases do not stand for too much. */
function boundAliases(parsed: Parsed, bytes: Uint8Array): Parsed {
  const message = excessOf(parsed.value);
  if (!message) return parsed;
  const offset = Math.max(decode(bytes).search(ANCHOR), 0);
  return { value: undefined, problems: [{ offset, message, isFatal: true }] };
}

/** What a text says that is JSON, and whether it may be YAML where it is none. */
function parseStrictly(text: string): Parsed & { isYaml: boolean } {
  try {
    const value = parseJson(text);
    const problems = findDuplicateKeys(text)
      .map((offset) => ({ offset, message: DUPLICATE_KEY, isFatal: false }));
    return { value, problems, isYaml: false };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const { offset, message } = error;
    const problems = [{ offset, message: `is not JSON: ${message}`, isFatal: true }];
    return { value: undefined, problems, isYaml: !(error instanceof JsonDepthError) };
  }
}

/** The numbers of a JSON text that {@linkcode parseJson} reads as strings. */
function findLargeNumbers(text: string): Problem[] {
  const scanner = new JsonScanner(text);
  const message =
    "this number is above all that readers of JSON can hold; it is served as a string";
  const problems: Problem[] = [];
  while (scanner.next()) {
    if (scanner.kind !== "number" || Number.isFinite(Number(scanner.raw))) continue;
    problems.push({ offset: scanner.start, message, isFatal: false });
  }
  return problems;
}

/** Puts `null` in the place of the numbers that JSON has no form for, as JSON does. */
function replaceInfinities(
  value: unknown,
  path: Path = [],
  done = new Set<unknown>(),
): Complaint[] {
  if (typeof value !== "object" || value === null || done.has(value)) return [];
  done.add(value);
  return Object.entries(value).flatMap(([key, member]) => {
    const at = [...path, key];
    if (typeof member !== "number" || Number.isFinite(member)) {
      return replaceInfinities(member, at, done);
    }
    setMember(value as Json, key, null);
    return [{ path: at, message: "this number has no form in JSON, where it is null" }];
  });
}

/** YAML 1.1 merged what stands beside `<<`; YAML 1.2 does not. */
function mergeKeys(value: unknown, path: Path = [], done = new Set()): Complaint[] {
  if (typeof value !== "object" || value === null || done.has(value)) return [];
  done.add(value);
  return Object.entries(value).flatMap(([key, member]) => {
    const at = [...path, key];
    const inner = mergeKeys(member, at, done);
    if (key !== "<<" || !isObject(value)) return inner;
    const message = "YAML 1.2 has no merge keys: this is a key called <<, and nothing is merged";
    return [{ path: at, message }, ...inner];
  });
}
