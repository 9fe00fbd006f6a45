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
import { createAssets, prepareFavicon } from "./explorer/assets.ts";
import { readManifest } from "./explorer/manifest.ts";
import { createPage } from "./explorer/page.ts";
import type { Answer } from "./http/answer.ts";
import type { Cors } from "./http/cors.ts";
import { createFinish, toResponse } from "./http/finish.ts";
import { createGuard, type Hosts } from "./http/guard.ts";
import { notFound, unrouted } from "./http/methods.ts";
import { problem } from "./http/problem.ts";
import { redirect } from "./http/redirect.ts";
import type { Representation } from "./http/representation.ts";
import { respond } from "./http/respond.ts";
import { createInfo, type LiveInfo } from "./info/info.ts";
import type { InfoSettings, NodeSettings } from "./info/settings.ts";
import type { OwnInfo } from "./info/subject.ts";
import { KINDS } from "./kinds/index.ts";
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
   * Is told of every error that is answered with 500; the client learns nothing of it.
   *
   * @default console.error
   */
  onError?: (error: unknown) => void;
  /** The node to show, as the `node` part of the configuration file. */
  node?: NodeSettings;
  /**
   * What to show of it, as the `info` part of the configuration file; or a function that tells it
   * whenever the last answer is a second old.
   *
   * @default what its kind says
   */
  info?: InfoSettings | OwnInfo;
  /**
   * Is told what is wrong with the node, once when it begins and once when it ends.
   *
   * @default console.error
   */
  log?: (message: string) => void;
  /** When the service started. @default now */
  startedAt?: Date;
}

/** A service: hand `fetch` to any server that speaks `Request` and `Response`. */
export interface Nodeface {
  /** Answers one request; never rejects. */
  fetch(request: Request): Promise<Response>;
  /**
   * Answers one request with plain data, for a server that writes it itself, as the adapter of Node
   * does: no bytes are copied.
   */
  answer(request: Request): Promise<Answer>;
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
  const { log = console.error, startedAt = new Date() } = options;
  const prepared = once(async () => {
    const files = await prepare(platform);
    const service = {
      software: "nodeface",
      version: files.version,
      started_at: startedAt.toISOString(),
    };
    const { node, info } = options;
    return { ...files, live: createInfo({ service, node, info, kinds: KINDS, log, onError }) };
  });
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
  get("/v1/spec", async ({ page, live }) => page.prepare((await live.current()).info));
  get("/v1/info", async ({ live }) => (await live.current()).representation);
  get("/v1/health", async ({ live }) => (await live.current()).health);
  get("/spec.json", ({ description }) => description.json);
  get("/spec.yaml", ({ description }) => description.yaml);
  get("/v1/spec.json", ({ description }) => description.json);
  get("/v1/spec.yaml", ({ description }) => description.yaml);
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

  const tell = (error: unknown) => {
    try {
      onError(error);
    } catch {
      // Whoever is told has no say in the answer.
    }
  };
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
      tell(error);
      return problem(500, "The service could not answer this request; its log says why");
    }
  };

  return {
    fetch: async (request) => toResponse(finish(await answer(request), request)),
    answer: async (request) => finish(await answer(request), request),
    ready: async () => void await prepared(),
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
type Prepared = Awaited<ReturnType<typeof prepare>> & { live: LiveInfo };

async function prepare(platform: Platform) {
  const text = async (path: string) => new TextDecoder().decode(await platform.read(path));
  const manifest = await readManifest(platform);
  const [description, catalog, favicon] = await Promise.all([
    prepareDescription(await text("spec/openapi.yaml"), platform),
    prepareCatalog(),
    prepareFavicon(await text("static/favicon.svg")),
  ]);
  const assets = createAssets(manifest, platform);
  const template = await text("static/explorer.html");
  const page = await createPage(template, description.document, manifest, platform);
  return { version: manifest.version, page, description, catalog, assets, favicon };
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
