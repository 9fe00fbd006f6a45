/**
 * One file of a description: its text, what it says and where what stands in it.
 *
 * @module
 */
import { type Finding, findingsOf, type Problem } from "./finding.ts";
import { parseJson } from "../json.ts";
import { findMistake } from "./json-mistake.ts";
import { locate, type Range } from "./positions.ts";
import type { File } from "./reader.ts";
import { isObject, type Json, type Path, setMember } from "./values.ts";
import { type Known, parseYaml, UNWRITABLE } from "./yaml.ts";

/** A file that has been read. */
export interface Source {
  /** What the file is called in findings. */
  readonly name: string;
  readonly text: string;
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
}

/**
 * Reads a file.
 *
 * @param name what the file is called in findings
 * @param file JSON or YAML
 */
export async function readSource(
  name: string,
  { text, isJson }: Pick<File, "text" | "isJson">,
): Promise<Source> {
  const known: Known = new Map();
  if (text === undefined) return unreadable(name, "is not text in UTF-8");
  if (text.includes("\0")) return unreadable(name, "is binary, not text");
  if (text.trim() === "") return unreadable(name, "is empty");
  // Some call everything JSON.
  if (/^\s*[{[]/.test(text)) {
    const value = tryJson(text);
    if (value === undefined && isJson) {
      const { offset, message } = findMistake(text);
      const problem = { offset, message: `is not JSON: ${message}`, isFatal: true };
      return { ...unreadable(name, ""), findings: findingsOf(name, text, [problem]) };
    }
    // Where a key stands twice, YAML says so.
    if (value !== undefined && countKeys(value) === countWrittenKeys(text)) {
      return { name, text, isJson: true, value, findings: [], known, isFaithful: true };
    }
  }
  const { value, problems } = await parseYaml(text, known);
  const source = { name, text, isJson: false, value, known, findings: [] };
  const unwritable = UNWRITABLE.test(text) ? replaceInfinities(value) : [];
  const findings = [
    ...findingsOf(name, text, problems),
    ...complain(source, [...unwritable, ...mergeKeys(text, value)]),
  ];
  return { ...source, findings, isFaithful: problems.length + unwritable.length === 0 };
}

/** Gives complaints about a file their lines and columns. */
export function complain(
  { name, text, isJson }: Pick<Source, "name" | "text" | "isJson">,
  complaints: readonly Complaint[],
): Finding[] {
  if (complaints.length === 0) return [];
  const ranges: Range[] = locate(text, isJson, complaints.map(({ path }) => path));
  const problems = complaints.map(({ message, isFatal = false }, i): Problem => ({
    offset: ranges[i]![0],
    message,
    isFatal,
  }));
  return findingsOf(name, text, problems);
}

/** A file that cannot be understood, as a source whose finding is fatal. */
export function unreadable(name: string, message: string): Source {
  const findings = [{ file: name, line: 1, column: 1, message, isFatal: true }];
  return {
    name,
    text: "",
    isJson: false,
    value: undefined,
    findings,
    known: new Map(),
    isFaithful: false,
  };
}

/** The value of a text that is JSON. */
function tryJson(text: string): unknown {
  try {
    return parseJson(text);
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
function mergeKeys(text: string, value: unknown, path: Path = [], done = new Set()): Complaint[] {
  if (path.length === 0 && !/<<["']?\s*:/.test(text)) return [];
  if (typeof value !== "object" || value === null || done.has(value)) return [];
  done.add(value);
  return Object.entries(value).flatMap(([key, member]) => {
    const at = [...path, key];
    const inner = mergeKeys(text, member, at, done);
    if (key !== "<<" || !isObject(value)) return inner;
    const message = "YAML 1.2 has no merge keys: this is a key called <<, and nothing is merged";
    return [{ path: at, message }, ...inner];
  });
}
