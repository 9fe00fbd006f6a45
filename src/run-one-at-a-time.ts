/**
 * Work that runs once at a time.
 *
 * @module
 */

/**
 * Wraps work so that it runs once at a time. Calls during a run share one more run after it, which sees
 * what the callers have changed.
 */
export function runOneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = (): Promise<void> => running = work().finally(() => running = undefined);
  return () => {
    if (!running) return run();
    return next ??= running.catch(() => {}).then(() => {
      next = undefined;
      return run();
    });
  };
}
