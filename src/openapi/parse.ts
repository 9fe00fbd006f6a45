/**
 * One file of a description: what it says, what is wrong with it and where what stands in it.
 *
 * @module
 */
import { type Bytes, partsOf } from "../bytes.ts";
import { type Finding, findingsOf, lineStartsOf, type Problem } from "./diagnostics.ts";
import { formatCount, formatSize, LIMITS } from "./limits.ts";
import type { Path } from "../json/values.ts";
import { readJson } from "./read-json.ts";
import { readYaml } from "./read-yaml.ts";
import type { File } from "./read-file-or-url.ts";
import { excerpt } from "../untrusted-text.ts";

/** What a text says. */
export interface Reading {
  /** `undefined` where a problem is fatal. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /**
   * Finds the values at some paths.
   *
   * @returns an offset for each path; of one that leads nowhere, that of the nearest value on its way
   */
  readonly offsetsOf: (paths: readonly Path[]) => number[];
}

/** What came of a text that cannot be read. */
export function failedReading(problems: readonly Problem[]): Reading {
  return { value: undefined, problems, offsetsOf: (paths) => paths.map(() => 0) };
}

/** A file that has been read. What aliases of YAML stand for is shared: change copies only. */
export interface Source extends Pick<Reading, "value" | "offsetsOf"> {
  /** What the file is called in findings. */
  readonly name: string;
  readonly findings: readonly Finding[];
  readonly lineStarts: () => readonly number[];
}

/** Something wrong at a path within a file. */
export interface Complaint {
  readonly path: Path;
  readonly message: string;
  readonly isFatal?: boolean;
  readonly isError?: boolean;
  /** At how many further places it is wrong as well. */
  readonly more?: number;
}

/**
 * Reads a file. Never rejects: what is thrown on the way is a finding.
 *
 * @param name what the file is called in findings
 * @param file JSON or YAML in UTF-8, with or without a byte order mark
 */
export async function readSource(
  name: string,
  file: Pick<File, "bytes" | "isJson">,
): Promise<Source> {
  try {
    return await readText(name, file);
  } catch (error) {
    return unreadable(name, `cannot be read: ${excerpt((error as Error).message)}`);
  }
}

async function readText(
  name: string,
  { bytes, isJson }: Pick<File, "bytes" | "isJson">,
): Promise<Source> {
  const text = decode(bytes);
  if (typeof text !== "string") return unreadable(name, text.refusal);
  const isOf = (limit: number, what: string) => {
    const most = `${formatSize(limit)}, the most that ${what} may be`;
    return bytes.length > limit ? unreadable(name, `is larger than ${most}`) : undefined;
  };
  let lines: number[] | undefined;
  const lineStarts = () => lines ??= lineStartsOf(text);
  const sourceOf = ({ value, problems, offsetsOf }: Reading): Source => {
    const findings = problems.length > 0 ? findingsOf(name, lineStarts(), problems) : [];
    return { name, value, findings, offsetsOf, lineStarts };
  };
  const first = text.search(/\S/);
  if (first === -1) return unreadable(name, "is empty");
  // Some servers call YAML JSON, so the first character decides.
  if (text[first] === "{" || text[first] === "[") {
    const tooLarge = isOf(LIMITS.json, "JSON");
    if (tooLarge) return tooLarge;
    const reading = readJson(text);
    if (isJson || !reading.isOther) return sourceOf(reading);
  }
  const tooLarge = isOf(LIMITS.yaml, "YAML");
  if (tooLarge) return tooLarge;
  const end = lineStarts()[LIMITS.lines];
  if (end === undefined) return sourceOf(await readYaml(text));
  const message = `has more than ${formatCount(LIMITS.lines)} lines`;
  return sourceOf(failedReading([{ offset: end, message, isFatal: true }]));
}

/** Gives complaints about a file their lines and columns. */
export function complain(
  { name, offsetsOf, lineStarts }: Pick<Source, "name" | "offsetsOf" | "lineStarts">,
  complaints: readonly Complaint[],
): Finding[] {
  if (complaints.length === 0) return [];
  const offsets = offsetsOf(complaints.map(({ path }) => path));
  const problems = complaints.map(({ message, isFatal = false, isError, more }, i): Problem => ({
    offset: offsets[i]!,
    message,
    isFatal,
    isError,
    more,
  }));
  return findingsOf(name, lineStarts(), problems);
}

/** A file that cannot be understood, as a source whose finding is fatal. */
export function unreadable(name: string, message: string): Source {
  const findings = findingsOf(name, [0], [{ offset: 0, message, isFatal: true }]);
  const { value, offsetsOf } = failedReading([]);
  return { name, value, findings, offsetsOf, lineStarts: () => [0] };
}

/** Some bytes as text, without a byte order mark, or why they are none. */
function decode(bytes: Bytes): string | { refusal: string } {
  const [first, second] = bytes;
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  // What begins with a character of ASCII has a zero beside it.
  if (hasMark || (bytes.length > 1 && (first === 0) !== (second === 0))) {
    return { refusal: "is text in UTF-16; write it in UTF-8" };
  }
  if (bytes.includes(0)) return { refusal: "is binary, not text" };
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let text = "";
    // Copies, since a decoder of web standards takes nothing that can be resized.
    for (const part of partsOf(bytes)) text += decoder.decode(part.slice(), { stream: true });
    return text + decoder.decode();
  } catch {
    return { refusal: "is not text in UTF-8" };
  }
}
