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
import { createGuard } from "./http/host-guard.ts";
import type { RequestHead } from "./http/head.ts";
import { notFound, unrouted } from "./http/methods.ts";
import { createPrefix } from "./http/prefix.ts";
import { problem } from "./http/problem-details.ts";
import { redirect } from "./http/redirect.ts";
import type { Representation } from "./http/representation.ts";
import { respond } from "./http/respond.ts";
import { after, type Awaitable, both, isPromise, settled } from "./lazy.ts";
import type { NodefaceOptions } from "./options.ts";
import { platform as ownPlatform } from "./platform.ts";
import { prepare, type Prepared } from "./resources.ts";

/** A service: hand `fetch` to any server that speaks `Request` and `Response`. */
export interface Nodeface {
  /** Answers one request, at once where the answer is prepared; neither throws nor rejects. */
  fetch(request: Request): Response | Promise<Response>;
  /**
   * Answers one request with plain data, for a server that writes it itself, as the adapters here
   * do: no bytes are copied. What a host's operation answers stays the `Response` it is.
   *
   * @param head what there is of the request
   * @param whole makes all of it, for a host's operation
   */
  answer(head: RequestHead, whole: () => Awaitable<Request>): Awaitable<Answer | Response>;
  /**
   * Looks whether the node's description has changed and, if so, shows the new one; to be called
   * every few seconds. A version that cannot be shown leaves the old one where it is.
   */
  refresh(): Promise<void>;
  /**
   * Prepares every answer but the explorer's files, which the first request would do otherwise.
   *
   * @throws {Error} where one of this package's files is missing or broken
   * @throws {TypeError} where a setting of the node or of the info cannot be understood
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
  const routes: Route[] = [];

  // What has a path without parameters is looked up there and needs no matching.
  const plain = new Map<string, Map<string, Handle>>();
  const add = (method: string, path: string, handle: Handle) => {
    routes.push({ method, path, handle });
    if (path.includes(":")) return;
    plain.set(path, (plain.get(path) ?? new Map()).set(method, handle));
  };
  const get = (path: string, handler: Handler) => {
    const handle = (request: Routed) => after(handler(request), answerWith, request);
    add("GET", path, handle);
    add("HEAD", path, handle);
  };
  const current = () => after(prepared.live(), currentOf);
  const page = () => after(prepared.description(), pageOf);
  const asset = (path: string) => after(prepared.assets(), (find) => find(path));
  get("/v1/spec", () => after(both(page(), current()), shownPage));
  get("/v1/info", () => after(current(), infoOf));
  get("/v1/health", () => after(current(), healthOf));
  for (const form of ["/spec", "/v1/spec"]) {
    get(`${form}.json`, () => after(prepared.description(), jsonOf));
    get(`${form}.yaml`, () => after(prepared.description(), yamlOf));
  }
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
    if (routes.some(({ method: other, path: taken }) => other === method && taken === pattern)) {
      throw new TypeError(`${method} ${path} is served already`);
    }
    const methods = method === "GET" ? ["GET", "HEAD"] : [method];
    for (const each of methods) {
      add(
        each,
        pattern,
        ({ whole, params }) =>
          after(settled(whole()), (request) => settled(handle(request, params))),
      );
    }
    try {
      createRouter(routes.slice(-1));
    } catch (cause) {
      throw new TypeError(`${method} ${path} is no path that can be served`, { cause });
    }
  }

  let made: ReturnType<typeof createRouter> | undefined;
  const router = () => made ??= createRouter(routes);
  const tell = (error: unknown) => {
    try {
      onError(error);
    } catch {
      // Whoever is told has no say in the answer.
    }
  };
  const fail = (error: unknown, head: RequestHead) => {
    tell(error);
    const detail = "The service could not answer this request; its log says why";
    return finish(problem(500, detail), head);
  };
  const route = (head: RequestHead, whole: Whole): Awaitable<Answer | Response> => {
    const target = guard(head);
    if ("status" in target) return target;
    const { method, headers } = head;
    const requested = target.pathname;
    const pathname = prefix.strip(requested);
    if (pathname === undefined || isSlashed(pathname)) return notFound();
    const routed: Routed = { method, headers, pathname, whole, requested, params: {} };
    const handle = plain.get(pathname)?.get(method);
    if (handle) return after(handle(routed), orNotFound);
    const matching = router();
    const answered = matching.fetch({ ...routed, url: `http://localhost${pathname}` });
    return after(answered, (answer) => answer ?? unrouted(matching.routes, method, pathname));
  };
  const answer = (head: RequestHead, whole: Whole): Awaitable<Answer | Response> => {
    try {
      const answered = after(route(head, whole), finish, head);
      return isPromise(answered) ? answered.catch((error) => fail(error, head)) : answered;
    } catch (error) {
      return fail(error, head);
    }
  };

  return {
    fetch: (request) => after(answer(request, () => request), toResponse),
    answer,
    refresh: async () => await (await prepared.description()).refresh(),
    ready: async () => {
      await Promise.all(Object.values(prepared).map((make) => make()));
      await page();
    },
    routeTable: routes.map(({ method, path }) => ({ method, path })),
  };
}

type Whole = () => Awaitable<Request>;

/** What the router and the handlers see of a request that the guard has let through. */
interface Routed extends Omit<RequestHead, "url"> {
  /** The path after the prefix. */
  pathname: string;
  /** Makes the whole request, as a host's operation is given it. */
  whole: Whole;
  /** The whole path. */
  requested: string;
  /** The values of the path's parameters. */
  params: Record<string, string>;
}

/** One line of the table of routes. */
interface Route {
  method: string;
  /** A pattern of itty-router's: `/assets/:folder/:file`. */
  path: string;
  handle: Handle;
}

/** Makes the router, which compiles an expression for each route. */
function createRouter(routes: readonly Route[]) {
  const router = Router<IRequestStrict & Routed, [], Answer | Response>();
  for (const { method, path, handle } of routes) {
    // The router has a function for every method there is.
    router[method.toLowerCase() as "get"](path, handle);
  }
  return router;
}

type Live = Awaited<ReturnType<Prepared["live"]>>;
type Snapshot = Awaited<ReturnType<Live["current"]>>;
type Shown = Awaited<ReturnType<Prepared["description"]>>;
type Page = Awaited<ReturnType<Shown["current"]["page"]>>;
const currentOf = (live: Live) => live.current();
const infoOf = ({ representation }: Snapshot) => representation;
const healthOf = ({ health }: Snapshot) => health;
const jsonOf = ({ current }: Shown) => current.json;
const yamlOf = ({ current }: Shown) => current.yaml;
const pageOf = ({ current }: Shown) => current.page();
const shownPage = ([page, { info }]: [Page, Snapshot]) => page.prepare(info);

const orNotFound = (answer: Answer | Response | undefined) => answer ?? notFound();

/** Answers with what was found. */
function answerWith(found: Found, { headers }: Routed): Answer {
  if (!found) return notFound();
  return "variants" in found ? respond(found, headers) : found;
}

/** Finds what to answer with; `undefined` where the path names nothing. */
type Handler = (request: Routed) => Awaitable<Found>;

/** Answers a request; `undefined` where a host's operation has no answer. */
type Handle = (request: Routed) => Awaitable<Answer | Response | undefined>;

type Found = Representation | Answer | undefined;

/**
 * Whether a path ends with a slash that it should not have. itty-router takes `/v1/spec/` for
 * `/v1/spec`, but the links of the page, which are relative, would lead elsewhere from there.
 */
function isSlashed(pathname: string): boolean {
  return pathname.endsWith("/") && pathname !== "/" && pathname !== "/v1/";
}
