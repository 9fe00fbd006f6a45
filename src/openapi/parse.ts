/**
 * Parses a file of a description: the value, the diagnostics of its text, and the places of what stands in it.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { valueOf } from "../json/lossless.ts";
import { JsonDepthError, JsonScanner, JsonSyntaxError } from "../json/scan.ts";
import { type Json, type Path, setMember } from "../json/values.ts";
import { excerpt } from "../untrusted-text.ts";
import {
  createDiagnostics,
  type Diagnostics,
  DUPLICATE_KEY,
  formatSize,
  LARGE_NUMBER,
  LIMITS,
  type Offsets,
  offsetsIn,
  TOO_MANY_NODES,
} from "./diagnostics.ts";
import { parseYaml } from "./yaml.ts";

/** A file that has been parsed. What aliases of YAML stand for is shared: change copies only. */
export interface Source {
  readonly name: string;
  readonly text: string;
  /** `undefined` where a diagnostic is fatal. */
  readonly value: unknown;
  readonly diagnostics: Diagnostics;
  /** Finds the values at some paths; of a path that leads nowhere, the nearest value on its way. */
  readonly offsetsOf: (paths: readonly Path[]) => readonly number[];
}

interface TextFile {
  readonly bytes: Bytes;
  readonly isJson: boolean;
}

/** Parses a file of JSON or YAML in UTF-8. Never throws: what is thrown on the way is a diagnostic. */
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

export function unreadable(name: string, message: string): Source {
  const diagnostics = createDiagnostics();
  diagnostics.add("fatal", message, () => 0);
  return { name, text: "", value: undefined, diagnostics, offsetsOf: nowhere };
}

const nowhere = (paths: readonly Path[]) => paths.map(() => 0);

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

/** Parses JSON in one pass; `isOther` says that it is no JSON, but may be YAML. */
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
  const offsets: Offsets = new Map();
  /** The objects and lists around the place, with where the members of each stand. */
  const open: [Json | unknown[], Map<string | number, number>][] = [[root, new Map()]];
  let key = "";
  try {
    for (let nodes = 0; scanner.next();) {
      const { kind, start } = scanner;
      const [parent, places] = open.at(-1)!;
      if (kind === "key") {
        key = scanner.string;
        if (Object.hasOwn(parent, key)) diagnostics.add("note", DUPLICATE_KEY, () => start);
        continue;
      }
      if (kind === "}" || kind === "]") {
        open.pop();
        const inOrder = Array.isArray(parent)
          ? [...places.values()]
          : Object.keys(parent).map((key) => places.get(key)!);
        offsets.set(parent, inOrder);
        continue;
      }
      if (++nodes > LIMITS.nodes) return fail(start, TOO_MANY_NODES);
      const value = valueOf(scanner);
      if (kind === "number" && typeof value === "string") {
        diagnostics.add("note", LARGE_NUMBER, () => start);
      }
      if (Array.isArray(parent)) {
        places.set(parent.length, start);
        parent.push(value);
      } else {
        places.set(key, start);
        setMember(parent, key, value);
      }
      if (kind === "{" || kind === "[") open.push([value as Json | unknown[], new Map()]);
    }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const isOther = !(error instanceof JsonDepthError);
    return fail(error.offset, `is not JSON: ${error.message}`, isOther);
  }
  const value = root[""];
  const offsetsOf = (paths: readonly Path[]) => offsetsIn(value, offsets, paths);
  return { value, diagnostics, isOther: false, offsetsOf };
}
