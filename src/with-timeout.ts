/**
 * Waits for something, but not for ever.
 *
 * @module
 */

/** The longest time that a timer can be set to; a longer one would fire at once. */
const TIMER_MAX = 2 ** 31 - 1;

/**
 * Waits for a promise until it is late.
 *
 * @param promise what to wait for; it goes on when it is late, and nobody hears how it ends
 * @param timeout in milliseconds; none is longer than 24 days
 * @param late gives the value to go on with instead, or throws
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
