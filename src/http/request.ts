/**
 * Reads the head of a request: its target, its path below a prefix, whether it has content, and whether a cross-origin
 * page sent it.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { memoize } from "../lazy.ts";
import type { Signal } from "../with-timeout.ts";

/** A request from a server or a router, with additions to the standard one. */
export interface ServedRequest extends Request {
  /** The path and query that the client requested, if a router has shortened `url`, as Express does. */
  readonly originalUrl?: unknown;
  /** The client's address, if the server reports it. */
  readonly ip?: string | undefined;
  /** Aborted when the client disconnects; cheaper than `signal`. */
  readonly gone?: Signal | undefined;
  /** Reads the content; cheaper than `body`, a stream of the platform. */
  readonly readChunks?: ReadChunks | undefined;
}

/**
 * Reads a content part by part, to its end or until `take` returns false or `stop` is aborted. Rejects if the content
 * breaks off.
 */
export type ReadChunks = (take: (part: Bytes) => boolean, stop: Signal) => Promise<void>;

export interface RequestTarget {
  readonly pathname: string;
  readonly search: string;
  /** The host name in lower case, without a port; `undefined` if the target is only a path. */
  readonly host: string | undefined;
}

/** Parses the `url` of a request: absolute, or a path, as `node:http` gives it. */
export const parseTarget: (url: string) => RequestTarget | undefined = memoize((url) => {
  const isPath = url.startsWith("/");
  try {
    // With a base URL, `//evil.example/` would be parsed as a host.
    const target = new URL(isPath ? `http://localhost${url}` : url);
    const { protocol, pathname, search, hostname } = target;
    if (protocol !== "http:" && protocol !== "https:") return undefined;
    return { pathname, search, host: isPath ? undefined : hostname };
  } catch {
    return undefined;
  }
});

/** RFC 9112, section 6. */
export function namesContent({ headers }: Pick<Request, "headers">): boolean {
  const length = headers.get("content-length");
  return headers.has("transfer-encoding") || (length !== null && !/^0+$/.test(length));
}

/**
 * Tells whether a page of another origin sent a request. Browsers report that in `Sec-Fetch-Site` to HTTPS and loopback
 * addresses (Fetch Metadata, section 2.3). Otherwise `Origin` is compared with `Host`, so a proxy must pass `Host` on.
 * Programs send neither.
 */
export function isFromOtherOrigin({ headers, url }: Pick<Request, "headers" | "url">): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  const origin = headers.get("origin");
  if (origin === null) return false;
  // Pages with an opaque origin send `null`.
  if (!URL.canParse(origin)) return true;
  const { protocol, host } = new URL(origin);
  const own = headers.get("host");
  const address = own === null ? url : `${protocol}//${own}`;
  return !URL.canParse(address) || new URL(address).host !== host;
}

/** Matches 127.0.0.0/8 and `::1` (RFC 6890), `localhost` and all names below it (RFC 6761, section 6.3). */
const LOOPBACK = /^(?:127(?:\.\d+){3}|\[::1\]|(?:.+\.)?localhost\.?)$/;

/** Tells whether a host name, as `URL` writes it, is a loopback name or address. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** The prefix below which a host mounts the service next to other paths. */
export interface Prefix {
  /**
   * Returns the paths of the service that a requested path may stand for, the likeliest first: the host's router may
   * have stripped the prefix or part of it.
   */
  strip(pathname: string): readonly string[];
  /** Returns the path after the whole prefix, in the same form; `undefined` outside of it. */
  stripWhole(pathname: string): readonly string[];
  /** Resolves a path such as `v1/spec` for `Location`; `original` is the path that the client requested, if known. */
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

/** `/deep/node`, `/node` and `""`: the possible remains of a prefix. */
function endsOf(prefix: string): string[] {
  const parts = prefix.split("/").slice(1);
  return [...parts.map((_, i) => `/${parts.slice(i).join("/")}`), ""];
}

function stripStart(pathname: string, start: string): string | undefined {
  if (start !== "" && pathname === start) return "/";
  return pathname.startsWith(`${start}/`) ? pathname.slice(start.length) : undefined;
}

/** Returns a reference directly below a path, with or without a trailing slash. */
function relativeTo(pathname: string, reference: string): string {
  const last = pathname.slice(pathname.lastIndexOf("/") + 1);
  if (last === "") return reference;
  // A part with a colon would be parsed as a scheme (RFC 3986, section 4.2).
  return `${last.includes(":") ? "./" : ""}${last}/${reference}`;
}
