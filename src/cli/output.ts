/**
 * Writes to standard output and standard error so that nothing is lost in a slow pipe, and a reader
 * that has gone away or is stuck does the process no harm.
 *
 * @module
 */
import { withTimeout } from "../with-timeout.ts";

/** Writes a text; resolves when the system has taken all of it or nobody reads it. Never rejects. */
export type WriteText = (text: string) => Promise<void>;

/** Writes lines without waiting for them. */
export interface LineWriter {
  /** Writes a line, which has no line break yet. Neither waits nor throws. */
  write(line: string): void;
  /** Resolves when all lines have been written, or after a second where the reader is stuck. */
  flush(): Promise<void>;
}

/** What is used of Deno's and Bun's own output. */
declare const Deno: Record<Name, { write(bytes: Uint8Array): Promise<number> }> | undefined;
declare const Bun: Record<Name, { writer(): BunWriter }> | undefined;
interface BunWriter {
  write(text: string): number | Promise<number>;
  flush(): number | Promise<number>;
}

type Name = "stdout" | "stderr";

/** How much text waits for a reader that is stuck; what comes after it is dropped. */
const WAITING_MAX = 1_048_576;

/** How long `flush` waits for a reader that is stuck, in milliseconds. */
const FLUSH_MAX = 1000;

/**
 * Opens standard output or standard error when the first text is written. Deno's and Bun's own ways take no time to load;
 * `process.stdout` takes them 10 ms (Deno 2.9, Bun 1.4), and blocks Deno while a pipe is full.
 */
export function openOutput(name: Name): WriteText {
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

function openWriter(name: Name): WriteText {
  if (typeof Deno !== "undefined") {
    const output = Deno[name];
    return async (text) => {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length;) at += await output.write(bytes.subarray(at));
    };
  }
  if (typeof Bun !== "undefined") {
    const writer = Bun[name].writer();
    return async (text) => {
      void writer.write(text);
      await writer.flush();
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

let output: WriteText | undefined;

/**
 * Prints what a command has to say, to standard output.
 *
 * @param text with its line breaks
 * @returns when all of it is written: the process may exit then
 */
export function print(text: string): Promise<void> {
  output ??= openOutput("stdout");
  return output(text);
}

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
    flush: () => withTimeout(writing ?? Promise.resolve(), FLUSH_MAX, () => {}),
  };
}
