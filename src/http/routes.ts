/**
 * The table of routes: finds the route of a request, and responds to requests with other methods.
 *
 * | path                                        | served by                              |
 * | ------------------------------------------- | -------------------------------------- |
 * | of the service (`own-paths`)                | `own-routes` and `call-routes`         |
 * | of an operation of the host                 | `host-operations`                      |
 * | `/` and `/v1`, if the client wants no page  | the node, as below, if it has the path |
 * | any other path, with `forward.at_root`      | the node (`drop-in`)                   |
 *
 * An operation of the host replaces `/v1/events` and `/v1/history`.
 *
 * @module
 */
import { IttyRouter } from "itty-router";
import { isOwnPath } from "./own-paths.ts";
import type { ServedRequest } from "./request.ts";
import type { RequestTarget } from "./target.ts";
import {
  type CommonHeaders,
  type CommonHeadersFor,
  isPreflight,
  preflightHeaders,
} from "./common-headers.ts";
import { notAllowed, notFound } from "./problem.ts";
import { bareResponse } from "./response.ts";

export interface Route {
  /**
   * A path as in a description, such as `/v1/rpc/{method}`. `{path}` matches any number of
   * segments, even none.
   */
  readonly path: string;
  readonly methods: readonly string[];
  readonly handle: Handler;
  readonly headersFor: CommonHeadersFor;
  /** True if a slash may follow the path. */
  readonly allowsSlash?: boolean;
  /** Returns the methods that do not get 405 at a path, if the node's description has the path. */
  readonly methodsAt?: (path: string) => Promise<readonly string[] | undefined>;
}

export type Handler = (routed: RoutedRequest) => Response | Promise<Response>;

/** What metrics and the common headers need of a route. */
export type Matched = Pick<Route, "path" | "headersFor">;

/** A route that is not in the table of itty-router, such as an operation of the host. */
export interface OtherRoute extends Route {
  /** The template alone does not tell. */
  matches(path: string): boolean;
}

/**
 * A request on its way. This object stands for the request in itty-router, since itty-router sets
 * `params`, which Bun forbids for a `Request`, and since the request's own URL may have a prefix.
 */
export class RoutedRequest {
  readonly request: ServedRequest;
  readonly target: RequestTarget;
  /** The path without the prefix at which the host mounts the service. */
  readonly path: string;
  /** Further arguments for handlers of the host. */
  readonly context: readonly unknown[];
  readonly method: string;
  readonly url: string;
  /** The route at the path, even if the route has another method. */
  matched: Matched;
  constructor(
    request: ServedRequest,
    target: RequestTarget,
    path: string,
    context: readonly unknown[],
    unmatched: Matched,
  ) {
    this.request = request;
    this.target = target;
    this.path = path;
    this.context = context;
    this.method = request.method;
    this.url = `http://localhost${path}`;
    this.matched = unmatched;
  }

  commonHeaders(): CommonHeaders {
    return this.matched.headersFor(this.request);
  }
}

export class Routes {
  readonly #router = IttyRouter();
  /** The methods of all routes, in the order in which the routes are tried. */
  readonly #places: { method: string; route: Route; matches(path: string): boolean }[] = [];
  readonly #root: Route | undefined;
  readonly #hint: (routed: RoutedRequest) => string;
  #others: readonly OtherRoute[] = [];

  /**
   * @param routes tried in this order
   * @param others tried after `routes`
   * @param hint returns a sentence for a client that may have a wrong address
   * @param root the route of all paths that are neither ours nor of `others`
   * @throws {TypeError} if one of `others` has the method and path of one of `routes`
   */
  constructor(
    routes: readonly Route[],
    others: readonly OtherRoute[],
    hint: (routed: RoutedRequest) => string,
    root?: Route,
  ) {
    for (const route of routes) this.#add(route);
    const taken = others.map(({ path, methods: [method = ""] }) => ({ path, method }))
      .filter(({ path, method }) => this.at(path).has(method))
      .map(({ path, method }) => `${method} ${path} is served already`);
    if (taken.length > 0) throw new TypeError(taken.join("\n"));
    this.#others = others;
    for (const route of others) {
      for (const method of route.methods) {
        this.#places.push({ method, route, matches: (path) => route.matches(path) });
      }
    }
    this.#root = root;
    this.#hint = hint;
    if (root) this.#add(root);
  }

