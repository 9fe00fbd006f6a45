/**
 * Finds the path of a request below the prefix at which the host application mounts the service.
 *
 * @module
 */
import { hasDotSegments, parseTarget } from "./target.ts";

/** What tells the path that a client requested. */
interface Addressed {
  readonly url: string;
  /** The path before a router has shortened it, if the router tells. */
  readonly originalUrl?: unknown;
}

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
   * Returns the possible paths of a request, likeliest first.
   *
   * @param starts what a path may begin with, of which the router has left it one
   */
  pathsOf(request: Addressed, starts: readonly string[] = this.#ends): readonly string[] {
    const { pathname } = parseTarget(request.url);
    const original = originalOf(request);
    // Behind a prefix that the router has stripped, the node's path may begin like the prefix.
    if (this.#prefix !== "" && original.endsWith(this.#prefix + pathname)) return [pathname];
    const missing = this.#missingAfter(mountOf(pathname, original));
    return starts.filter((start) => missing === undefined || start.toLowerCase() === missing)
      .flatMap((start) => stripStart(pathname, start) ?? []);
  }

  /** Returns the same for a request that the host may not have routed to the service. */
  pathsBelow(request: Addressed): readonly string[] {
    const { url, originalUrl = url } = request;
    if (hasDotSegments(String(originalUrl))) return [];
    return this.pathsOf(request, originalUrl === url ? [this.#prefix] : this.#ends);
  }

  /** Resolves a path such as `v1/spec` for a `Location` header. */
  locate(reference: string, request: Addressed): string {
    const { pathname } = parseTarget(request.url);
    const original = originalOf(request);
    const isKnown = original !== "" || stripStart(pathname, this.#prefix) !== undefined;
    return isKnown ? relativeTo(original || pathname, reference) : `${this.#prefix}/${reference}`;
  }

  /**
   * Returns the rest of the prefix, in lower case, if a router has removed only its beginning. What
   * is beside that rest is not below the prefix.
   */
  #missingAfter(mount: string): string | undefined {
    const prefix = this.#prefix.toLowerCase(), begun = mount.toLowerCase();
    return begun !== "" && prefix.startsWith(`${begun}/`) ? prefix.slice(begun.length) : undefined;
  }
}

/** Returns the path that the client requested, or an empty text if the router does not tell. */
const originalOf = ({ originalUrl }: Addressed): string =>
  typeof originalUrl === "string" ? parseTarget(originalUrl).pathname : "";

/** Returns what a router has removed from the path, or an empty text if it does not tell. */
function mountOf(pathname: string, original: string): string {
  if (original.endsWith(pathname)) return original.slice(0, -pathname.length);
  return pathname === "/" ? original : "";
}

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
