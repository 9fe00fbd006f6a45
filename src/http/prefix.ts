/**
 * The path that comes before all others where a server has others besides.
 *
 * @module
 */

/** What a prefix makes of the path of a request. */
export interface Prefix {
  /** The part of a path after the prefix; `/` for the prefix alone, `undefined` outside of it. */
  strip(pathname: string): string | undefined;
  /** Makes a reference that is relative to `/` right for a path, which may be the prefix alone. */
  relative(reference: string, pathname: string): string;
}

/**
 * Makes a prefix.
 *
 * @param prefix such as `/node1`, or `""` for none
 * @throws {TypeError} where it has a slash at the end or none in front, or what a URL would encode
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
