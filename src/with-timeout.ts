/**
 * Waits for a promise with a time limit.
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
