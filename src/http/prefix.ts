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

/**
 * A router of the host may remove the prefix, or its beginning, and may tell the path before
 * (`originalUrl`). For the prefix `/a/node`, these requests have these possible paths:
 *
 * | router                    | `originalUrl`  | `url`          | paths                   |
 * | ------------------------- | -------------- | -------------- | ----------------------- |
 * | none                      |                | `/a/node/info` | `/info`, `/a/node/info` |
 * | Express, at the root      | `/a/node/info` | `/a/node/info` | `/info`, `/a/node/info` |
 * | Express, at `/a/node`     | `/a/node/info` | `/info`        | `/info`                 |
 * | Express, at `/a`          | `/a/node/info` | `/node/info`   | `/info`                 |
 * | Express, at `/a`          | `/a/info`      | `/info`        | none                    |
 * | silent, removes `/a/node` |                | `/info`        | `/info`                 |
 * | silent, removes `/a`      |                | `/node/info`   | `/info`, `/node/info`   |
 */
export class Prefix {
  readonly #prefix: string;
  /** What a router may have left of `/deep/node`: `/deep/node`, `/node` or `""`. */
  readonly #remainders: readonly string[];

  /** @param prefix such as `/deep/node`, or `""` for none */
  constructor(prefix: string) {
    const parts = prefix.split("/").slice(1);
    this.#prefix = prefix;
    this.#remainders = [...parts.map((_, i) => `/${parts.slice(i).join("/")}`), ""];
  }

  /**
   * Returns the possible paths of a request, likeliest first.
   *
   * @param remainders what the router may have left of the prefix
   */
  pathsOf(
    request: Addressed,
    remainders: readonly string[] = this.#remainders,
  ): readonly string[] {
    const { pathname } = parseTarget(request.url);
    const original = originalOf(request);
    // Behind a prefix that the router has removed, the node's path may begin like the prefix.
    if (this.#prefix !== "" && original?.endsWith(this.#prefix + pathname)) return [pathname];
    const known = this.#remainderAfter(mountOf(pathname, original));
    return remainders.filter((one) => known === undefined || one.toLowerCase() === known)
      .flatMap((one) => stripStart(pathname, one) ?? []);
  }

  /**
   * Returns the same for a request that the host may not have routed to the service: unless a
   * router tells that it has removed something, the path must begin with the whole prefix.
   */
  pathsBelow(request: Addressed): readonly string[] {
    const { url, originalUrl = url } = request;
    if (hasDotSegments(String(originalUrl))) return [];
    return this.pathsOf(request, originalUrl === url ? [this.#prefix] : this.#remainders);
  }

  /** Resolves a path such as `v1/spec` for a `Location` header. */
  locate(reference: string, request: Addressed): string {
    const { pathname } = parseTarget(request.url);
    const isBelow = stripStart(pathname, this.#prefix) !== undefined;
    const requested = originalOf(request) ?? (isBelow ? pathname : undefined);
    return requested === undefined
      ? `${this.#prefix}/${reference}`
      : relativeTo(requested, reference);
  }

  /**
   * Returns what is left of the prefix, in lower case, if a router has removed only its beginning.
   * Other paths are not below the prefix.
   */
  #remainderAfter(mount: string = ""): string | undefined {
    const prefix = this.#prefix.toLowerCase(), removed = mount.toLowerCase();
    const isBeginning = removed !== "" && prefix.startsWith(`${removed}/`);
    return isBeginning ? prefix.slice(removed.length) : undefined;
  }
}

/** Returns the path that the client requested, or `undefined` if the router does not tell. */
function originalOf({ originalUrl }: Addressed): string | undefined {
  if (typeof originalUrl !== "string") return undefined;
  // The path of a malformed target is empty.
  return parseTarget(originalUrl).pathname || undefined;
}

/** Returns what a router has removed from the path, or `undefined` if it does not tell. */
function mountOf(pathname: string, original: string | undefined): string | undefined {
  if (original?.endsWith(pathname)) return original.slice(0, -pathname.length);
  return pathname === "/" ? original : undefined;
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
