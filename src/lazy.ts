/**
 * Values that are made on demand.
 *
 * @module
 */

/**
 * A value that may be ready. A request uses it as `resource.peek() ?? await resource.get()`, so that no
 * promise is made if it is.
 */
export interface Resource<T> {
  /** The value, if it is ready. */
  peek(): T | undefined;
  /** The value; rejects if it cannot be made. */
  get(): Promise<T>;
}

/** Makes a value at the first `get` and keeps it. If `make` rejects, the next `get` calls it again. */
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

/** A resource whose value is a part of another resource's value. */
export function pick<T, R>(resource: Resource<T>, pick: (value: T) => R): Resource<R> {
  return {
    peek() {
      const value = resource.peek();
      return value === undefined ? undefined : pick(value);
    },
    get: async () => pick(await resource.get()),
  };
}
