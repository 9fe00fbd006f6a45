/**
 * Signals, from the first line on: the entry imports this module before all others. Until a command
 * says what a signal does, the process ends at once with 0, as it does when it serves.
 *
 * @module
 */

interface SignalHandlers {
  /** SIGINT and SIGTERM. A signal to a whole process group may come twice. */
  stop(signal: "SIGINT" | "SIGTERM"): void;
  /** SIGHUP. One that came before is told at once. */
  hangUp(): void;
}

let handlers: SignalHandlers | undefined;
let isHungUp = false;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  // Those of `src/build/signals-before-tsx.mjs`.
  process.removeAllListeners(signal);
  process.on(signal, () => handlers ? handlers.stop(signal) : process.exit(0));
}
process.on("SIGHUP", () => {
  if (handlers) handlers.hangUp();
  else isHungUp = true;
});

/** Sets what signals do from now on. Called once. */
export function handleSignals(next: SignalHandlers): void {
  handlers = next;
  if (isHungUp) next.hangUp();
}

/** Has signals end the process as they do where nobody handles them, so that a script can tell. */
export function endOnSignals(): void {
  handleSignals({
    stop: (signal) => process.exit(signal === "SIGINT" ? 130 : 143),
    hangUp: () => process.exit(129),
  });
}
