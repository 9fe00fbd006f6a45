/**
 * Creates the service: a function that takes a `Request`, finds its route, and returns a
 * `Response`.
 *
 * @module
 */
import { CallRoutes } from "./call-routes.ts";
import { VIEWS } from "./explorer/page-settings.ts";
import { hasTokenInQuery, TOKEN_IN_QUERY } from "./gateway/guard.ts";
import { NO_WEBSOCKET } from "./gateway/refusal.ts";
import { hasOperationAt, operationRoutes } from "./host-operations/call-operation.ts";
import { isAllowedCaller, isReadByOtherOrigin } from "./http/browsers.ts";
import type { Representation } from "./http/representation.ts";
import { HostGuard } from "./http/host-guard.ts";
import { Prefix } from "./http/prefix.ts";
import {
  disconnectSignalOf,
  isWebSocket,
  type ServedRequest,
  UNREADABLE_CONTENT,
} from "./http/request.ts";
import { type CommonHeadersFor, createCommonHeaders } from "./http/common-headers.ts";
import { notFound, problemResponse } from "./http/problem.ts";
import { complete, nativeOf, STATUS_CLIENT_CLOSED_REQUEST } from "./http/response.ts";
import {
  type Handler,
  type Matched,
  redirect,
  type Route,
  RoutedRequest,
  Routes,
} from "./http/routes.ts";
import { parseTarget, refuseMalformed } from "./http/target.ts";
import { openNode } from "./info/open-node.ts";
import { STATUSES } from "./info/status.ts";
import { objectOf } from "./json/values.ts";
import type { Resource } from "./lazy.ts";
import { describeError } from "./log.ts";
import { OTHER } from "./metrics/metrics.ts";
import type { Nodeface } from "./nodeface.ts";
import { type CheckedOptions, type ResolvedOptions, withDefaults } from "./options.ts";
import { HAS_SOCKETS } from "./platform.ts";
import { DOCUMENT_PATHS } from "./openapi/documents.ts";
import { Resources } from "./resources/resources.ts";

export const createApp = (checked: CheckedOptions): App => new App(withDefaults(checked));

/**
 * Hosts may use the functions of a `Nodeface` without the object, so these functions do not need
 * `this`.
 */
export class App implements Nodeface {
  readonly onError: ResolvedOptions["onError"];
  readonly #options: ResolvedOptions;
  readonly #resources: Resources;
  readonly #calls: CallRoutes;
  readonly #hosts: HostGuard;
  /** The route of the node's own paths. */
  readonly #root: Route | undefined;
  readonly #prefix: Prefix;
  readonly #headersFor: CommonHeadersFor;
  /** What counts as the route of a request that matches no route. */
  readonly #unmatched: Matched;
  readonly #routes: Routes;
  /** The requests without a response. */
  readonly #begun = new Set<Promise<Response>>();

  constructor(options: ResolvedOptions) {
    this.#options = options;
    const node = openNode(options.node, options.kinds);
    this.#resources = new Resources(options, node);
    this.#calls = new CallRoutes(options, node, this.#resources);
    this.#hosts = new HostGuard(options.hosts, options.isInNetwork);
    const { dropIn } = this.#calls;
    this.#root = dropIn && this.#hosts.guard(dropIn.route);
    this.#prefix = new Prefix(options.prefix);
    this.#headersFor = createCommonHeaders(options.cors);
    this.#unmatched = { path: OTHER, headersFor: this.#headersFor };
    this.#routes = new Routes(
      this.#table(),
      operationRoutes(options.operations, options.cors).map((route) => this.#hosts.guard(route)),
      ({ request, path }) => {
        if (isWebSocket(request)) return NO_WEBSOCKET;
        const isOff = path === "/v1/metrics" && !options.meters;
        return isOff ? "It is off; see the setting metrics" : this.#calls.hint;
      },
      this.#root,
    );
    this.onError = options.onError;
  }

