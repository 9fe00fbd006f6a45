/**
 * Remembers results of a pure function, for inputs that are few in honest use and endless in hostile.
 *
 * @module
 */

/** Longer inputs are not what honest clients send again and again. */
const LONGEST = 512;

/**
 * Wraps a pure function of a string so that it runs once for an input that comes again.
 *
 * @param work the function
 * @param most how many results are kept; when there are more, all are forgotten
 */
export function bounded<T>(work: (input: string) => T, most = 128): (input: string) => T {
  const results = new Map<string, T>();
  // Most often it is the one before: to compare a text costs less than to look it up.
  let last: string | undefined;
  let found: T;
  return (input) => {
    if (input === last) return found;
    let result = results.get(input);
    if (result === undefined) {
      result = work(input);
      if (input.length > LONGEST) return result;
      if (results.size >= most) results.clear();
      results.set(input, result);
    }
    last = input;
    return found = result;
  };
}
