/**
 * Remembers what was made of an object for as long as there is the object.
 *
 * @module
 */

/** Wraps a pure function of an object so that it runs once for each. */
export function remember<K extends object, T>(make: (key: K) => T): (key: K) => T {
  const made = new WeakMap<K, T>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) made.set(key, value = make(key));
    return value;
  };
}
