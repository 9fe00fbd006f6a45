/**
 * The prefix below which a host that serves other paths too has mounted the service.
 *
 * @module
 */

export interface Prefix {
  /**
   * The paths of the service that a requested path may stand for, the likeliest first. The host's mount may
   * have taken the prefix off, or its first parts.
   */
  strip(pathname: string): readonly string[];
  /** The path after the whole prefix, in the same form; none for a path outside of it. */
  stripWhole(pathname: string): readonly string[];
  /** Resolves a path such as `v1/spec` for a `Location`; `original` is the path as the client sent it, if known. */
  locate(reference: string, pathname: string, original: string | undefined): string;
}

/** @param prefix such as `/deep/node`, or `""` for none */
export function createPrefix(prefix: string): Prefix {
  const starts = endsOf(prefix);
  const stripAll = (pathname: string, starts: readonly string[]) =>
    starts.map((start) => stripStart(pathname, start)).filter((path) => path !== undefined);
  return {
    strip: (pathname) => stripAll(pathname, starts),
    stripWhole: (pathname) => stripAll(pathname, [prefix]),
    locate(reference, pathname, original) {
      const isWhole = stripStart(pathname, prefix) !== undefined;
      return original !== undefined || isWhole
        ? relativeTo(original ?? pathname, reference)
        : `${prefix}/${reference}`;
    },
  };
}

/** `/deep/node`, `/node` and `""`: what may be left of a prefix. */
function endsOf(prefix: string): string[] {
  const parts = prefix.split("/").slice(1);
  return [...parts.map((_, i) => `/${parts.slice(i).join("/")}`), ""];
}

function stripStart(pathname: string, start: string): string | undefined {
  if (start !== "" && pathname === start) return "/";
  return pathname.startsWith(`${start}/`) ? pathname.slice(start.length) : undefined;
}

/** A reference that is right below a path, whether a slash follows that path or not. */
function relativeTo(pathname: string, reference: string): string {
  const last = pathname.slice(pathname.lastIndexOf("/") + 1);
  if (last === "") return reference;
  // What stands before a colon would be taken for a scheme (RFC 3986, section 4.2).
  return `${last.includes(":") ? "./" : ""}${last}/${reference}`;
}
