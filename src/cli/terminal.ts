/**
 * Text for people: lines, tables, and what is different on a terminal: colours, and a line that counts what takes
 * long.
 *
 * @module
 */
import { isatty } from "node:tty";
import { styleText } from "node:util";
import { excerpt } from "../untrusted-text.ts";
import type { Environment } from "./arguments.ts";

/** Breaks a text into lines of at most so many characters; a longer word has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    const longer = lines[last] ? `${lines[last]} ${word}` : word;
    if (longer.length > width && lines[last]) lines.push(word);
    else lines[last] = longer;
  }
  return lines;
}

/**
 * Formats rows with columns that line up, two spaces apart, with a line break after each.
 *
 * @param rows the cells, one line each
 */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from(
    { length: columns },
    (_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd();
  return rows.map((row) => `${line(row)}\n`).join("");
}

/** The abilities of an output. */
export interface Terminal {
  /** Whether a line may be changed after it was written. */
  readonly isTerminal: boolean;
  readonly hasColors: boolean;
}

/** Looks at an output. `NO_COLOR` with any text takes the colours away (no-color.org). */
export function terminalOf(name: "stdout" | "stderr", env: Environment): Terminal {
  const isTerminal = isatty(name === "stdout" ? 1 : 2) && env.TERM !== "dumb";
  return { isTerminal, hasColors: isTerminal && !env.NO_COLOR };
}

/** The lines of a report that are coloured, by how they begin. */
const STYLES = [
  [/^# .+$/gm, "bold"],
  [/^(?:error\b|- .+$)/gm, "red"],
  [/^note\b/gm, "yellow"],
  [/^All is well$/gm, "green"],
] as const;

/** Colours a report. */
export function color(report: string): string {
  return STYLES.reduce(
    (text, [pattern, style]) =>
      text.replaceAll(pattern, (part) => styleText(style, part, { validateStream: false })),
    report,
  );
}

/** Says what takes long. */
export interface Progress {
  /**
   * Waits for some work.
   *
   * @param what it does, as in `asking the node`
   */
  during<T>(what: string, work: Promise<T>): Promise<T>;
}

/** A progress that says nothing. */
export const SILENT: Progress = { during: (_, work) => work };

/** The options of a progress. */
export interface ProgressOptions {
  /** Writes text to standard error. */
  readonly write: (text: string) => unknown;
  /** Whether one line counts the seconds and goes away; elsewhere it is one plain line. */
  readonly isTerminal: boolean;
  /** The time before anything is said, and between two lines, in milliseconds. @default 1000 */
  readonly after?: number;
}

/** Goes to the start of the line and deletes what stands there (ECMA-48, EL). */
const CLEAR = "\r\x1b[K";

/** The longest text on a line of a terminal, in characters. */
const WIDTH = 70;

/** Makes what says what takes long. */
export function createProgress({ write, isTerminal, after = 1000 }: ProgressOptions): Progress {
  return {
    async during(what, work) {
      const begun = performance.now();
      let isTold = false;
      const timer = setInterval(() => {
        const seconds = Math.round((performance.now() - begun) / 1000);
        if (isTerminal) write(`${CLEAR}${excerpt(what, WIDTH)} … ${seconds} s`);
        else if (!isTold) write(`nodeface: ${excerpt(what)} …\n`);
        isTold = true;
      }, after);
      try {
        return await work;
      } finally {
        clearInterval(timer);
        if (isTold && isTerminal) write(CLEAR);
      }
    },
  };
}

/** One part of what `check` prints. */
export interface Section {
  readonly title: string;
  /** Lines, with a break after each. */
  readonly text: string;
  /** What is wrong, for the verdict. */
  readonly troubles?: readonly string[];
  /** What is worth knowing, though nothing is wrong: lines that `text` has as well. */
  readonly notes?: readonly string[];
  /** The same for `--json`: keys of the one object. */
  readonly data?: Readonly<Record<string, unknown>>;
}
