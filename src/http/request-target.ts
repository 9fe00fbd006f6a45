/**
 * The target of a request (RFC 9112, section 3.2).
 *
 * @module
 */
import { memoize } from "./memoize.ts";

/** A parsed request target. */
export interface RequestTarget {
  pathname: string;
  /** The host name in lower case, without a port; `undefined` if the target is only a path. */
  host: string | undefined;
}

/**
 * Parses a request's `url`.
 *
 * @param url an absolute URL of HTTP, or a path: `node:http` gives the target as it was sent
 * @returns `null` if it is neither
 */
export const parseTarget: (url: string) => RequestTarget | null = memoize(
  (url): RequestTarget | null => {
    const isPath = url.startsWith("/");
    const absolute = isPath ? `http://localhost${url}` : url;
    if (!URL.canParse(absolute)) return null;
    const { protocol, pathname, hostname } = new URL(absolute);
    if (!/^https?:$/.test(protocol)) return null;
    return { pathname, host: isPath ? undefined : hostname };
  },
);
