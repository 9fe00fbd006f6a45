/**
 * Remembers results of a pure function, for inputs that are few in honest use and endless in hostile.
 *
 * @module
 */

/** Longer inputs are not kept: honest clients do not send them again and again. */
const LENGTH_MAX = 512;

/** How many results are kept; when there are more, all are forgotten. */
const RESULTS_MAX = 128;

/**
 * Wraps a pure function of a string so that it runs once for an input that comes again.
 *
 * @param work the function
 */
export function memoize<T>(work: (input: string) => T): (input: string) => T {
  const results = new Map<string, T>();
  return (input) => {
    let result = results.get(input);
    if (result !== undefined) return result;
    result = work(input);
    if (input.length > LENGTH_MAX) return result;
    if (results.size >= RESULTS_MAX) results.clear();
    results.set(input, result);
    return result;
  };
}
