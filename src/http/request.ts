/**
 * Reads the target and host of a request, and its path below a prefix.
 *
 * @module
 */
import Negotiator from "negotiator";
import type { Signal } from "../abort-signal.ts";
import type { Bytes } from "../bytes.ts";
import { memoize } from "../lazy.ts";
import { isIpLiteral, isLoopback, isPrivateName } from "./host-names.ts";
import { problem } from "./problem.ts";
import type { Connect, Upgrade } from "./socket.ts";

export interface ServedRequest extends Request {
  /**
   * The path and query that the client requested, if a router such as Express has shortened `url`.
   */
  readonly originalUrl?: unknown;
  /** The URL as it came, if the URL parser may have changed `url`. */
  readonly rawUrl?: string | undefined;
  readonly ip?: string | undefined;
  /** Returns the client's address on runtimes where `ip` is absent. */
  readonly findIp?: (() => string | undefined) | undefined;
  /** Aborted when the client disconnects. This signal is cheaper to create than `signal`. */
  readonly gone?: Signal | undefined;
  /**
   * True if the server can send a `FastResponse`. Other servers may accept only a native
   * `Response`.
   */
  readonly takesFastResponse?: boolean | undefined;
  /**
   * True if the server reads the rest of the content after a response with `connection: close`.
   * Others may close at once, so that a client that still sends gets no response (RFC 9112, section
   * 9.6).
   */
  readonly isReadOn?: boolean | undefined;
  /** The client whose call this is, for the access log; set only if there are clients. */
  clientName?: string | undefined;
  /** Present if the request is a WebSocket handshake, and the server can complete it. */
  readonly upgrade?: Upgrade | undefined;
  /** Opens WebSocket connections, if the server can. */
  readonly connect?: Connect | undefined;
  /** Reads the content of the request more cheaply than `body`. */
  readonly readChunks?: ReadChunks | undefined;
}

/** What `Deno.serve` and `Bun.serve` pass to a handler beside the request. */
interface RuntimeContext {
  readonly remoteAddr?: { readonly hostname?: string | undefined } | undefined;
  requestIP?(request: Request): { readonly address?: string | undefined } | null;
}

/**
 * Returns the client's address, if the server tells it.
 *
 * @param context the arguments that the server passed beside the request
 */
export function addressOf(
  request: ServedRequest,
  [context]: readonly unknown[],
): string | undefined {
  const { ip, findIp } = request;
  if (ip !== undefined || findIp || typeof context !== "object") return ip ?? findIp?.();
  const server = (context ?? {}) as RuntimeContext;
  const { remoteAddr } = server;
  if (remoteAddr) return remoteAddr.hostname;
  return typeof server.requestIP === "function" ? server.requestIP(request)?.address : undefined;
}

/**
 * Returns the signal that is aborted when the client disconnects. `signal` itself is read only if
 * it must be, since that adds a listener to each request.
 */
export const goneOf = (request: ServedRequest): Signal => request.gone ?? request.signal;

/**
 * Reads until the content ends, `accept` returns false, or `stop` aborts. Rejects if the content
 * breaks off.
 */
export type ReadChunks = (accept: (part: Bytes) => boolean, stop: Signal) => Promise<void>;

/**
 * The error of content that the server does not read to its end, since the client has sent it in
 * thousands of tiny parts, or not as HTTP wants.
 */
export const UNREADABLE_CONTENT: Error = new Error("The content of the request cannot be read");

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

export function namesContent({ headers }: Pick<Request, "headers">): boolean {
  const length = headers.get("content-length");
  return headers.has("transfer-encoding") || (length !== null && !/^0+$/.test(length));
}

/** Tells whether a client, such as a browser, asks for HTML rather than for JSON. */
export function prefersHtml({ headers }: Pick<Request, "headers">): boolean {
  const accept = headers.get("accept") ?? "*/*";
  return new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE, HTML_TYPE]) === HTML_TYPE;
}

const JSON_TYPE = "application/json", HTML_TYPE = "text/html";

export function isWebSocket({ headers }: Pick<Request, "headers">): boolean {
  return /\bwebsocket\b/i.test(headers.get("upgrade") ?? "");
}

/**
 * The host names to serve in addition to loopback names and IP literals, without a dot at the end;
 * `"*"` for any. See [Configuration](../docs/configuration.md).
 */
export type Hosts = readonly string[] | "*";

/** The host name that srvx 1.0 writes into the URL if the `Host` header cannot be parsed. */
const UNPARSED = "_invalid_";

/** RFC 9110, section 4.1, recommends a limit of at least 8000 octets. */
const TARGET_LENGTH_MAX = 8192;

/**
 * How a host name may be used:
 *
 * - `served`: a loopback name, an IP literal, or a name in the setting `hosts`
 * - `private`: a name that no public name server gives, such as `nodeface` or `nas.local`. Any
 *   machine in the network can claim such a name, so a hostile page can have one
 * - `foreign`: any other name
 */
export type HostTrust = "served" | "private" | "foreign";

const STRICTEST_FIRST: readonly HostTrust[] = ["foreign", "private", "served"];

type HostRequest = Pick<Request, "headers">;

