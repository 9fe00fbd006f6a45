/**
 * What the command writes: text on standard output, and the log on standard error. Nothing is lost in a slow
 * pipe, and a reader that has gone away or is stuck does the process no harm.
 *
 * @module
 */
import { printable, withoutKeys } from "../untrusted-text.ts";
import { withTimeout } from "../with-timeout.ts";

/** Writes a text; resolves when the system has taken all of it or nobody reads it. Never rejects. */
export type WriteText = (text: string) => Promise<void>;

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

/**
 * Prints what a command has to say, to standard output.
 *
 * @param text with its line breaks
 * @returns when all of it is written: the process may exit then
 */
export const print: WriteText = openOutput("stdout");

/** Writes lines without waiting for them. */
export interface LineWriter {
  /** Writes a line, which has no line break yet. Neither waits nor throws. */
  write(line: string): void;
  /** Resolves when all lines have been written, or after a second where the reader is stuck. */
  flush(): Promise<void>;
}

/** The most text that waits for a reader that is stuck; what comes after it is dropped. */
const WAITING_MAX = 1_048_576;

/** The longest wait of `flush` for a reader that is stuck, in milliseconds. */
const FLUSH_MAX_MS = 1000;

/**
 * Makes a writer of lines. Lines that come while the reader is stuck wait, up to 1 MiB of them.
 * Later ones are dropped.
 *
 * @param write from {@linkcode openOutput}
 * @param tellDropped is told how many lines were dropped when the reader reads again
 */
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

/** Writes a message to the log. @default "warn" */
export type WriteLog = (message: string, level?: "info" | "warn" | "error") => void;

/** Opens the log, on standard error. */
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
