/**
 * Waits for a promise with a limit: a time, or a signal.
 *
 * @module
 */

/** A timer with a longer delay, in milliseconds, would fire at once. */
const TIMER_MAX = 2 ** 31 - 1;

/**
 * Waits for a promise with a time limit.
 *
 * @param promise is not cancelled at the limit; its result is then ignored
 * @param timeout in milliseconds; at most 24 days
 * @param late is called at the limit; returns a value instead, or throws
 */
export function withTimeout<T>(promise: Promise<T>, timeout: number, late: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    }, Math.min(timeout, TIMER_MAX));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * Waits for a promise until a signal is aborted.
 *
 * @param promise is not cancelled; its result is then ignored
 * @throws the signal's reason if it is aborted first
 */
export function withSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    const done = () => signal.removeEventListener("abort", stop);
    promise.then(resolve, reject).finally(done);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  });
}

/** A controller that is aborted with a signal. */
export function following(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  const follow = () => controller.abort(signal.reason);
  signal.addEventListener("abort", follow);
  if (signal.aborted) follow();
  return controller;
}
