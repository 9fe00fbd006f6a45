/**
 * The path under which a host mounts the service.
 *
 * @module
 */

/** A path prefix such as `/node1`. */
export interface Prefix {
  /** The path after the prefix; `/` for the prefix itself, `undefined` for a path outside of it. */
  strip(pathname: string): string | undefined;
  /**
   * Resolves a reference against `<prefix>/`.
   *
   * @param reference a relative reference without a leading slash
   * @param pathname the requested path, which may be `<prefix>` without a slash
   * @returns a reference relative to that path
   */
  relative(reference: string, pathname: string): string;
}

/**
 * Makes a prefix.
 *
 * @param prefix such as `/node1`, or `""` for none
 */
export function createPrefix(prefix: string): Prefix {
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
