/**
 * Timers, and waits that they limit.
 *
 * @module
 */

/** The longest delay of `setTimeout`, in milliseconds. Above this limit, a timer fires at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Lets the process end while the timer runs. On Bun, Node and Deno, timers are objects. */
export function unrefTimer(timer: unknown): void {
  (timer as { unref?(): void }).unref?.();
}

/** Waits at most `timeout` milliseconds. The work behind the promise is not cancelled. */
export function withTimeout<T>(promise: Promise<T>, timeout: number, late: () => T): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(timeout, TIMER_MAX_MS));
  });
  return Promise.race([promise, passed.then(late)]).finally(() => clearTimeout(timer));
}

/** Waits for the end of work, but at most `timeout` milliseconds. */
export async function waitAtMost(work: Promise<unknown>, timeout: number): Promise<void> {
  await withTimeout(work, timeout, () => undefined);
}
