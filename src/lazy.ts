/**
 * Work that is done once, when its result is first asked for.
 *
 * @module
 */

/**
 * A value that may be there already. A request that finds it with `peek` is answered at once, without
 * a promise: `const page = resource.peek() ?? await resource.get()`.
 */
export interface Resource<T> {
  /** The value, if it is there. */
  peek(): T | undefined;
  /** The value; rejects where it cannot be had. */
  get(): Promise<T>;
}

/**
 * A value that is made when it is first asked for, and kept. Where making it fails, the next `get`
 * tries again.
 *
 * @param make makes the value
 */
export function lazy<T>(make: () => Promise<T>): Resource<T> {
  let value: T | undefined;
  let making: Promise<T> | undefined;
  return {
    peek: () => value,
    get: () =>
      making ??= make().then(
        (made) => value = made,
        (error) => {
          making = undefined;
          throw error;
        },
      ),
  };
}

/**
 * A part of another resource's value.
 *
 * @param resource the whole
 * @param pick gives the part
 */
export function pick<T, R>(resource: Resource<T>, pick: (value: T) => R): Resource<R> {
  return {
    peek() {
      const value = resource.peek();
      return value === undefined ? undefined : pick(value);
    },
    get: async () => pick(await resource.get()),
  };
}

/**
 * Wraps work so that it runs once at a time. A call that comes during a run gets the next one, which
 * begins after the call: what the caller has just changed is then seen.
 *
 * @param work what is run
 */
export function serialize(work: () => Promise<void>): () => Promise<void> {
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
