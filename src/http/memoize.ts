/**
 * Caches the results of a pure function of a string. The cache is bounded, since clients choose the
 * inputs.
 *
 * @module
 */

const INPUT_LENGTH_MAX = 512;

const RESULTS_MAX = 128;

/** Wraps a pure function so that it is not called again for the same input. */
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
