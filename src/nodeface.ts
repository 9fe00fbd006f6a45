/**
 * The service as one function from `Request` to `Response`, the same on every runtime.
 *
 * A request passes the host guard, the table of routes and a handler, which finds a representation;
 * `respond` makes the answer of it, and `finish` completes that. Errors leave the same way, as problem
 * details.
 *
 * @module
 */
import { type IRequestStrict, Router } from "itty-router";
import { createFinish } from "./http/finish.ts";
import { createHostGuard } from "./http/host-guard.ts";
import { memoize } from "./http/memoize.ts";
import type { Answer, Awaitable, RequestHead } from "./http/message.ts";
import { answerMethod, notFound } from "./http/methods.ts";
import { parsePathTemplate } from "./http/path-template.ts";
import { createPrefix, type Prefix } from "./http/prefix.ts";
import { problem } from "./http/problem-details.ts";
import type { Representation } from "./http/representation.ts";
import { respond } from "./http/respond.ts";
import { toResponse } from "./http/to-response.ts";
import type { Resource } from "./lazy.ts";
import { type NodefaceOptions, type Operation, resolveOptions } from "./options.ts";
import { createResources, type Resources } from "./resources.ts";

/** A service: hand `fetch` to any server that speaks `Request` and `Response`. */
export interface Nodeface {
  /** Answers one request, at once where the answer is prepared; neither throws nor rejects. */
  fetch(request: Request): Response | Promise<Response>;
  /**
   * Answers one request with plain data, for a server that writes it itself, as the adapters here
   * do: no bytes are copied. What a host's operation answers stays the `Response` it is.
   *
   * @param head what there is of the request
   * @param makeRequest makes all of it, for a host's operation
   */
  answer(
    head: RequestHead,
    makeRequest: () => Awaitable<Request>,
  ): Awaitable<Answer | Response>;
  /**
   * Looks whether the node's description has changed and, if so, shows the new one; to be called
   * every few seconds. A version that cannot be shown leaves the old one where it is.
   */
  refresh(): Promise<void>;
  /**
   * Prepares every answer but the explorer's files, which the first request would do otherwise.
   *
   * @throws {Error} where a part of it cannot be made
   */
  ready(): Promise<void>;
}

/**
 * Makes a service. Nothing is read before the first request or the call of `ready`.
 *
 * @param options all of them may be left out
 * @throws {TypeError} with everything that is wrong with the options
 * @example
 * ```ts
 * import { createNodeface } from "nodeface";
 *
 * // Deno, Bun and workers serve an object that has `fetch`.
 * export default createNodeface();
 * ```
 */
export function createNodeface(options: NodefaceOptions = {}): Nodeface {
  const resolved = resolveOptions(options);
  const { hosts, cors, operations, onError } = resolved;
  const resources = createResources(resolved);
  const prefix = createPrefix(resolved.prefix);
  const guard = createHostGuard(hosts);
  const finish = createFinish(cors);
  const table = createRoutes(resources, prefix, operations);

  /** The routes that match a path, by their method. */
  const routesOf = memoize((pathname: string) => {
    const routes = new Map<string, { handle: Handler; match: RegExpExecArray }>();
    for (const [method, pattern, [handle]] of table) {
      const match = pattern.exec(pathname);
      if (match && !routes.has(method)) routes.set(method, { handle, match });
    }
    return routes;
  });

  /** Finds what to answer with. */
  const find = (head: RequestHead, makeRequest: () => Awaitable<Request>): Awaitable<Found> => {
    const requested = guard(head);
    if (typeof requested !== "string") return requested;
    const pathname = prefix.strip(requested);
    if (pathname === undefined || isSlashed(pathname)) return notFound();
    const routes = routesOf(pathname);
    const route = routes.get(head.method);
    if (!route) return answerMethod(head.method, routes.keys());
    return route.handle({ requested, match: route.match, makeRequest });
  };

  const complete = (found: Found, head: RequestHead): Answer | Response => {
    const answer = !found ? notFound() : "variants" in found ? respond(found, head.headers) : found;
    return finish(answer, head);
  };

  const fail = (error: unknown, head: RequestHead): Answer | Response => {
    onError(error);
    const detail = "The service could not answer this request; its log says why";
    return finish(problem(500, detail), head);
  };

  const answerLater = async (found: Promise<Found>, head: RequestHead) => {
    try {
      return complete(await found, head);
    } catch (error) {
      return fail(error, head);
    }
  };

  const answer: Nodeface["answer"] = (head, makeRequest) => {
    try {
      const found = find(head, makeRequest);
      return isThere(found) ? complete(found, head) : answerLater(found, head);
    } catch (error) {
      return fail(error, head);
    }
  };

  return {
    fetch(request) {
      const answered = answer(request, () => request);
      return isThere(answered) ? toResponse(answered) : answered.then(toResponse);
    },
    answer,
    refresh: resources.refresh,
    ready: resources.prepare,
  };
}

