/**
 * The routes of the service's own resources, and those of the calls between them.
 *
 * @module
 */
import type { CallRoutes } from "./call-routes.ts";
import { VIEWS } from "./explorer/page-settings.ts";
import { hasTokenInQuery, TOKEN_IN_QUERY } from "./gateway/guard.ts";
import { NO_WEBSOCKET } from "./gateway/refusal.ts";
import { hasOperationAt } from "./host-operations/call-operation.ts";
import { isAllowedCaller, isReadByOtherOrigin } from "./http/browsers.ts";
import { type CommonHeadersFor, createCommonHeaders } from "./http/common-headers.ts";
import type { HostGuard } from "./http/host-guard.ts";
import type { Prefix } from "./http/prefix.ts";
import { notFound, problemResponse } from "./http/problem.ts";
import type { Representation } from "./http/representation.ts";
import { isWebSocket } from "./http/request.ts";
import { type Handler, redirect, type Route, type RoutedRequest } from "./http/routes.ts";
import { STATUSES } from "./info/status.ts";
import type { Resource } from "./lazy.ts";
import type { ResolvedOptions } from "./options.ts";
import { DOCUMENT_PATHS } from "./openapi/documents.ts";
import { HAS_SOCKETS } from "./platform.ts";
import type { Resources } from "./resources/resources.ts";

interface Parts {
  readonly options: ResolvedOptions;
  readonly resources: Resources;
  readonly calls: CallRoutes;
  /** The route of the node's own paths. */
  readonly root: Route | undefined;
  readonly hosts: HostGuard;
  readonly prefix: Prefix;
  readonly headersFor: CommonHeadersFor;
}

/** The router tries the routes in this order, so the most requested routes come first. */
export function ownRoutes(parts: Parts): Route[] {
  const { calls, hosts } = parts;
  return [
    ...infoRoutes(parts),
    ...calls.routes.map((route) => hosts.guard(route)),
    ...liveRoutes(parts),
    ...pageRoutes(parts),
    ...metricsRoutes(parts),
    ...descriptionRoutes(parts),
    ...fileRoutes(parts),
    ...redirects(parts),
  ];
}

const routeTo = (path: string, handle: Handler, headersFor: CommonHeadersFor): Route => ({
  path,
  methods: ["GET", "HEAD"],
  handle,
  headersFor,
});

function infoRoutes({ resources, headersFor }: Parts): Route[] {
  const { monitor, ready } = resources;
  const handleInfo: Handler = async (routed) =>
    respondWith((await monitor.snapshot()).representation, routed);
  const handleHealth: Handler = (routed) => {
    const accepted = readAccepted(routed.target.search);
    if (accepted) return respondWith(resources.health(accepted), routed);
    return problemResponse(400, `"accept" must be a list of: ${STATUSES.join(", ")}`);
  };
  return [
    routeTo("/v1/info", handleInfo, headersFor),
    routeTo("/v1/health", handleHealth, headersFor),
    routeTo("/v1/ready", serving(ready), headersFor),
  ];
}

function liveRoutes({ options, resources, hosts }: Parts): Route[] {
  // A worker has no timers between requests.
  if (!HAS_SOCKETS) return [];
  const { log, operations, cors, isStandalone } = options;
  const { history } = resources;
  // These responses reveal when the node and this machine were up, so `cors: "*"` does not cover
  // them.
  const origins = cors === "*" ? [] : cors;
  const headersFor = createCommonHeaders(origins);
  const routes: Route[] = [];
  const add = (path: string, handle: Handler) => {
    if (hasOperationAt(operations, path)) {
      const message = `an operation of the host replaces the service's ${path}`;
      return log(message, { code: "description", level: "warn" });
    }
    const handleAllowed: Handler = (routed) => {
      // CORS middleware of a host may let other origins send `X-Nodeface`.
      if (!isAllowedCaller(routed.request, origins, isStandalone)) {
        return problemResponse(403, `Pages of other origins may not read ${path}`);
      }
      if (hasTokenInQuery(routed.target.search)) {
        return problemResponse(400, TOKEN_IN_QUERY.message);
      }
      return handle(routed);
    };
    routes.push(hosts.guard(routeTo(path, handleAllowed, headersFor)));
  };
  add("/v1/events", (routed) => resources.openEvents(routed));
  if (history) add("/v1/history", serving(history));
  return routes;
}

