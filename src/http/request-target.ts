/**
 * The target of a request (RFC 9112, section 3.2).
 *
 * @module
 */
import { memoize } from "./memoize.ts";

/** A request target, parsed. */
export interface RequestTarget {
  pathname: string;
  /** The host name in lower case, without a port; nothing where there is only a path. */
  host: string | undefined;
}

/**
 * Parses a request's `url`: an absolute URL, or a bare path where the server gives what was sent or
 * the request has no `Host`, as HTTP/1.0 may. Gives `null` where it is neither.
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
