/**
 * The command's entry point imports this module first. Until a command handles signals, SIGINT and SIGTERM end the
 * process with exit code 0.
 *
 * @module
 */

interface SignalHandlers {
  /** May be called twice, since a signal to a process group can arrive twice. */
  stop(signal: "SIGINT" | "SIGTERM"): void;
  hangUp(): void;
}

let handlers: SignalHandlers | undefined;
let isHungUp = false;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  // Removes the listeners of `src/build/signals-before-tsx.mjs`.
  process.removeAllListeners(signal);
  process.on(signal, () => handlers ? handlers.stop(signal) : process.exit(0));
}
process.on("SIGHUP", () => {
  if (handlers) handlers.hangUp();
  else isHungUp = true;
});

export function handleSignals(next: SignalHandlers): void {
  handlers = next;
  if (isHungUp) next.hangUp();
}

/** The exit code is 128 plus the number of the signal, such as 130 for SIGINT. */
export function endOnSignals(): void {
  handleSignals({
    stop: (signal) => process.exit(signal === "SIGINT" ? 130 : 143),
    hangUp: () => process.exit(129),
  });
}