function pageRoutes({ resources, hosts, headersFor }: Parts): Route[] {
  return (["", ...VIEWS] as const).map((name) => {
    const handle: Handler = (routed) => {
      // A page under a host name that may be hostile must not ask for the token.
      const isPlain = !hosts.isServed(routed);
      return respondWith(resources.page(name, isPlain), routed);
    };
    return routeTo(name ? `/v1/spec/${name}` : "/v1/spec", handle, headersFor);
  });
}

function metricsRoutes({ options: { meters }, resources, calls, hosts }: Parts): Route[] {
  if (!meters) return [];
  // Metrics reveal which operations are called, and when. CORS middleware of the host may let any
  // page read a response, so requests of pages are refused.
  const handle: Handler = (routed) =>
    isReadByOtherOrigin(routed.request)
      ? problemResponse(403, "Pages of other origins may not read /v1/metrics")
      : respondWith(resources.measure(meters, calls.load), routed);
  return [hosts.guard(routeTo("/v1/metrics", handle, createCommonHeaders([])))];
}

function descriptionRoutes({ resources, headersFor }: Parts): Route[] {
  return DOCUMENT_PATHS.map((path) =>
    routeTo(path, (routed) => respondWith(resources.document(path), routed), headersFor)
  );
}

function fileRoutes({ resources, headersFor }: Parts): Route[] {
  const { catalog, assets } = resources;
  const handleAsset: Handler = async (routed) => {
    const asset = (await assets.get()).get(routed.path.slice("/assets/".length));
    return asset ? await respondWith(asset.get(routed.request), routed) : notFound();
  };
  // Browsers keep an icon by its URL, so the URL alone decides what a page's icon is.
  const handleIcon: Handler = (routed) =>
    respondWith(resources.favicon(routed.target.search), routed);
  return [
    routeTo("/.well-known/api-catalog", serving(catalog), headersFor),
    routeTo("/favicon.ico", handleIcon, headersFor),
    // A host may have folders of its own below `/assets/`.
    routeTo("/assets/explorer-{digest}/{file}", handleAsset, headersFor),
    routeTo("/assets/scalar-{digest}/{file}", handleAsset, headersFor),
    routeTo("/assets/scalar-{digest}/chunks/{file}", handleAsset, headersFor),
  ];
}

/**
 * Returns the routes that redirect to the explorer, unless the node serves the path to a client
 * that does not ask for HTML.
 */
function redirects({ calls, root, prefix, headersFor }: Parts): Route[] {
  const respondFromNode = async (routed: RoutedRequest) => {
    if (!root || !await calls.dropIn?.isForNode(routed)) return undefined;
    routed.matched = root;
    return await root.handle(routed);
  };
  const redirectFrom = (path: string, locate: (routed: RoutedRequest) => string): Route => {
    const handle: Handler = async (routed) => {
      if (isWebSocket(routed.request)) return problemResponse(400, NO_WEBSOCKET);
      const response = await respondFromNode(routed) ?? redirect(locate(routed));
      response.headers.append("vary", "Accept");
      return response;
    };
    return { ...routeTo(path, handle, headersFor), allowsSlash: true };
  };
  return [
    redirectFrom("/", ({ request }) => prefix.locate("v1/spec", request)),
    redirectFrom("/v1", ({ path }) => path.endsWith("/") ? "spec" : "v1/spec"),
  ];
}

const serving = (resource: Resource<Representation>): Handler => (routed) =>
  respondWith(resource.get(), routed);

async function respondWith(
  representation: Representation | Promise<Representation>,
  routed: RoutedRequest,
): Promise<Response> {
  return (await representation).respond(routed.request, routed.commonHeaders());
}

const HEALTHY: ReadonlySet<string> = new Set(["ok"]);

function readAccepted(search: string): ReadonlySet<string> | undefined {
  const lists = new URLSearchParams(search).getAll("accept");
  if (lists.length === 0) return HEALTHY;
  const states = lists.flatMap((list) => list.split(",")).map((state) => state.trim());
  const isKnown = (state: string) => (STATUSES as readonly string[]).includes(state);
  return states.every(isKnown) ? new Set(states) : undefined;
}
