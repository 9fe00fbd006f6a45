/**
 * Parses a description file. Returns the document, diagnostics, and the text offset of each value
 * in the document.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { buildingJson, readNumber } from "../json/lossless.ts";
import { JsonScanner, JsonSyntaxError } from "../json/scan.ts";
import { setMember } from "../json/values.ts";
import { inSlices, type Work } from "../slices.ts";
import { excerpt } from "../untrusted-text.ts";
import {
  Diagnostics,
  LIMITS,
  MESSAGES,
  type Offsets,
  type ParsedFile,
  type Provenance,
  SizeCounter,
  TextError,
} from "./diagnostics.ts";
import { type Parsed, parseYaml } from "./yaml.ts";

/**
 * The values of a parsed file must not be mutated, since several YAML aliases may refer to one
 * object.
 */
export interface DiagnosedFile extends ParsedFile {
  readonly diagnostics: Diagnostics;
}

/** Never rejects: errors become diagnostics. */
export async function parse(
  name: string,
  { bytes, isJson }: { readonly bytes: Bytes; readonly isJson: boolean },
  provenance: Provenance = "disk",
): Promise<DiagnosedFile> {
  let text = "";
  let tally = new SizeCounter(provenance);
  let diagnostics = new Diagnostics();
  try {
    tally.add("bytes", bytes.length);
    text = decodeDocument(bytes);
    const [first] = /\S/.exec(text) ?? [];
    if (first === undefined) throw new TextError("is empty");
    // Some servers label YAML as JSON, so the first character decides the format.
    if (first === "{" || first === "[") {
      try {
        return { name, text, diagnostics, ...await inSlices(readJson(text, diagnostics, tally)) };
      } catch (error) {
        if (isJson || !(error instanceof JsonSyntaxError)) throw error;
        diagnostics = new Diagnostics();
        tally = new SizeCounter(provenance);
      }
    }
    return { name, text, diagnostics, ...await inSlices(parseYaml(text, diagnostics, tally)) };
  } catch (error) {
    return unreadable(name, faultOf(error), text, diagnostics);
  }
}

function faultOf(error: unknown): TextError {
  if (error instanceof TextError) return error;
  const { message } = error as Error;
  return error instanceof JsonSyntaxError
    ? new TextError(`is not JSON: ${message}`, error.offset)
    : unreadableBecause(excerpt(message));
}

export const unreadableBecause = (reason: string): TextError =>
  new TextError("cannot be read", 0, reason);

export function unreadable(
  name: string,
  { message, offset, reason }: TextError,
  text = "",
  diagnostics: Diagnostics = new Diagnostics(),
): DiagnosedFile {
  diagnostics.add("fatal", message, () => offset, { reason });
  return { name, text, value: undefined, diagnostics, offsets: new Map() };
}

function decodeDocument(bytes: Bytes): string {
  const [first, second] = bytes;
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  // In UTF-16, one of the two bytes of an ASCII character is zero.
  if (hasMark || (bytes.length > 1 && (first === 0) !== (second === 0))) {
    throw new TextError("is text in UTF-16; write it in UTF-8");
  }
  if (bytes.includes(0)) throw new TextError("is binary, not text");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new TextError("is not text in UTF-8");
  }
}

function* readJson(text: string, diagnostics: Diagnostics, tally: SizeCounter): Work<Parsed> {
  const scanner = new JsonScanner(text);
  const offsets: Offsets = new Map();
  const value = yield* buildingJson(scanner, readNumber, (holder, key, value) => {
    const { kind, start, depth } = scanner;
    tally.add("values", 1, start);
    if (kind === "key") {
      if (Object.hasOwn(holder, key)) diagnostics.add("note", MESSAGES.duplicateKey, () => start);
      return;
    }
    if (depth > LIMITS.depth) throw new TextError(MESSAGES.tooDeep, start);
    if (kind === "number" && typeof value === "string") {
      diagnostics.add("note", MESSAGES.largeNumber, () => start);
    }
    const places = offsets.get(holder);
    if (Array.isArray(places)) places.push(start);
    else if (places) setMember(places, key, start);
    if (kind === "{") offsets.set(value, {});
    if (kind === "[") offsets.set(value, []);
  });
  return { value, offsets };
}
