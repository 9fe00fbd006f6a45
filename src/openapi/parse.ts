/**
 * Parses a file of a description: the value, the diagnostics of its text, and the places of what stands in it.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { readNumber } from "../json/lossless.ts";
import { JsonDepthError, JsonScanner, JsonSyntaxError } from "../json/scan.ts";
import { type Json, type Path, setMember } from "../json/values.ts";
import { excerpt } from "../untrusted-text.ts";
import { createDiagnostics, type Diagnostics } from "./diagnostics.ts";
import { DUPLICATE_KEY, formatSize, LARGE_NUMBER, LIMITS, TOO_MANY_NODES } from "./limits.ts";
import { parseYaml } from "./yaml.ts";

/** A file that has been parsed. What aliases of YAML stand for is shared: change copies only. */
export interface Source {
  /** Of diagnostics. */
  readonly name: string;
  readonly text: string;
  /** `undefined` where a diagnostic is fatal. */
  readonly value: unknown;
  readonly diagnostics: Diagnostics;
  /**
   * Finds the values at some paths.
   *
   * @returns an offset for each path; of one that leads nowhere, that of the nearest value on its way
   */
  readonly offsetsOf: (paths: readonly Path[]) => readonly number[];
}

/** The content of a file. */
interface TextFile {
  readonly bytes: Bytes;
  /** Whether it says of itself that it is JSON, by its name or its media type. */
  readonly isJson: boolean;
}

/**
 * Parses a file. Never throws: what is thrown on the way is a diagnostic.
 *
 * @param name what the file is called in diagnostics
 * @param file JSON or YAML in UTF-8, with or without a byte order mark
 */
export function parse(name: string, file: TextFile): Source {
  try {
    return parseText(name, file);
  } catch (error) {
    return unreadable(name, `cannot be read: ${excerpt((error as Error).message)}`);
  }
}

function parseText(
  name: string,
  { bytes, isJson }: TextFile,
): Source {
  const text = decode(bytes);
  if (typeof text !== "string") return unreadable(name, text.refusal);
  const tooLarge = (limit: number, what: string) =>
    unreadable(name, `is larger than ${formatSize(limit)}, the most that ${what} may be`);
  const first = text.search(/\S/);
  if (first === -1) return unreadable(name, "is empty");
  // Some servers call YAML JSON, so the first character decides.
  if (text[first] === "{" || text[first] === "[") {
    if (bytes.length > LIMITS.json) return tooLarge(LIMITS.json, "JSON");
    const parsed = parseJson(text);
    if (isJson || !parsed.isOther) return { name, text, ...parsed };
  }
  if (bytes.length > LIMITS.yaml) return tooLarge(LIMITS.yaml, "YAML");
  const diagnostics = createDiagnostics();
  return { name, text, diagnostics, ...parseYaml(text, diagnostics) };
}

/** A file that cannot be understood, as a source whose diagnostic is fatal. */
export function unreadable(name: string, message: string): Source {
  const diagnostics = createDiagnostics();
  diagnostics.add("fatal", message, () => 0);
  return { name, text: "", value: undefined, diagnostics, offsetsOf: nowhere };
}

const nowhere = (paths: readonly Path[]) => paths.map(() => 0);

/** Decodes bytes as text, without a byte order mark, or why they are none. */
function decode(bytes: Bytes): string | { refusal: string } {
  const [first, second] = bytes;
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  // What begins with a character of ASCII has a zero beside it.
  if (hasMark || (bytes.length > 1 && (first === 0) !== (second === 0))) {
    return { refusal: "is text in UTF-16; write it in UTF-8" };
  }
  if (bytes.includes(0)) return { refusal: "is binary, not text" };
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { refusal: "is not text in UTF-8" };
  }
}

/**
 * Parses JSON in one pass.
 *
 * @returns with `isOther` where it is no JSON, but may be YAML
 */
function parseJson(
  text: string,
): Pick<Source, "value" | "diagnostics" | "offsetsOf"> & { readonly isOther: boolean } {
  const diagnostics = createDiagnostics();
  const fail = (offset: number, message: string, isOther = false) => {
    diagnostics.add("fatal", message, () => offset);
    return { value: undefined, diagnostics, isOther, offsetsOf: nowhere };
  };
  const scanner = new JsonScanner(text, LIMITS.depth);
  const root: Json = {};
  const open: (Json | unknown[])[] = [root];
  let key = "";
  try {
    for (let nodes = 0; scanner.next();) {
      const { kind, start } = scanner;
      const parent = open.at(-1)!;
      if (kind === "key") {
        key = scanner.string;
        if (Object.hasOwn(parent, key)) diagnostics.add("note", DUPLICATE_KEY, () => start);
        continue;
      }
      if (kind === "}" || kind === "]") {
        open.pop();
        continue;
      }
      if (++nodes > LIMITS.nodes) return fail(start, TOO_MANY_NODES);
      const value = valueOf(scanner);
      if (kind === "number" && typeof value === "string") {
        diagnostics.add("note", LARGE_NUMBER, () => start);
      }
      if (Array.isArray(parent)) parent.push(value);
      else setMember(parent, key, value);
      if (kind === "{" || kind === "[") open.push(value as Json | unknown[]);
    }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const isOther = !(error instanceof JsonDepthError);
    return fail(error.offset, `is not JSON: ${error.message}`, isOther);
  }
  const offsetsOf = (paths: readonly Path[]) => offsetsIn(text, paths);
  return { value: root[""], diagnostics, isOther: false, offsetsOf };
}

function valueOf(scanner: JsonScanner): unknown {
  const { kind } = scanner;
  if (kind === "{") return {};
  if (kind === "[") return [];
  return kind === "number" ? readNumber(scanner.raw) : JSON.parse(scanner.raw);
}

/** Places that are looked for within a value: the paths that lead to it, and its members. */
interface Wanted {
  readonly paths: number[];
  readonly members: Map<string, Wanted>;
}

/** Finds the values at some paths, all in one pass; of one that is not there, what is nearest. */
function offsetsIn(text: string, paths: readonly Path[]): number[] {
  const offsets = paths.map(() => 0);
  const root: Wanted = { paths: [], members: new Map() };
  paths.forEach((path, index) => {
    let wanted = root;
    for (const key of path) {
      const next: Wanted = wanted.members.get(key) ?? { paths: [], members: new Map() };
      wanted.members.set(key, next);
      next.paths.push(index);
      wanted = next;
    }
  });
  /** The objects and lists around the place. */
  const around: { wanted: Wanted | undefined; isList: boolean; index: number }[] = [];
  const scanner = new JsonScanner(text);
  let wanted: Wanted | undefined = root;
  while (scanner.next()) {
    const { kind, start } = scanner;
    if (kind === "}" || kind === "]") {
      around.pop();
      continue;
    }
    const parent = around.at(-1);
    if (kind === "key") wanted = parent?.wanted?.members.get(scanner.string);
    else if (parent?.isList) wanted = parent.wanted?.members.get(String(parent.index++));
    // A value comes after its key, and its place is the one that counts.
    for (const index of wanted?.paths ?? []) offsets[index] = start;
    if (kind === "{" || kind === "[") around.push({ wanted, isList: kind === "[", index: 0 });
  }
  return offsets;
}
