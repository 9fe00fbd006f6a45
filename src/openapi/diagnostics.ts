/**
 * What is wrong with a description, and where.
 *
 * @module
 */

import { formatCount, LIMITS } from "./limits.ts";
import { excerpt, printable } from "../untrusted-text.ts";

/** What is said of a key that stands twice in its object. */
export const DUPLICATE_KEY = "the same key stands here a second time; the last one counts";

/** What is said of a number beyond 1.8e308. */
export const LARGE_NUMBER =
  "this number is above all that readers of JSON can hold; it is served as a string";

/** What is said of a text that holds more than is read. */
export const TOO_MANY_NODES: string = `holds more than ${formatCount(LIMITS.nodes)} values`;

/** One thing that is wrong with a description. */
export interface Finding {
  /** The file as the description names it: never a path of this machine. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  /** What is wrong and what would be right, without a period. */
  readonly message: string;
  /** Whether the document cannot be shown because of it. */
  readonly isFatal: boolean;
  /** An error is what users run into, a note is worth knowing. */
  readonly level: "error" | "note";
  /** At how many further places of the file it is wrong as well. */
  readonly more?: number;
}

/** What is wrong at an offset of one file. */
export interface Problem {
  readonly offset: number;
  readonly message: string;
  readonly isFatal: boolean;
  /** Whether users run into it, be the document shown or not. @default isFatal */
  readonly isError?: boolean | undefined;
  /** At how many further places it is wrong as well. */
  readonly more?: number | undefined;
}

/** A finding as one line that is safe in a terminal: `openapi.yaml:12:5 the reference leads nowhere`. */
export function formatFinding({ file, line, column, message, more = 0 }: Finding): string {
  const others = more > 0 ? ` (and ${formatCount(more)} more)` : "";
  return printable(`${file}:${line}:${column} ${message}${others}`);
}

/** Findings with the errors before the notes, in their order otherwise. */
export function errorsFirst(findings: readonly Finding[]): Finding[] {
  const isError = ({ level }: Finding) => level === "error";
  return [...findings.filter(isError), ...findings.filter((finding) => !isError(finding))];
}

/** How many findings of a description are logged. */
const LOGGED_MAX = 20;

/** The findings that a log has room for, errors first, and how many there are beyond. */
export function forLog(findings: readonly Finding[]): { told: Finding[]; more: number } {
  const told = errorsFirst(findings).slice(0, LOGGED_MAX);
  return { told, more: findings.length - told.length };
}

const UNTOLD = "there is more to be found, which is not told";

/** Stands for some findings that nobody has room for. */
export function untold(file: string, count: number): Finding {
  return {
    file,
    line: 1,
    column: 1,
    message: UNTOLD,
    isFatal: false,
    level: "note",
    more: count - 1,
  };
}

/** Says of each file once what is wrong in many places, at the first of them; and not too much. */
export function summarize(findings: Iterable<Finding>): Finding[] {
  const firsts = new Map<string, Finding>();
  let rest: Finding | undefined;
  for (const finding of findings) {
    const key = `${finding.file}\n${finding.level}\n${finding.message}`;
    const first = firsts.get(key);
    const count = 1 + (finding.more ?? 0);
    if (finding.message === UNTOLD || (!first && firsts.size === LIMITS.findings)) {
      rest = untold(rest?.file ?? finding.file, count + (rest ? 1 + (rest.more ?? 0) : 0));
    } else if (first) firsts.set(key, { ...first, more: (first.more ?? 0) + count });
    else firsts.set(key, finding);
  }
  return [...firsts.values(), ...rest ? [rest] : []];
}

/**
 * Gives problems of one file their lines and columns.
 *
 * @param file what the file is called
 * @param lineStarts the offset of each line
 * @param problems in any order
 * @returns the findings in the order of the text
 */
export function findingsOf(
  file: string,
  lineStarts: readonly number[],
  problems: readonly Problem[],
): Finding[] {
  let line = 1;
  return [...problems].sort((a, b) => a.offset - b.offset).map((problem) => {
    const { offset, message, isFatal, isError = isFatal, more = 0 } = problem;
    while (lineStarts[line]! <= offset) line++;
    const column = offset - lineStarts[line - 1]! + 1;
    const level = isError ? "error" : "note";
    return { file, line, column, message, isFatal, level, ...more > 0 && { more } };
  });
}

/** The offset of each line of a text. */
export function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

/** Something thrown while a description was prepared, as a finding. */
export function findingOf(file: string, error: unknown): Finding {
  const message = `cannot be shown: ${excerpt(String((error as Error).message))}`;
  return { file, line: 1, column: 1, message, isFatal: true, level: "error" };
}
