/**
 * The service as one function from `Request` to `Response`, the same on every runtime.
 *
 * A request passes the guard, the router and a handler that finds a representation; `respond` makes
 * the answer and `finish` the response. All that goes wrong leaves the same way, as problem details.
 *
 * @module
 */
import { type IRequestStrict, Router } from "itty-router";
import type { Answer } from "./http/answer.ts";
import { createFinish, toResponse } from "./http/finish.ts";
import { createGuard } from "./http/guard.ts";
import { notFound, unrouted } from "./http/methods.ts";
import { createPrefix } from "./http/prefix.ts";
import { problem } from "./http/problem.ts";
import { redirect } from "./http/redirect.ts";
import type { Representation } from "./http/representation.ts";
import { respond } from "./http/respond.ts";
import type { NodefaceOptions } from "./options.ts";
import { platform as ownPlatform } from "./platform.ts";
import { prepare } from "./prepare.ts";

/** A service: hand `fetch` to any server that speaks `Request` and `Response`. */
export interface Nodeface {
  /** Answers one request; never rejects. */
  fetch(request: Request): Promise<Response>;
  /**
   * Answers one request with plain data, for a server that writes it itself, as the adapter of Node
   * does: no bytes are copied. What a host's operation answers stays the `Response` it is.
   */
  answer(request: Request): Promise<Answer | Response>;
  /**
   * Looks whether the node's description has changed and, if so, shows the new one; to be called
   * every few seconds. A version that cannot be shown leaves the old one where it is.
   */
  refresh(): Promise<void>;
  /**
   * Prepares every answer but the explorer's files, which the first request would do otherwise.
   *
   * @throws {Error} where one of this package's files is missing or broken
   */
  ready(): Promise<void>;
  /** The method and path of each route, as given to the router: `/assets/:folder/:file`. */
  readonly routeTable: readonly { method: string; path: string }[];
}

/**
 * Makes a service. Nothing is read before the first request or the call of `ready`.
 *
 * @param options all of them may be left out
 * @throws {TypeError} where `hosts`, `cors`, `prefix` or `operations` cannot be
 * @example
 * ```ts
 * import { createNodeface } from "nodeface";
 *
 * // Deno, Bun and workers serve an object that has `fetch`.
 * export default createNodeface();
 * ```
 */
export function createNodeface(options: NodefaceOptions = {}): Nodeface {
  const { platform = ownPlatform, hosts = [], cors = "*", onError = console.error } = options;
  const { operations = [] } = options;
  const prefix = createPrefix(options.prefix ?? "");
  const prepared = prepare(platform, options);
  const guard = createGuard(hosts);
  const finish = createFinish(cors);
  const router = Router<RoutedRequest, [], Answer | Response>();

  const get = (path: string, handler: Handler) => {
    const handle = async (request: RoutedRequest) => {
      const found = await handler(request);
      if (!found) return notFound();
      return "variants" in found ? respond(found, request.headers) : found;
    };
    router.get(path, handle).head(path, handle);
  };
  const current = async () => await (await prepared.live()).current();
  const shown = async () => (await prepared.description()).current;
  const json = async () => (await shown()).json;
  const yaml = async () => (await shown()).yaml;
  const asset = async (path: string) => (await prepared.assets())(path);
  get("/v1/spec", async () => {
    const [page, { info }] = await Promise.all([shown().then(({ page }) => page()), current()]);
    return await page.prepare(info);
  });
  get("/v1/info", async () => (await current()).representation);
  get("/v1/health", async () => (await current()).health);
  get("/spec.json", json);
  get("/spec.yaml", yaml);
  get("/v1/spec.json", json);
  get("/v1/spec.yaml", yaml);
  get("/.well-known/api-catalog", prepared.catalog);
  get("/", ({ requested }) => redirect(prefix.relative("v1/spec", requested)));
  get("/v1", ({ pathname }) => redirect(pathname.endsWith("/") ? "spec" : "v1/spec"));
  get("/favicon.ico", prepared.favicon);
  get("/assets/:folder/:file", ({ params }) => asset(`${params.folder}/${params.file}`));
  get(
    "/assets/:folder/chunks/:file",
    ({ params }) => asset(`${params.folder}/chunks/${params.file}`),
  );
  for (const { method, path, handle } of operations) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ":$1");
    if (router.routes.some(([other, , , taken]) => other === method && taken === pattern)) {
      throw new TypeError(`${method} ${path} is served already`);
    }
    const methods = method === "GET" ? ["GET", "HEAD"] : [method];
    // The router has a function for every method there is.
    for (const each of methods.map((method) => method.toLowerCase() as "get")) {
      router[each](pattern, ({ request, params }) => handle(request, params));
    }
  }

  const tell = (error: unknown) => {
    try {
      onError(error);
    } catch {
      // Whoever is told has no say in the answer.
    }
  };
  const answer = async (request: Request): Promise<Answer | Response> => {
    try {
      const target = guard(request);
      if ("status" in target) return target;
      const { method, headers } = request;
      const requested = target.pathname;
      const pathname = prefix.strip(requested);
      if (pathname === undefined || isSlashed(pathname)) return notFound();
      const url = `http://localhost${pathname}`;
      const routed = { method, headers, pathname, url, request, requested };
      return await router.fetch(routed) ?? unrouted(router.routes, method, pathname);
    } catch (error) {
      tell(error);
      return problem(500, "The service could not answer this request; its log says why");
    }
  };

  return {
    fetch: async (request) => toResponse(finish(await answer(request), request)),
    answer: async (request) => finish(await answer(request), request),
    refresh: async () => await (await prepared.description()).refresh(),
    ready: async () => {
      await Promise.all(Object.values(prepared).map((make) => make()));
      await (await shown()).page();
    },
    routeTable: router.routes.map(([method, , , path = ""]) => ({ method, path })),
  };
}

/** What the router and the handlers see of a request that the guard has let through. */
type RoutedRequest = IRequestStrict & {
  /** The path after the prefix. */
  pathname: string;
  /** The request as the server gave it. */
  request: Request;
  /** The whole path. */
  requested: string;
};

/** Finds what to answer with; `undefined` where the path names nothing. */
type Handler = (request: RoutedRequest) => Found | Promise<Found>;

type Found = Representation | Answer | undefined;

/**
 * Whether a path ends with a slash that it should not have. itty-router takes `/v1/spec/` for
 * `/v1/spec`, but the links of the page, which are relative, would lead elsewhere from there.
 */
function isSlashed(pathname: string): boolean {
  return pathname.endsWith("/") && pathname !== "/" && pathname !== "/v1/";
}
