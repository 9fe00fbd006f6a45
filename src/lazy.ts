/**
 * Caches values that are created on demand, and prevents concurrent runs of the same work.
 *
 * @module
 */

export interface Resource<T> {
  get(): T | Promise<T>;
}

export interface Lazy<T> extends Resource<T> {
  get(): Promise<T>;
  readonly current: T | undefined;
}

/**
 * If `make` rejects, the next `get` calls `make` again.
 *
 * @param patience the milliseconds after which `make` counts as stopped. On workerd, work stops
 * silently when the request that started it ends
 */
export function lazy<T>(make: () => Promise<T>, patience: number = Infinity): Lazy<T> {
  let value: T | undefined;
  let making: Promise<T> | undefined;
  let since = 0;
  const start = () => {
    since = performance.now();
    const begun = making = make().then(
      (made) => value = made,
      (error) => {
        if (making === begun) making = undefined;
        throw error;
      },
    );
    return begun;
  };
  return {
    get current() {
      return value;
    },
    get() {
      const hasStopped = value === undefined && performance.now() - since > patience;
      return making && !hasStopped ? making : start();
    },
  };
}

/** The cache is limited, since clients choose its keys. */
const INPUT_LENGTH_MAX = 512, RESULTS_MAX = 128;

export function memoize<T>(work: (input: string) => T): (input: string) => T {
  const results = new Map<string, T>();
  return (input) => {
    let result = results.get(input);
    if (result !== undefined) return result;
    result = work(input);
    if (input.length > INPUT_LENGTH_MAX) return result;
    if (results.size >= RESULTS_MAX) results.clear();
    results.set(input, result);
    return result;
  };
}
