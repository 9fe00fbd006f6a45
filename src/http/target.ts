/**
 * Reads the target of a request, and refuses malformed ones.
 *
 * @module
 */
import { memoize } from "../lazy.ts";
import { problemResponse } from "./problem.ts";
import type { ServedRequest } from "./request.ts";

/** RFC 9110, section 4.1, recommends a limit of at least 8000 octets. */
const TARGET_LENGTH_MAX = 8192;

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
  // `URL` does not encode all of `|[]^`; `normalizePath` does, before paths are compared.
  if (!/^\/[\w.~!$&'()*+,=:@%/|[\]^-]*$/.test(path)) return false;
  return !path.includes("//") && !hasDotSegments(path);
}

export type HostRequest = Pick<Request, "headers">;

/** Proxies take a backslash as a character, and `URL` as a slash. */
const BACKSLASH_IN_PATH = /^[^?#]*\\/;

/** Refuses a request target that is malformed or too long, and a malformed `Host` header. */
export function refuseMalformed(
  request: ServedRequest,
  target: RequestTarget,
): Response | undefined {
  const { rawUrl = request.url } = request;
  if (target.pathname.length + target.search.length > TARGET_LENGTH_MAX) {
    return problemResponse(
      414,
      `The request target may have at most ${TARGET_LENGTH_MAX} characters`,
    );
  }
  const isWellFormed = target.pathname !== "" && hostOf(request, target) !== "" &&
    !BACKSLASH_IN_PATH.test(rawUrl);
  if (isWellFormed) return undefined;
  return problemResponse(400, "The request target or the Host header is malformed");
}

export const hostOf = ({ headers }: HostRequest, { host }: RequestTarget): string =>
  parseAuthority(headers.get("host") ?? host ?? "localhost");

/** Returns an empty text if the authority is malformed. */
const parseAuthority = memoize((authority) => {
  const isPlain = /^[\w.~!$&'()*+,;=:[\]-]+$/.test(authority);
  const url = `http://${authority}`;
  return isPlain && URL.canParse(url) ? new URL(url).hostname : "";
});
