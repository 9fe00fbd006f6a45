/**
 * The path below which the service is mounted in a server that has other paths besides.
 *
 * @module
 */

/** Takes a prefix off paths. */
export interface Prefix {
  /** The rest of a path after the prefix; `/` for the prefix alone, `undefined` outside of it. */
  strip(pathname: string): string | undefined;
  /** Makes a reference that is relative to `<prefix>/` right for a path that may lack that slash. */
  relative(reference: string, pathname: string): string;
}

/**
 * Makes a prefix.
 *
 * @param prefix such as `/node1`, or `""` for none
 * @throws {TypeError} where it ends with a slash, does not begin with one, or holds what a URL encodes
 */
export function createPrefix(prefix: string): Prefix {
  if (!/^(\/[\w.~-]+)*$/.test(prefix)) {
    throw new TypeError(`A prefix looks like "/node1", not ${JSON.stringify(prefix)}`);
  }
  const last = prefix.slice(prefix.lastIndexOf("/") + 1);
  const start = `${prefix}/`;
  return {
    strip(pathname) {
      if (prefix && pathname === prefix) return "/";
      return pathname.startsWith(start) ? pathname.slice(prefix.length) : undefined;
    },
    relative: (reference, pathname) =>
      prefix && pathname === prefix ? `${last}/${reference}` : reference,
  };
}
