/**
 * Reads the head of a request: its target, its path below a prefix, whether it has content, and whether a page of another
 * origin sends it.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { memoize } from "../lazy.ts";
import type { Signal } from "../with-timeout.ts";

/** A request as a server or a router may give it: with more than the standard says. */
export interface ServedRequest extends Request {
  /** The path and query that the client asked for, where a router has shortened `url`, as Express does. */
  readonly originalUrl?: unknown;
  /** The address of the client, where the server tells it. */
  readonly ip?: string | undefined;
  /** Is aborted when the client leaves, as `signal`, which costs more. */
  readonly gone?: Signal | undefined;
  /** Reads the content without `body`, a stream of the platform, which costs more. */
  readonly readChunks?: ReadChunks | undefined;
}

/**
 * Reads a content part by part, up to its end, or until `take` wants no more or `stop` is aborted. Rejects where it
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
    // With a base, `//evil.example/` would name a host.
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
 * Tells whether a page of another origin sends a request. Browsers say so to HTTPS and loopback addresses in
 * `Sec-Fetch-Site` (Fetch Metadata, section 2.3). Elsewhere `Origin` is compared with `Host`, so a proxy
 * has to hand that on. Programs send neither.
 */
export function isFromOtherOrigin({ headers, url }: Pick<Request, "headers" | "url">): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  const origin = headers.get("origin");
  if (origin === null) return false;
  // Pages without an origin send `null`.
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

/** The prefix below which a host that serves other paths too has mounted the service. */
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
