/**
 * The output of the command: text, the log, colours and progress. No printed text is lost if a pipe
 * is slow, and the service keeps running if a pipe is closed.
 *
 * @module
 */
import { encodeText } from "../bytes.ts";
import { excerpt, printable, withoutKeys } from "../untrusted-text.ts";
import { nextTurn } from "../slices.ts";
import { waitAtMost } from "../with-timeout.ts";
import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import { styleText } from "node:util";

type WriteText = (text: string) => Promise<void>;

/** `process.stdout` would block Deno 2.9 while a pipe is full. */
declare const Deno:
  | Record<"stdout" | "stderr", { write(bytes: Uint8Array): Promise<number> }>
  | undefined;

/** Whoever writes goes on if the output fails, as a service does whose log has no reader. */
export function openOutput(name: "stdout" | "stderr"): WriteText {
  const write = openWholeOutput(name);
  return (text) => write(text).catch(() => {});
}

/** Rejects if the output fails, unless its reader has closed the pipe, as `head` does. */
function openWholeOutput(name: "stdout" | "stderr"): WriteText {
  let write: WriteText | undefined;
  return async (text) => {
    if (text === "") return;
    try {
      write ??= openWriter(name);
      await write(text);
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code === "EPIPE") return;
      const reason = code === "ENOSPC" ? "no space left" : message;
      throw new Error(`cannot write to standard output: ${reason}`);
    }
  };
}

function openWriter(name: "stdout" | "stderr"): WriteText {
  if (typeof Deno !== "undefined") {
    const output = Deno[name];
    return async (text) => {
      const bytes = encodeText(text);
      for (let at = 0; at < bytes.length;) at += await output.write(bytes.subarray(at));
    };
  }
  const stream = process[name];
  // Without a listener, a stream error would end the process.
  stream.on("error", () => {});
  return (text) =>
    new Promise((resolve, reject) => {
      stream.write(text, (error) => error ? reject(error) : resolve());
    });
}

export const print: WriteText = openWholeOutput("stdout");

/** The limit of queued text, in UTF-16 code units. */
const WAITING_MAX = 1_048_576;
const FLUSH_MAX_MS = 1000;

/** While the reader is stuck, lines are queued up to a limit, and further lines are dropped. */
export class LineWriter {
  readonly #writeText: WriteText;
  readonly #logDropped: (count: number) => void;
  #waiting = "";
  #dropped = 0;
  #isWriting = false;
  #writing: Promise<void> | undefined;

  constructor(writeText: WriteText, logDropped: (count: number) => void = () => {}) {
    this.#writeText = writeText;
    this.#logDropped = logDropped;
  }

  /** Never waits and never throws. */
  write(line: string): void {
    if (this.#waiting.length + line.length >= WAITING_MAX) this.#dropped++;
    else this.#waiting += `${line}\n`;
    if (!this.#isWriting) this.#writing = this.#writeAll();
  }

  async flush(): Promise<void> {
    if (this.#writing) await waitAtMost(this.#writing, FLUSH_MAX_MS);
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    do {
      const text = this.#waiting;
      this.#waiting = "";
      const count = this.#dropped;
      this.#dropped = 0;
      // The queue is empty now, so that this line itself is not dropped.
      if (count > 0) this.#logDropped(count);
      await this.#writeText(text);
      // The lines of many requests accumulate during this pause, and are then written together.
      await nextTurn();
    } while (this.#waiting || this.#dropped > 0);
    this.#isWriting = false;
    this.#writing = undefined;
  }
}

type LogLevel = "info" | "warn" | "error";

export type WriteLog = (message: string, level?: LogLevel) => void;

export function openLog(): { log: WriteLog; flush(): Promise<void> } {
  const lines = new LineWriter(
    openOutput("stderr"),
    (count) => log(`${count} lines of this log were dropped: its reader was stuck`),
  );
  const isJournal = leadsToJournal();
  const log: WriteLog = (message, level = "warn") => {
    lines.write(formatMessage(message, level, isJournal ? undefined : new Date()));
  };
  return { log, flush: () => lines.flush() };
}

const writeError: WriteText = openOutput("stderr");

/** Tells why a command has failed, or what it remarks; in systemd's journal with a priority. */
export async function printError(message: string, level: LogLevel): Promise<void> {
  const lines = leadsToJournal()
    ? `${formatMessage(message, level, undefined)}\n`
    : message.split("\n").map((line) => `nodeface: ${printable(line)}\n`).join("");
  await writeError(lines);
}

/** systemd names the device and the inode of the stream that leads to its journal. */
function leadsToJournal(): boolean {
  const { JOURNAL_STREAM } = process.env;
  if (JOURNAL_STREAM === undefined) return false;
  const { dev, ino } = fstatSync(2);
  return JOURNAL_STREAM === `${dev}:${ino}`;
}

const PRIORITIES = { error: 3, warn: 4, info: 6 };

/** @param time `undefined` for systemd's journal, which has times and priorities of its own */
export function formatMessage(
  message: string,
  level: keyof typeof PRIORITIES,
  time: Date | undefined,
): string {
  const start = time
    ? `${time.toISOString().slice(0, 19)}Z ${level.padEnd(5)} `
    : `<${PRIORITIES[level]}>`;
  return withoutKeys(message).split("\n").map((line) => start + printable(line)).join("\n");
}

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

/** The cells may have texts of a node. */
export function formatTable(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(printable));
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd();
  return rows.map((row) => `${line(row)}\n`).join("");
}

/** Tells whether an output is a terminal that can erase a written line. */
export function isTerminal(name: "stdout" | "stderr"): boolean {
  return isatty(name === "stdout" ? 1 : 2) && process.env.TERM !== "dumb";
}

const STYLES = [
  [/^# .+$/gm, "bold"],
  [/^(?:error\b|- .+$)/gm, "red"],
  [/^note\b/gm, "yellow"],
  [/^All is well$/gm, "green"],
] as const;

/** Colours a report on a terminal, unless `NO_COLOR` is a non-empty string (no-color.org). */
export function color(report: string): string {
  if (!isTerminal("stdout") || process.env.NO_COLOR) return report;
  return STYLES.reduce(
    (text, [pattern, style]) =>
      text.replaceAll(pattern, (part) => styleText(style, part, { validateStream: false })),
    report,
  );
}

export interface Progress {
  during<T>(what: string, work: Promise<T>): Promise<T>;
}

export const SILENT: Progress = { during: (_, work) => work };

const CLEAR = "\r\x1b[K";
const WIDTH = 70;

export function createProgress({ write, isTerminal, after = 1000 }: {
  readonly write: (text: string) => unknown;
  readonly isTerminal: boolean;
  /** The time in milliseconds before the progress line appears, and between its updates. */
  readonly after?: number;
}): Progress {
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

export interface ReportSection {
  readonly title: string;
  readonly text: string;
  readonly troubles?: readonly string[];
  readonly notes?: readonly string[];
  readonly data?: Readonly<Record<string, unknown>>;
}
