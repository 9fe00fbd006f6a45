/**
 * The command's entry point imports this module first. Until a command handles signals, SIGINT and
 * SIGTERM end the process with exit code 0, and a SIGHUP is kept for the command.
 *
 * @module
 */
import { fstatSync } from "node:fs";
import { isatty } from "node:tty";

type Stop = "SIGINT" | "SIGTERM";

/**
 * Who redirects the output to files, as `nohup` does, means the command to go on. Before `| tee`,
 * the input tells whether there is a terminal.
 */
const isPiped = [1, 2].some((descriptor) => fstatSync(descriptor).isFIFO());
const TERMINALS = (isPiped ? [0, 1, 2] : [1, 2]).filter((descriptor) => isatty(descriptor));

/** Tells whether the terminal of the command has been closed, which sends a SIGHUP, too. */
export const isTerminalClosed = (): boolean =>
  TERMINALS.length > 0 && !TERMINALS.some((descriptor) => isatty(descriptor));

class Signals {
  #stop: (signal: Stop) => void = () => process.exit(0);
  #hangUp: (() => void) | undefined;
  #isHungUp = false;

  constructor() {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      // Removes the listeners of `src/build/signals-before-tsx.mjs`.
      process.removeAllListeners(signal);
      process.on(signal, () => this.#stop(signal));
    }
    process.on("SIGHUP", () => {
      if (this.#hangUp) this.#hangUp();
      else this.#isHungUp = true;
    });
  }

  /** @param stop may be called twice, since a signal to a process group can arrive twice */
  onStop(stop: (signal: Stop) => void): void {
    this.#stop = stop;
  }

  /** @param hangUp is called at once if a SIGHUP has already arrived */
  onHangUp(hangUp: () => void): void {
    this.#hangUp = hangUp;
    if (this.#isHungUp) hangUp();
    this.#isHungUp = false;
  }
}

export const signals: Signals = new Signals();

/** The exit code is 128 plus the number of the signal, such as 130 for SIGINT. */
export function endOnSignals(): void {
  signals.onStop((signal) => process.exit(signal === "SIGINT" ? 130 : 143));
  signals.onHangUp(() => process.exit(129));
}