/** Proxies take a backslash as a character, and `URL` as a slash. */
const BACKSLASH_IN_PATH = /^[^?#]*\\/;

/** Refuses a request target that is malformed or too long, and a malformed `Host` header. */
export function refuseMalformed(
  request: ServedRequest,
  target: RequestTarget,
): Response | undefined {
  const { rawUrl = request.url } = request;
  if (target.pathname.length + target.search.length > TARGET_LENGTH_MAX) {
    return problem(414, `The request target may have at most ${TARGET_LENGTH_MAX} characters`);
  }
  const isWellFormed = target.pathname !== "" && hostOf(request, target) !== "" &&
    !BACKSLASH_IN_PATH.test(rawUrl);
  if (isWellFormed) return undefined;
  return problem(400, "The request target or the Host header is malformed");
}

/**
 * Protects against DNS rebinding, in which a hostile web page makes its own host name resolve to
 * this machine, and can then read responses of this service. The host in an absolute target may
 * differ from the `Host` header; the stricter use counts.
 *
 * @param hosts the names of the service
 */
export function hostTrust(hosts: Hosts, request: HostRequest, target: RequestTarget): HostTrust {
  const host = hostOf(request, target);
  const { host: inTarget = host } = target;
  const names = inTarget === UNPARSED ? [host] : [host, inTarget];
  const trusts = names.map((name) => trustInName(hosts, name));
  return STRICTEST_FIRST.find((trust) => trusts.includes(trust))!;
}

function trustInName(hosts: Hosts, host: string): HostTrust {
  if (host === "") return "foreign";
  const name = host.replace(/\.$/, "");
  const isServed = hosts === "*" || isIpLiteral(name) || isLoopback(name) || hosts.includes(name);
  return isServed ? "served" : isPrivateName(name) ? "private" : "foreign";
}

const hostOf = ({ headers }: HostRequest, { host }: RequestTarget): string =>
  parseAuthority(headers.get("host") ?? host ?? "localhost");

/** Returns an empty text if the authority is malformed. */
const parseAuthority = memoize((authority) => {
  const isPlain = /^[\w.~!$&'()*+,;=:[\]-]+$/.test(authority);
  const url = `http://${authority}`;
  return isPlain && URL.canParse(url) ? new URL(url).hostname : "";
});

/** The path at which the host application mounts the service. */
export class Prefix {
  readonly #prefix: string;
  /** For the prefix `/deep/node`: `/deep/node`, `/node` and `""`. */
  readonly #ends: readonly string[];

  /** @param prefix such as `/deep/node`, or `""` for none */
  constructor(prefix: string) {
    const parts = prefix.split("/").slice(1);
    this.#prefix = prefix;
    this.#ends = [...parts.map((_, i) => `/${parts.slice(i).join("/")}`), ""];
  }

  /**
   * Returns the possible paths, likeliest first.
   *
   * @param isWhole true if no router can have stripped a part of the prefix
   * @param original the path that the client requested, or `""` if the router does not tell
   */
  strip(pathname: string, isWhole = false, original = ""): readonly string[] {
    // Behind a prefix that the router has stripped, the node's path may begin like the prefix.
    if (this.#prefix !== "" && original.endsWith(this.#prefix + pathname)) return [pathname];
    const starts = isWhole ? [this.#prefix] : this.#ends;
    const missing = this.#missingAfter(mountOf(pathname, original));
    return starts.filter((start) => missing === undefined || start.toLowerCase() === missing)
      .flatMap((start) => stripStart(pathname, start) ?? []);
  }

  /**
   * Returns the rest of the prefix, in lower case, if a router has removed only its beginning. What
   * is beside that rest is not below the prefix.
   */
  #missingAfter(mount: string): string | undefined {
    const prefix = this.#prefix.toLowerCase(), begun = mount.toLowerCase();
    return begun !== "" && prefix.startsWith(`${begun}/`) ? prefix.slice(begun.length) : undefined;
  }

  /**
   * Resolves a path such as `v1/spec` for a `Location` header.
   *
   * @param original the path that the client requested, or `""` if the router does not tell
   */
  locate(reference: string, pathname: string, original: string): string {
    const isKnown = original !== "" || stripStart(pathname, this.#prefix) !== undefined;
    return isKnown ? relativeTo(original || pathname, reference) : `${this.#prefix}/${reference}`;
  }
}

/** Returns what a router has removed from the path, or an empty text if it does not tell. */
function mountOf(pathname: string, original: string): string {
  if (original.endsWith(pathname)) return original.slice(0, -pathname.length);
  return pathname === "/" ? original : "";
}

/** Tells whether a path leads to another one than its segments say. Routers do not resolve it. */
export const hasDotSegments = (url: string): boolean =>
  /^[^?#]*[\\/](?:\.|%2e){1,2}(?:[\\/?#]|$)/i.test(url);

function stripStart(pathname: string, start: string): string | undefined {
  if (start !== "" && pathname === start) return "/";
  return pathname.startsWith(`${start}/`) ? pathname.slice(start.length) : undefined;
}

function relativeTo(pathname: string, reference: string): string {
  const last = pathname.slice(pathname.lastIndexOf("/") + 1);
  if (last === "") return reference;
  // A first segment with a colon would be parsed as a scheme (RFC 3986, section 4.2).
  return `${last.includes(":") ? "./" : ""}${last}/${reference}`;
}