  readonly fetch: Nodeface["fetch"] = async (request, ...context) => {
    // A host written in JavaScript may pass any value.
    if (typeof request?.url !== "string" || typeof request.headers?.get !== "function") {
      const error = new TypeError("fetch expects a Request");
      this.onError(error);
      const common = this.#headersFor({ headers: new Headers() });
      return nativeOf(complete(problemResponse(500, FAILED), common, { method: "GET" }));
    }
    const target = parseTarget(request.url);
    const path = this.#options.prefix === ""
      ? target.pathname
      : this.#findPath(this.#prefix.pathsOf(request)) ?? target.pathname;
    const routed = new RoutedRequest(request, target, path, context, this.#unmatched);
    const begun = this.#respond(routed);
    this.#begun.add(begun);
    if (!HAS_SOCKETS) keepRunning(context, begun.then(this.#settled, this.#settled));
    let response: Response;
    try {
      response = await begun;
    } finally {
      this.#begun.delete(begun);
    }
    this.#options.meters?.countResponse(routed.matched.path, response.status);
    return (request as ServedRequest).takesFastResponse ? response : nativeOf(response);
  };

  readonly matches: Nodeface["matches"] = (request) =>
    this.#findPath(this.#prefix.pathsBelow(request)) !== undefined;

  readonly isBelowPrefix: Nodeface["matches"] = (request) =>
    this.#prefix.pathsBelow(request).length > 0;

  readonly refresh: Nodeface["refresh"] = () => this.#resources.refresh();

  readonly ready: Nodeface["ready"] = () => this.#resources.prepare();

  /** Called by a server that closes. */
  readonly endStreams = (): void => {
    this.#resources.events.stream.endStreams();
    void this.#calls.sockets?.endSessions();
  };

  readonly close = async (): Promise<void> => {
    this.endCalls();
    await this.#resources.close();
  };

  readonly [Symbol.asyncDispose]: () => Promise<void> = this.close;

  /** Ends connections and streams; closes the service when it has finished what it began. */
  async retire(): Promise<void> {
    const retiring = this.#calls.endSockets();
    this.#resources.end();
    // A request or a message may begin a call.
    await Promise.allSettled([...this.#begun, retiring]);
    await this.#calls.gateway?.idle();
    await this.close();
  }

  /** Ends connections and refuses calls that wait; those that run have a few seconds to end. */
  endCalls(): void {
    void this.#calls.endSockets();
    this.#calls.gateway?.close();
  }

  /** Ends the calls of clients that the next configuration does not have, or not as they are. */
  endOtherClients(forward: ResolvedOptions["forward"]): void {
    this.#calls.gateway?.clients.endAllBut(forward?.clients ?? []);
  }

  /** Never rejects. */
  async warmUp(): Promise<void> {
    try {
      await this.#calls.gateway?.clients.read();
      await this.#resources.monitor.snapshot();
    } catch (error) {
      this.onError(error);
    }
  }

  readonly #settled = (): Promise<void> => this.#resources.settled();

  async #respond(routed: RoutedRequest): Promise<Response> {
    const { request } = routed;
    try {
      const { upgrade } = request;
      const response = this.#refuse(routed) ??
        (upgrade ? await this.#handshake(routed) : undefined) ?? await this.#routes.respond(routed);
      return complete(response, routed.common, request);
    } catch (error) {
      if (error === UNREADABLE_CONTENT) {
        return complete(problemResponse(400, UNREADABLE_CONTENT.message), routed.common, request);
      }
      if (disconnectSignalOf(request).aborted) {
        return complete(
          new Response(null, { status: STATUS_CLIENT_CLOSED_REQUEST }),
          routed.common,
          request,
        );
      }
      // The query may contain secrets, so it is not logged.
      const message = `${request.method} ${routed.path} failed with 500: ${describeError(error)}`;
      this.#options.log(message, { code: "error", level: "error", error });
      return complete(problemResponse(500, FAILED), routed.common, request);
    }
  }

  #handshake(routed: RoutedRequest): Response | Promise<Response | undefined> {
    const [route] = this.#routes.at(routed.path).values();
    if (route) routed.matched = route;
    return this.#hosts.refuse(routed) ?? this.#calls.handshake(routed);
  }

  /** Of the possible paths, one of ours comes before the node's. */
  #findPath(paths: readonly string[]): string | undefined {
    const found = paths.filter((path) => this.#routes.at(path).size > 0);
    return found.find((path) => this.#routes.isOwn(path)) ?? found[0];
  }

  #refuse(routed: RoutedRequest): Response | undefined {
    const malformed = refuseMalformed(routed.request, routed.target);
    if (malformed) return malformed;
    // Without `cors: "*"`, other pages may read nothing, so no response may be read by rebinding
    // either.
    return this.#options.cors === "*" ? undefined : this.#hosts.refuse(routed);
  }

  /** The router tries the routes in this order, so the most requested routes come first. */
  #table(): Route[] {
    return [
      ...this.#infoRoutes(),
      ...this.#calls.routes.map((route) => this.#hosts.guard(route)),
      ...this.#liveRoutes(),
      ...this.#pageRoutes(),
      ...this.#metricsRoutes(),
      ...this.#descriptionRoutes(),
      ...this.#fileRoutes(),
    ];
  }

  #get(path: string, handle: Handler, headersFor: CommonHeadersFor = this.#headersFor): Route {
    return { path, methods: ["GET", "HEAD"], handle, headersFor };
  }

  #infoRoutes(): Route[] {
    const { monitor, ready } = this.#resources;
    const handleInfo: Handler = async ({ request, common }) =>
      (await monitor.snapshot()).representation.respond(request, common);
    const handleHealth: Handler = (routed) => {
      const accepted = readAccepted(routed.target.search);
      if (accepted) return respondWith(this.#resources.health(accepted), routed);
      return problemResponse(400, `"accept" must be a list of: ${STATUSES.join(", ")}`);
    };
    return [
      this.#get("/v1/info", handleInfo),
      this.#get("/v1/health", handleHealth),
      this.#get("/v1/ready", serving(ready)),
    ];
  }

  #liveRoutes(): Route[] {
    // A worker has no timers between requests.
    if (!HAS_SOCKETS) return [];
    const { log, operations, cors, isStandalone } = this.#options;
    const { history } = this.#resources;
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
      routes.push(this.#hosts.guard(this.#get(path, handleAllowed, headersFor)));
    };
    add("/v1/events", (routed) => this.#resources.openEvents(routed));
    if (history) add("/v1/history", serving(history));
    return routes;
  }

  #pageRoutes(): Route[] {
    return (["", ...VIEWS] as const).map((name) => {
      const handle: Handler = (routed) => {
        // A page under a host name that may be hostile must not ask for the token.
        const isPlain = !this.#hosts.isServed(routed);
        return respondWith(this.#resources.page(name, isPlain), routed);
      };
      return this.#get(name ? `/v1/spec/${name}` : "/v1/spec", handle);
    });
  }

  #metricsRoutes(): Route[] {
    const { meters } = this.#options;
    if (!meters) return [];
    // Metrics reveal which operations are called, and when. CORS middleware of the host may let any
    // page read a response, so requests of pages are refused.
    const handle: Handler = (routed) =>
      isReadByOtherOrigin(routed.request)
        ? problemResponse(403, "Pages of other origins may not read /v1/metrics")
        : respondWith(this.#resources.measure(meters, this.#calls.load), routed);
    return [this.#hosts.guard(this.#get("/v1/metrics", handle, createCommonHeaders([])))];
  }

  #descriptionRoutes(): Route[] {
    return DOCUMENT_PATHS.map((path) =>
      this.#get(path, (routed) => respondWith(this.#resources.document(path), routed))
    );
  }

  #fileRoutes(): Route[] {
    const { catalog, assets } = this.#resources;
    const handleAsset: Handler = async (routed) => {
      const asset = (await assets.get()).get(routed.path.slice("/assets/".length));
      return asset ? await respondWith(asset.get(routed.request), routed) : notFound();
    };
    // Browsers keep an icon by its URL, so the URL alone decides what a page's icon is.
    const handleIcon: Handler = (routed) =>
      respondWith(this.#resources.favicon(routed.target.search), routed);
    const handleRoot = this.#pageOrNode(({ request }) => this.#prefix.locate("v1/spec", request));
    const handleVersion = this.#pageOrNode(({ path }) => path.endsWith("/") ? "spec" : "v1/spec");
    return [
      this.#get("/.well-known/api-catalog", serving(catalog)),
      this.#get("/favicon.ico", handleIcon),
      { ...this.#get("/", handleRoot), allowsSlash: true },
      { ...this.#get("/v1", handleVersion), allowsSlash: true },
      // A host may have folders of its own below `/assets/`.
      this.#get("/assets/explorer-{digest}/{file}", handleAsset),
      this.#get("/assets/scalar-{digest}/{file}", handleAsset),
      this.#get("/assets/scalar-{digest}/chunks/{file}", handleAsset),
    ];
  }

  /**
   * Redirects to the explorer, unless the node serves the path to a client that does not ask for
   * HTML.
   */
  #pageOrNode(locate: (routed: RoutedRequest) => string): Handler {
    return async (routed) => {
      if (isWebSocket(routed.request)) return problemResponse(400, NO_WEBSOCKET);
      const response = await this.#respondFromNode(routed) ?? redirect(locate(routed));
      response.headers.append("vary", "Accept");
      return response;
    };
  }

  async #respondFromNode(routed: RoutedRequest): Promise<Response | undefined> {
    const root = this.#root;
    if (!root || !await this.#calls.dropIn?.isForNode(routed)) return undefined;
    routed.matched = root;
    return await root.handle(routed);
  }
}

const FAILED = "Internal error; the log of the service has the reason";

const serving = (resource: Resource<Representation>): Handler => (routed) =>
  respondWith(resource.get(), routed);

async function respondWith(
  representation: Representation | Promise<Representation>,
  { request, common }: RoutedRequest,
): Promise<Response> {
  return (await representation).respond(request, common);
}

const HEALTHY: ReadonlySet<string> = new Set(["ok"]);

function readAccepted(search: string): ReadonlySet<string> | undefined {
  const lists = new URLSearchParams(search).getAll("accept");
  if (lists.length === 0) return HEALTHY;
  const states = lists.flatMap((list) => list.split(",")).map((state) => state.trim());
  const isKnown = (state: string) => (STATUSES as readonly string[]).includes(state);
  return states.every(isKnown) ? new Set(states) : undefined;
}

/** On workerd, work stops silently when its request ends, or when the client leaves. */
function keepRunning(context: readonly unknown[], work: Promise<unknown>): void {
  const owner = context.find((one) => typeof objectOf(one).waitUntil === "function");
  (owner as { waitUntil(work: Promise<unknown>): void } | undefined)?.waitUntil(work);
}
