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
import { formatFinding } from "./description/finding.ts";
import { type DescriptionPlace, type DescriptionReport, keepCurrent } from "./description/live.ts";
import { createAssets, prepareFavicon } from "./explorer/assets.ts";
import { readManifest } from "./explorer/manifest.ts";
import { preparePage } from "./explorer/page.ts";
import type { Answer } from "./http/answer.ts";
import type { Cors } from "./http/cors.ts";
import { createFinish } from "./http/finish.ts";
import { createGuard, type Hosts } from "./http/guard.ts";
import { notFound, unrouted } from "./http/methods.ts";
import { problem } from "./http/problem.ts";
import { redirect } from "./http/redirect.ts";
import type { Representation } from "./http/representation.ts";
import { respond } from "./http/respond.ts";
import { prepareHealth } from "./info/health.ts";
import { prepareServiceInfo } from "./info/service.ts";
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
   * The node's own OpenAPI description, to which this service's operations are added: the path or the
   * URL of a file, or its text.
   *
   * @default this service's operations alone
   */
  description?: DescriptionPlace;
  /** What the servers of a description that was read from a file are relative to. */
  nodeUrl?: string;
  /** Where the node is reached from outside; takes the place of the servers of its description. */
  publicUrl?: string;
  /**
   * Is told what is wrong with the description, each time that it has been read.
   *
   * @default one line for each finding to console.error
   */
  onDescription?: (report: DescriptionReport) => void;
  /**
   * Is told of every error that is answered with 500; the client learns nothing of it.
   *
   * @default console.error
   */
  onError?: (error: unknown) => void;
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
  /**
   * Looks whether the node's description has changed and, if so, shows the new one; to be called every
   * few seconds. A version that cannot be shown leaves the old one where it is.
   */
  refresh(): Promise<void>;
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
  const prepared = once(() => prepare(options, platform, new Date()));
  const guard = createGuard(hosts);
  const finish = createFinish(cors);
  const router = Router<RoutedRequest, [], Answer>();

  const get = (path: string, handler: Handler) => {
    const handle = async (request: RoutedRequest) => {
      const found = await handler(await prepared(), request);
      if (!found) return notFound();
      return "variants" in found ? respond(found, request.headers) : found;
    };
    router.get(path, handle).head(path, handle);
  };
  get("/v1/spec", ({ live }) => live.current.page);
  get("/v1/info", ({ info }) => info);
  get("/v1/health", ({ health }) => health);
  get("/spec.json", ({ live }) => live.current.json);
  get("/spec.yaml", ({ live }) => live.current.yaml);
  get("/v1/spec.json", ({ live }) => live.current.json);
  get("/v1/spec.yaml", ({ live }) => live.current.yaml);
  get("/.well-known/api-catalog", ({ catalog }) => catalog);
  get("/", () => redirect("v1/spec"));
  get("/v1", (_, { pathname }) => redirect(pathname.endsWith("/") ? "spec" : "v1/spec"));
  get("/favicon.ico", ({ favicon }) => favicon);
  get(
    "/assets/:folder/:file",
    ({ assets }, { params }) => assets(`${params.folder}/${params.file}`),
  );
  get(
    "/assets/:folder/chunks/:file",
    ({ assets }, { params }) => assets(`${params.folder}/chunks/${params.file}`),
  );

  const answer = async (request: Request): Promise<Answer> => {
    try {
      const target = guard(request);
      if ("status" in target) return target;
      const { method, headers } = request;
      const { pathname } = target;
      if (isSlashed(pathname)) return notFound();
      const routed = { method, headers, pathname, url: `http://localhost${pathname}` };
      return await router.fetch(routed) ?? unrouted(router.routes, method, pathname);
    } catch (error) {
      onError(error);
      return problem(500, "The service could not answer this request; its log says why");
    }
  };

  return {
    fetch: async (request) => finish(await answer(request), request),
    ready: async () => void await prepared(),
    refresh: async () => await (await prepared()).live.refresh(),
    routeTable: router.routes.map(([method, , , path = ""]) => ({ method, path })),
  };
}

/** What the router and the handlers see of a request that the guard has let through. */
type RoutedRequest = IRequestStrict & { pathname: string };

/** Finds what to answer with; `undefined` where the path names nothing. */
type Handler = (
  prepared: Prepared,
  request: RoutedRequest,
) => Representation | Answer | undefined | Promise<Representation> | Promise<Answer>;

/**
 * Whether a path ends with a slash that it should not have. itty-router takes `/v1/spec/` for
 * `/v1/spec`, but the links of the page, which are relative, would lead elsewhere from there.
 */
function isSlashed(pathname: string): boolean {
  return pathname.endsWith("/") && pathname !== "/" && pathname !== "/v1/";
}

/** Everything that is made before the first answer. */
type Prepared = Awaited<ReturnType<typeof prepare>>;

async function prepare(options: NodefaceOptions, platform: Platform, startedAt: Date) {
  const text = async (path: string) => new TextDecoder().decode(await platform.read(path));
  const manifest = await readManifest(platform);
  const template = await text("static/explorer.html");
  const { description: place, nodeUrl: base, publicUrl, onDescription: report = complain } =
    options;
  const own = await text("spec/openapi.yaml");
  const [live, catalog, info, health, favicon] = await Promise.all([
    keepCurrent({ place, base, publicUrl, own, platform, report }, async (description) => ({
      json: description.json,
      yaml: description.yaml,
      page: await preparePage(template, manifest, description, platform),
    })),
    prepareCatalog(),
    prepareServiceInfo(manifest.version, startedAt),
    prepareHealth(),
    prepareFavicon(await text("static/favicon.svg")),
  ]);
  const assets = createAssets(manifest, platform);
  return { live, catalog, info, health, assets, favicon };
}

/** Says what is wrong with a description where nobody else does. */
function complain({ findings }: DescriptionReport): void {
  for (const finding of findings) console.error(formatFinding(finding));
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
