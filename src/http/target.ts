/**
 * Reads the target of a request.
 *
 * @module
 */
import { memoize } from "../lazy.ts";

export interface RequestTarget {
  /** Empty if the target is malformed. */
  readonly pathname: string;
  readonly search: string;
  /** The host name in lower case, without a port; `undefined` if the target is only a path. */
  readonly host: string | undefined;
}

/** The query of most requests stays as it is, and differs from the one before. */
const WITH_PLAIN_QUERY = /^([^?#]*)(\?[!$-&(-;=?-~]+)$/;

export function parseTarget(url: string): RequestTarget {
  const [, start = url, search] = WITH_PLAIN_QUERY.exec(url) ?? [];
  const target = parseUrl(start);
  return search ? { ...target, search } : target;
}

const parseUrl = memoize((url): RequestTarget => {
  const isPath = url.startsWith("/");
  try {
    // With a base URL as the second argument, `new URL` would parse `//evil.example/` as a host.
    const target = new URL(isPath ? `http://localhost${url}` : url);
    const { protocol, pathname, search, hostname } = target;
    if (protocol !== "http:" && protocol !== "https:") return MALFORMED;
    return { pathname, search, host: isPath ? undefined : hostname };
  } catch {
    return MALFORMED;
  }
});

const MALFORMED: RequestTarget = { pathname: "", search: "", host: undefined };

/** Tells whether a path leads to another one than its segments say. Routers do not resolve it. */
export const hasDotSegments = (url: string): boolean =>
  /^[^?#]*[\\/](?:\.|%2e){1,2}(?:[\\/?#]|$)/i.test(url);

/** Tells whether all parsers read a path in the same way. */
export function isUnambiguous(path: string): boolean {
  if (!/^\/[\w.~!$&'()*+,=:@%/-]*$/.test(path)) return false;
  return !path.includes("//") && !hasDotSegments(path);
}
