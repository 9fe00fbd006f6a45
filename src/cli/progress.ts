/**
 * Says what takes long. On a terminal it is one line that counts the seconds and goes away; elsewhere, as in a
 * file or a journal, one plain line.
 *
 * @module
 */
import { excerpt } from "../untrusted-text.ts";

/** What takes long. */
export interface Progress {
  /**
   * Waits for some work.
   *
   * @param what it does, as in `asking the node`
   */
  during<T>(what: string, work: Promise<T>): Promise<T>;
}

/** How it is said. */
export interface ProgressOptions {
  /** Writes text to standard error. */
  readonly write: (text: string) => unknown;
  readonly isTerminal: boolean;
  /** How long work may take before anything is said, and between two lines, in milliseconds. @default 1000 */
  readonly after?: number;
}

/** Goes to the start of the line and deletes what stands there (ECMA-48, EL). */
const CLEAR = "\r\x1b[K";

/** How much of a line of a terminal is used. */
const WIDTH = 70;

/** Makes it. */
export function createProgress({ write, isTerminal, after = 1000 }: ProgressOptions): Progress {
  return {
    async during(what, work) {
      const begun = performance.now();
      let isTold = false;
      const tell = () => {
        const seconds = Math.round((performance.now() - begun) / 1000);
        if (isTerminal) write(`${CLEAR}${excerpt(what, WIDTH)} … ${seconds} s`);
        else if (!isTold) write(`nodeface: ${excerpt(what)} …\n`);
        isTold = true;
      };
      const timer = setInterval(tell, after);
      try {
        return await work;
      } finally {
        clearInterval(timer);
        if (isTold && isTerminal) write(CLEAR);
      }
    },
  };
}
