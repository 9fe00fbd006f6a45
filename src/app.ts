/**
 * The service as one function from `Request` to `Response`, the same on every runtime.
 *
 * A request passes the guard, the router and a handler that finds a representation; `respond` makes
 * the answer and `finish` the response. All that goes wrong leaves the same way, as problem details.
 *
 * @module
 */
import { type IRequestStrict, Router } from "itty-router";
import { prepareCatalog } from "./description/catalog.ts";
import { prepareDescription } from "./description/description.ts";
import type { DescribedOperation } from "./description/operations.ts";
import { createAssets, prepareFavicon } from "./explorer/assets.ts";
import { readManifest, readPrepared } from "./explorer/manifest.ts";
import { preparePage } from "./explorer/page.ts";
import type { Answer } from "./http/answer.ts";
import type { Cors } from "./http/cors.ts";
import { createFinish } from "./http/finish.ts";
import { createGuard, type Hosts } from "./http/guard.ts";
import { notFound, unrouted } from "./http/methods.ts";
import { createPrefix } from "./http/prefix.ts";
import { problem } from "./http/problem.ts";
import { redirect } from "./http/redirect.ts";
import type { Representation } from "./http/representation.ts";
import { respond } from "./http/respond.ts";
import { prepareHealth } from "./info/health.ts";
import { type OwnInfo, prepareHostInfo, prepareServiceInfo } from "./info/service.ts";
import { type Platform, platform as ownPlatform } from "./platform.ts";

/** How a service is made. */
export interface NodefaceOptions {
  /**
   * Reads this package's files and encodes brotli.
   *
   * @default the disk and the compression library of Node, Deno or Bun
   */
  platform?: Platform;
  /**
   * The host names to answer for besides loopback names and IP literals; `"*"` for any. Others are
   * refused with 421, since a page on another site could make its own name resolve to this service.
   *
   * @default []
   */
  hosts?: Hosts;
  /**
   * The origins whose pages may read the answers; `"*"` for any, `[]` for none. Credentials are never
   * allowed.
   *
   * @default "*"
   */
  cors?: Cors;
  /**
   * The path that comes before all others, such as `/node1`, where a server has others besides.
   *
   * @default ""
   */
  prefix?: string;
  /** Tells what the node is whenever it is asked: any key, any JSON value. */
  info?: OwnInfo;
  /**
   * Further operations, which the description and the explorer show as well.
   *
   * @default []
   */
  operations?: readonly Operation[];
  /**
   * Is told of every error that is answered with 500; the client learns nothing of it.
   *
   * @default console.error
   */
  onError?: (error: unknown) => void;
}

/** An operation of a host's own. */
export interface Operation extends DescribedOperation {
  /**
   * Answers a request to it. HEAD comes here where the method is GET, and has its body left out.
   *
   * @param request as the server gave it
   * @param params what stands in place of the names in the path, not decoded
   */
  handle(
    request: Request,
    params: Readonly<Record<string, string>>,
  ): Response | Promise<Response>;
}

/** A service: hand `fetch` to any server that speaks `Request` and `Response`. */
export interface Nodeface {
  /** Answers one request; never throws, never rejects. */
  fetch(request: Request): Response | Promise<Response>;
  /**
   * Prepares every answer, which the first request would do otherwise.
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
  const prepared = prepare(platform, new Date(), options);
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
  const json = async () => (await prepared.description()).json;
  const yaml = async () => (await prepared.description()).yaml;
  const asset = async (path: string) => (await prepared.assets())(path);
  get("/v1/spec", prepared.page);
  get("/v1/info", prepared.info);
  get("/v1/health", prepared.health);
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
      onError(error);
      return problem(500, "The service could not answer this request; its log says why");
    }
  };

  return {
    fetch: async (request) => finish(await answer(request), request),
    ready: async () => void await Promise.all(Object.values(prepared).map((make) => make())),
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

/** What is answered with, each made when it is first asked for. */
function prepare(
  platform: Platform,
  startedAt: Date,
  { info, operations = [] }: NodefaceOptions,
) {
  const text = async (path: string) => new TextDecoder().decode(await platform.read(path));
  const manifest = once(() => readManifest(platform));
  const own = async (form: "spec.json" | "spec.yaml") =>
    await readPrepared(platform, form, (await manifest()).description[form]);
  return {
    page: once(async () =>
      preparePage(await text("static/explorer.html"), await manifest(), platform)
    ),
    description: once(async () => {
      const [json, yaml] = await Promise.all([own("spec.json"), own("spec.yaml")]);
      return prepareDescription({ json, yaml }, operations, platform);
    }),
    catalog: once(prepareCatalog),
    info: info
      ? async () => prepareHostInfo(info, (await manifest()).version)
      : once(async () => prepareServiceInfo((await manifest()).version, startedAt)),
    health: once(prepareHealth),
    favicon: once(async () => prepareFavicon(await text("static/favicon.svg"))),
    assets: once(async () => createAssets(await manifest(), platform)),
  };
}

/** Does a piece of work when it is first asked for, again only where it failed. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work().catch((error) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