  #add(route: Route): void {
    for (const method of route.methods) {
      this.#router[method.toLowerCase()]!(patternOf(route), (routed: RoutedRequest) => {
        if (!this.#isAt(route, routed.path)) return undefined;
        routed.matched = route;
        return route.handle(routed);
      });
      // The router has made a pattern of the path.
      const [, pattern] = this.#router.routes.at(-1)!;
      const matches = (path: string) => pattern.test(path) && this.#isAt(route, path);
      this.#places.push({ method, route, matches });
    }
  }

  respond(routed: RoutedRequest): Promise<Response> {
    return this.#router.fetch(routed)
      .then((response?: Response) => response ?? this.#respondOther(routed));
  }

  /** Tells whether a path has a route other than the root's. */
  isOwn(path: string): boolean {
    return [...this.at(path).values()].some((route) => route !== this.#root);
  }

  /** Returns the routes at a path by their methods. */
  at(path: string): ReadonlyMap<string, Route> {
    const found = new Map<string, Route>();
    for (const { method, route, matches } of this.#places) {
      if (!found.has(method) && matches(path)) found.set(method, route);
    }
    return found;
  }

  /** itty-router ignores slashes at the end, but the relative links of a page would break there. */
  #isAt(route: Route, path: string): boolean {
    if (route === this.#root) {
      return !isOwnPath(path) && !this.#others.some((other) => other.matches(path));
    }
    const { path: template, allowsSlash = false } = route;
    return template.endsWith("/{path}") || !path.endsWith(allowsSlash ? "//" : "/");
  }

  async #respondOther(routed: RoutedRequest): Promise<Response> {
    const { request, path } = routed;
    const found = this.at(path);
    const [first] = found.values();
    if (!first) return notFound(path, this.#hint(routed));
    const route = found.get(request.method);
    routed.matched = route ?? first;
    if (route) return await route.handle(routed);
    const methods = await allowedMethods(path, found);
    if (request.method !== "OPTIONS") return notAllowed(methods, this.#hint(routed));
    const allow = [...methods, "OPTIONS"].join(", ");
    return bareResponse(204, { allow, ...isPreflight(request) && preflight(routed, found) });
  }
}

/** The path in the syntax of itty-router. */
const patternOf = ({ path }: Route): string =>
  path.replace("{path}", "*").replaceAll(/\{(\w+)\}/g, ":$1");

/** Returns the methods that do not get 405 at a path. */
async function allowedMethods(
  path: string,
  found: ReadonlyMap<string, Route>,
): Promise<readonly string[]> {
  // A path has at most one route that depends on the description.
  const ofNode = [...found.values()].find(({ methodsAt }) => methodsAt);
  const described = await ofNode?.methodsAt?.(path);
  const methods = [...found.keys()];
  if (!described) return methods;
  return methods.filter((method) => !found.get(method)!.methodsAt || described.includes(method));
}

function preflight(
  routed: RoutedRequest,
  found: ReadonlyMap<string, Route>,
): Record<string, string> {
  const { request } = routed;
  const asked = found.get(request.headers.get("access-control-request-method") ?? "");
  if (asked) routed.matched = asked;
  const { headersFor } = routed.matched;
  // Browsers cache a preflight response for all methods in it, so these methods must allow the same
  // origins. They cache the names of headers even for a `POST` that is not in it, which must not
  // reach the node with `X-Nodeface`.
  const calls = [...found.values()].filter(({ methodsAt }) => methodsAt);
  const isAllowed = [routed.matched, ...calls].every((route) =>
    "access-control-allow-origin" in route.headersFor(request).headers
  );
  const methods = [...found].filter(([, route]) => route.headersFor === headersFor)
    .map(([method]) => method);
  return isAllowed ? preflightHeaders(methods) : {};
}

/** A relative `Location` works behind any proxy prefix (RFC 9110, section 10.2.2). */
export function redirect(location: string): Response {
  return bareResponse(307, { location, "content-length": "0", "cache-control": "no-cache" });
}