/** What a request may be answered with; `undefined` where its path names nothing. */
type Found = Representation | Answer | Response | undefined;

/** What a handler is told of a request. */
interface RoutedRequest {
  /** The whole path. */
  requested: string;
  /** How the path matches that of the route. */
  match: RegExpExecArray;
  /** Makes the whole request. */
  makeRequest: () => Awaitable<Request>;
}

type Handler = (request: RoutedRequest) => Awaitable<Found>;

/** The table of itty-router with the handlers that `createRoutes` puts there. */
type RouteTable = [method: string, pattern: RegExp, handlers: [Handler], path: string][];

/**
 * Makes the table of routes, in the order in which they are tried. itty-router compiles our own paths;
 * those of a host are OpenAPI's, whose names and characters it does not all take.
 */
function createRoutes(
  resources: Resources,
  prefix: Prefix,
  operations: readonly Operation[],
): RouteTable {
  const router = Router<RoutedRequest & IRequestStrict, [], Found>();
  const table = router.routes as unknown as RouteTable;
  const get = (path: string, handle: Handler) => router.get(path, handle).head(path, handle);
  const serve = (path: string, resource: Resource<Representation>) =>
    get(path, () => resource.peek() ?? resource.get());

  serve("/v1/spec", resources.page);
  serve("/v1/info", resources.info);
  serve("/v1/health", resources.health);
  for (const form of ["/spec", "/v1/spec"]) {
    serve(`${form}.json`, resources.json);
    serve(`${form}.yaml`, resources.yaml);
  }
  serve("/.well-known/api-catalog", resources.catalog);
  serve("/favicon.ico", resources.favicon);
  get("/", ({ requested }) => redirect(prefix.relative("v1/spec", requested)));
  // itty-router takes `/v1/` for `/v1`.
  get("/v1", ({ requested }) => redirect(requested.endsWith("/") ? "spec" : "v1/spec"));
  for (const path of ["/assets/:folder/:file", "/assets/:folder/chunks/:file"]) {
    get(
      path,
      async ({ match }) => (await resources.assets.get())(match[0].slice("/assets/".length)),
    );
  }
  const own = table.length;
  for (const { method, path, handle } of operations.toSorted(bySpecificity)) {
    const { pattern, names } = parsePathTemplate(path);
    const isTaken = table.some(([other, taken], i) =>
      other === method && (i < own ? taken.test(path) : taken.source === pattern.source)
    );
    if (isTaken) throw new TypeError(`${method} ${path} is served already`);
    const handler: Handler = async ({ match, makeRequest }) => {
      const params = Object.fromEntries(names.map((name, i) => [name, match[i + 1]!]));
      return await handle(await makeRequest(), params);
    };
    for (const each of method === "GET" ? ["GET", "HEAD"] : [method]) {
      table.push([each, pattern, [handler], path]);
    }
  }
  return table;
}

/** A path without names comes before one with names (OpenAPI 3.1, "Paths Object"), a longer one first. */
function bySpecificity(a: Operation, b: Operation): number {
  const names = ({ path }: Operation) => path.split("{").length;
  const literals = ({ path }: Operation) => path.replaceAll(/\{[^}]*\}/g, "").length;
  return names(a) - names(b) || literals(b) - literals(a);
}

/** Answers 307 with a relative reference, which is right behind any prefix (RFC 9110, section 10.2.2). */
function redirect(location: string): Answer {
  return {
    status: 307,
    headers: { location, "content-length": "0", "cache-control": "no-cache" },
    body: null,
  };
}

/** Whether an answer is there. A promise may be of any class, so it is told by what it lacks. */
function isThere<T extends Found>(found: T | Promise<T>): found is T {
  return found === undefined || "variants" in found || "status" in found;
}

/**
 * Whether a path ends with a slash that it should not have. itty-router takes `/v1/spec/` for
 * `/v1/spec`, but the relative links of the page would lead elsewhere from there.
 */
function isSlashed(pathname: string): boolean {
  return pathname.endsWith("/") && pathname !== "/" && pathname !== "/v1/";
}
