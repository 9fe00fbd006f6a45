/**
 * The output of the command: text on standard output, the log on standard error, colours and progress on a terminal.
 * Nothing is lost in a slow pipe, and a reader that has gone away or is stuck does the process no harm.
 *
 * @module
 */
import { excerpt, printable, withoutKeys } from "../untrusted-text.ts";
import { withTimeout } from "../with-timeout.ts";
import { isatty } from "node:tty";
import { styleText } from "node:util";

/** Writes a text; resolves when the system has taken all of it or nobody reads it. Never rejects. */
type WriteText = (text: string) => Promise<void>;

/** Deno's own output: `process.stdout` blocks Deno 2.9 while a pipe is full. */
declare const Deno:
  | Record<"stdout" | "stderr", { write(bytes: Uint8Array): Promise<number> }>
  | undefined;

/** Opens standard output or standard error when the first text is written. */
export function openOutput(name: "stdout" | "stderr"): WriteText {
  let write: WriteText | undefined;
  return async (text) => {
    if (text === "") return;
    try {
      write ??= openWriter(name);
      await write(text);
    } catch {
      // The reader has gone (EPIPE): there is nobody left to tell.
    }
  };
}

function openWriter(name: "stdout" | "stderr"): WriteText {
  if (typeof Deno !== "undefined") {
    const output = Deno[name];
    return async (text) => {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length;) at += await output.write(bytes.subarray(at));
    };
  }
  const stream = process[name];
  // A stream without a listener throws its errors where nobody can catch them.
  stream.on("error", () => {});
  return (text) =>
    new Promise((resolve, reject) => {
      stream.write(text, (error) => error ? reject(error) : resolve());
    });
}

/** Prints to standard output; resolves when all of it is written: the process may exit then. */
export const print: WriteText = openOutput("stdout");

interface LineWriter {
  /** Writes a line, which has no line break yet. Neither waits nor throws. */
  write(line: string): void;
  /** Resolves when all lines have been written, or after a second where the reader is stuck. */
  flush(): Promise<void>;
}

/** The most text that waits for a reader that is stuck; what comes after it is dropped. */
const WAITING_MAX = 1_048_576;

/** The longest wait of `flush` for a reader that is stuck, in milliseconds. */
const FLUSH_MAX_MS = 1000;

/** Makes a writer of lines: up to 1 MiB of them wait while the reader is stuck, later ones are dropped. */
export function createLineWriter(
  write: WriteText,
  tellDropped: (count: number) => void = () => {},
): LineWriter {
  let waiting = "";
  let dropped = 0;
  let writing: Promise<void> | undefined;
  const writeAll = async () => {
    while (waiting) {
      const text = waiting;
      waiting = "";
      await write(text);
      // The lines of many requests are written in one piece.
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (dropped === 0) continue;
      const count = dropped;
      dropped = 0;
      tellDropped(count);
    }
    writing = undefined;
  };
  return {
    write(line) {
      if (waiting.length + line.length >= WAITING_MAX) dropped++;
      else waiting += `${line}\n`;
      writing ??= writeAll();
    },
    flush: () => withTimeout(writing ?? Promise.resolve(), FLUSH_MAX_MS, () => {}),
  };
}

export type WriteLog = (message: string, level?: "info" | "warn" | "error") => void;

export function openLog(): { log: WriteLog; flush(): Promise<void> } {
  const lines = createLineWriter(
    openOutput("stderr"),
    (count) => log(`${count} lines of this log were dropped: its reader was stuck`),
  );
  const log: WriteLog = (message, level = "warn") => {
    lines.write(formatMessage(message, level, new Date()));
  };
  return { log, flush: () => lines.flush() };
}

/**
 * Formats a message as lines of the log, each with the time in UTC and the level.
 *
 * `2026-11-21T07:30:00Z warn  node http://127.0.0.1:8545: refuses connections`
 *
 * @returns the lines without a break after the last
 */
export function formatMessage(message: string, level: string, time: Date): string {
  const start = `${time.toISOString().slice(0, 19)}Z ${level.padEnd(5)}`;
  return withoutKeys(message).split("\n").map((line) => `${start} ${printable(line)}`).join("\n");
}

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

/** Formats rows with columns that line up, two spaces apart, with a line break after each. */
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

interface Terminal {
  /** True if a line may be changed after it was written. */
  readonly isTerminal: boolean;
  readonly hasColors: boolean;
}

/** Looks at an output. `NO_COLOR` with any text takes the colours away (no-color.org). */
export function terminalOf(
  name: "stdout" | "stderr",
  env: { readonly TERM?: string | undefined; readonly NO_COLOR?: string | undefined },
): Terminal {
  const isTerminal = isatty(name === "stdout" ? 1 : 2) && env.TERM !== "dumb";
  return { isTerminal, hasColors: isTerminal && !env.NO_COLOR };
}

/** Lines of a report, by how they begin. */
const STYLES = [
  [/^# .+$/gm, "bold"],
  [/^(?:error\b|- .+$)/gm, "red"],
  [/^note\b/gm, "yellow"],
  [/^All is well$/gm, "green"],
] as const;

export function color(report: string): string {
  return STYLES.reduce(
    (text, [pattern, style]) =>
      text.replaceAll(pattern, (part) => styleText(style, part, { validateStream: false })),
    report,
  );
}

export interface Progress {
  /** Waits for some work, of which `what` says what it does, as in `asking the node`. */
  during<T>(what: string, work: Promise<T>): Promise<T>;
}

export const SILENT: Progress = { during: (_, work) => work };

interface ProgressOptions {
  readonly write: (text: string) => unknown;
  /** True if one line counts the seconds and goes away; elsewhere it is one plain line. */
  readonly isTerminal: boolean;
  /** The time before anything is said, and between two lines, in milliseconds. @default 1000 */
  readonly after?: number;
}

/** Goes to the start of the line and deletes what stands there (ECMA-48, EL). */
const CLEAR = "\r\x1b[K";

const WIDTH = 70;

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

export interface Section {
  readonly title: string;
  /** Lines, with a break after each. */
  readonly text: string;
  /** Errors, for the verdict. */
  readonly troubles?: readonly string[];
  /** Lines of `text` that are worth knowing, though nothing is wrong. */
  readonly notes?: readonly string[];
  /** The same for `--json`: keys of the one object. */
  readonly data?: Readonly<Record<string, unknown>>;
}
