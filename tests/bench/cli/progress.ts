/** Says what is being measured, and about how long the rest will take. */
import process from "node:process";

/** How often a line is written where it cannot be overwritten, in milliseconds. */
const SELDOM = 10_000;

/** Follows a run whose steps are known ahead. */
export interface Progress {
  /** Says what is begun; `seconds` is about how long it takes, of those planned. */
  step(what: string, seconds: number): void;
  /** Says what is done between two steps, where that can be overwritten. */
  note(what: string): void;
  /** Writes a line that stays. */
  say(text: string): void;
  end(): void;
}

/**
 * Follows a run.
 *
 * @param steps how many there are
 * @param planned about how long they take together, in seconds
 */
export function createProgress(steps: number, planned: number): Progress {
  const { isTTY, columns = 80 } = process.stderr;
  const began = performance.now();
  let done = 0, number = 0, current = 0, last = -SELDOM;
  const clear = () => isTTY && process.stderr.write("\r\x1b[K");
  return {
    step(what, seconds) {
      done += current;
      current = seconds;
      number++;
      const now = performance.now();
      // What has passed says how right the plan is, once enough of it has.
      const pace = done > 10 ? (now - began) / 1000 / done : 1;
      const left = Math.max(0, planned - done) * pace;
      const line = `[${number}/${steps}, ${duration(left)} left] ${what}`;
      if (isTTY) {
        return void process.stderr.write(`\r\x1b[K${line.slice(0, columns - 1)}`);
      }
      if (now - last < SELDOM) return;
      last = now;
      process.stderr.write(`${line}\n`);
    },
    note(what) {
      if (isTTY) process.stderr.write(`\r\x1b[K${what.slice(0, columns - 1)}`);
    },
    say(text) {
      clear();
      process.stderr.write(`${text}\n`);
    },
    end: () => void clear(),
  };
}

/** A time such as `2 min 05 s`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes ? `${minutes} min ${String(whole % 60).padStart(2, "0")} s` : `${whole} s`;
}
