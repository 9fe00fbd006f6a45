/**
 * The diagnostics of a description, each with its place, and the limits that a description must not exceed.
 *
 * @module
 */
import { type Json, type Path, valueAt } from "../json/values.ts";
import { excerpt, printable } from "../untrusted-text.ts";

export const LIMITS = {
  /** Bytes in one JSON file: 32 MiB. */
  json: 33_554_432,
  /** Bytes in one YAML file, which needs far more memory: 12 MiB. */
  yaml: 12_582_912,
  /** Bytes in all files together: 64 MiB. */
  total: 67_108_864,
  /** Bytes in all files together, on a runtime without threads: 4 MiB. */
  withoutThread: 4_194_304,
  /** Bytes of a thread's heap, where the runtime can limit it: 768 MiB. */
  memory: 805_306_368,
  depth: 256,
  files: 1_000,
  references: 100_000,
  /** Milliseconds to load all files; a thread must also prepare them in this time. */
  time: 30_000,
  /** Values in one file, including the values of an anchor once for each alias. */
  nodes: 1_000_000,
  /** Characters in all strings of one YAML file, including those of an anchor once for each alias. */
  text: 33_554_432,
  aliases: 10_000,
  /** Tokens in one YAML file: a value takes two or three tokens, including those for white space. */
  tokens: 2_500_000,
  lines: 1_000_000,
  errors: 100,
  findings: 10_000,
  /** The URLs of one server: there is one for each combination of its variables' values. */
  combinations: 64,
  /** Origins that the page may call. A header lists them, and proxies limit a header's length. */
  origins: 64,
  /** Security schemes in a document's `security`, and members of a path's `additionalOperations`. */
  inherited: 64,
  url: 8192,
} as const;

export const formatSize = (bytes: number): string => `${bytes / 1_048_576} MiB`;

export const formatCount = (count: number): string =>
  String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");

/** The messages that YAML and JSON have in common. */
export const MESSAGES = {
  duplicateKey: "duplicate key; the last value is used",
  largeNumber: "this number is too large for readers of JSON; it is served as a string",
  tooManyNodes: `has more than ${formatCount(LIMITS.nodes)} values`,
  tooDeep: `is nested more than ${LIMITS.depth} levels deep`,
};

/** The reason why a text cannot be read, as a predicate such as `is empty`, and the offset of the error. */
export class TextError extends Error {
  override name = "TextError";
  readonly offset: number;

  constructor(message: string, offset = 0) {
    super(message);
    this.offset = offset;
  }
}

export interface Diagnostic {
  /** The file's path relative to the description: never a path on this machine. */
  readonly file: string;
  readonly line: number;
  /** The column from 1, in UTF-16 code units. */
  readonly column: number;
  readonly message: string;
  /** True if this diagnostic prevents the document from being shown. */
  readonly isFatal: boolean;
  /** An error affects users of the description; a note is only worth knowing. */
  readonly level: "error" | "note";
  readonly more?: number;
}

export type Severity = "fatal" | Diagnostic["level"];
type DiagnosticPlace = Path | number;

export interface DiagnosticAt<P extends DiagnosticPlace = DiagnosticPlace> {
  readonly severity: Severity;
  readonly message: string;
  readonly place: P;
  readonly more: number;
}

/** The diagnostics of a file. Equal diagnostics are kept once, with the place of the first and the number of others. */
export interface Diagnostics {
  /** Calls `placeOf` only for the first diagnostic with this severity and message. */
  add(severity: Severity, message: string, placeOf: () => DiagnosticPlace): void;
  list(): DiagnosticAt[];
  readonly omittedCount: number;
}

export function createDiagnostics(): Diagnostics {
  const kept = new Map<string, { -readonly [K in keyof DiagnosticAt]: DiagnosticAt[K] }>();
  let omittedCount = 0;
  return {
    add(severity, message, placeOf) {
      const key = `${severity} ${message}`;
      const known = kept.get(key);
      if (known) known.more++;
      else if (kept.size === LIMITS.findings) omittedCount++;
      else kept.set(key, { severity, message, place: placeOf(), more: 0 });
    },
    list: () => [...kept.values()],
    get omittedCount() {
      return omittedCount;
    },
  };
}

/** Adds the line and column in the text to each diagnostic, and sorts by them. */
export function locate(
  file: string,
  text: string,
  all: readonly DiagnosticAt[],
  offsetOf: (path: Path) => number,
): Diagnostic[] {
  let line = 1, start = 0, end = text.indexOf("\n");
  return all
    .map((one) => ({
      ...one,
      offset: typeof one.place === "number" ? one.place : offsetOf(one.place),
    }))
    .sort((a, b) => a.offset - b.offset)
    .map(({ severity, message, more, offset }) => {
      for (; end !== -1 && end < offset; end = text.indexOf("\n", start)) {
        [line, start] = [line + 1, end + 1];
      }
      return {
        ...{ file, line, column: offset - start + 1, message, isFatal: severity === "fatal" },
        level: severity === "note" ? "note" : "error",
        ...more > 0 && { more },
      };
    });
}

/** The offsets of members, by key, for each object and list in a text. */
export type Offsets = Map<unknown, Json | number[]>;

/** Returns the offset of the value at a path; if it is missing, the offset of the last value on the way to it. */
export function offsetIn(root: unknown, offsets: Offsets, path: Path): number {
  let value = root, offset = 0;
  for (const key of path) {
    const next = valueAt(offsets.get(value), [key]);
    if (next === undefined) break;
    offset = next as number;
    value = (value as Json)[key];
  }
  return offset;
}

export function diagnosticOf(file: string, severity: Severity, message: string): Diagnostic {
  return locate(file, "", [{ severity, message, place: 0, more: 0 }], () => 0)[0]!;
}

export function diagnosticOfError(file: string, error: unknown): Diagnostic {
  const message = `cannot be shown: ${excerpt(String((error as Error).message))}`;
  return diagnosticOf(file, "fatal", message);
}

export function limitDiagnostics(all: readonly Diagnostic[], omittedCount: number): Diagnostic[] {
  const kept = all.slice(0, LIMITS.findings);
  const omitted = omittedCount + all.length - kept.length;
  if (omitted === 0) return kept;
  const stand = diagnosticOf(all[0]!.file, "note", "further diagnostics are not listed");
  return [...kept, { ...stand, ...omitted > 1 && { more: omitted - 1 } }];
}

/** Formats a diagnostic as one line that is safe in a terminal: `openapi.yaml:12:5 the reference leads nowhere`. */
export function formatDiagnostic({ file, line, column, message, more = 0 }: Diagnostic): string {
  const others = more > 0 ? ` (and ${formatCount(more)} more)` : "";
  return printable(`${file}:${line}:${column} ${message}${others}`);
}

export const errorsFirst = (all: readonly Diagnostic[]): Diagnostic[] =>
  [...all].sort((a, b) => Number(b.level === "error") - Number(a.level === "error"));

const LOGGED_MAX = 20;

export function forLog(all: readonly Diagnostic[]): { logged: Diagnostic[]; more: number } {
  const logged = errorsFirst(all).slice(0, LOGGED_MAX);
  return { logged, more: all.length - logged.length };
}
