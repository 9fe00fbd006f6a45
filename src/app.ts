/**
 * Creates the service: a function that takes a `Request`, finds its route, and returns a
 * `Response`.
 *
 * @module
 */
import { VIEWS } from "./explorer/page-settings.ts";
import type { CallForm } from "./gateway/call.ts";
import { pathCalls } from "./gateway/call-path.ts";
import { methodCalls, rpcCalls } from "./gateway/call-rpc.ts";
import { Gateway } from "./gateway/gateway.ts";
import { hasTokenInQuery, isAllowedCaller, isProgram, TOKEN_IN_QUERY } from "./gateway/guard.ts";
import { CALL_METHODS } from "./gateway/policy.ts";
import { type MakeResponse, NOT_FORWARDED, Refusal } from "./gateway/response.ts";
import { hasOperationAt, operationRoutes } from "./host-operations/call-operation.ts";
import type { Representation } from "./http/representation.ts";
import {
  createHostGuard,
  createPrefix,
  type HostGuard,
  namesContent,
  parseTarget,
  type Prefix,
  type ServedRequest,
} from "./http/request.ts";
import {
  type CommonHeaders,
  type CommonHeadersFor,
  completeHead,
  completeResponse,
  createCommonHeaders,
  finish,
  nativeOf,
  notFound,
  problem,
} from "./http/response.ts";
import { type Handler, type Matched, redirect, type Route, Routes, Visit } from "./http/routes.ts";
import { openNode } from "./info/open-node.ts";
import { STATUSES } from "./info/status.ts";
import { type Resource, whenReady } from "./lazy.ts";
import { describeError, isLogged } from "./log.ts";
import { OTHER } from "./metrics/metrics.ts";
import type { Node } from "./node/node.ts";
import type { Nodeface } from "./nodeface.ts";
import { type CheckedOptions, type ResolvedOptions, withDefaults } from "./options.ts";
import { HAS_SOCKETS } from "./platform.ts";
import { Resources } from "./resources/resources.ts";

export const createApp = (checked: CheckedOptions): App => new App(withDefaults(checked));

/**
 * Hosts may use the functions of a `Nodeface` without the object, so these functions do not need
 * `this`.
 */
export class App implements Nodeface {
  readonly onError: (error: unknown) => void;
  readonly #options: ResolvedOptions;
  readonly #resources: Resources;
  readonly #gateway: Gateway | undefined;
  readonly #prefix: Prefix;
  readonly #hostGuard: HostGuard;
  readonly #headersFor: CommonHeadersFor;
  /** What counts as the route of a request that matches no route. */
  readonly #unmatched: Matched;
  readonly #routes: Routes;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    const node = openNode(options.node, options.kinds);
    this.#resources = new Resources(options, node, () => this.#gateway?.waiting);
    this.#gateway = openGateway(options, node, this.#resources);
    this.#prefix = createPrefix(options.prefix);
    this.#hostGuard = createHostGuard(options.hosts);
    this.#headersFor = createCommonHeaders(options.cors);
    this.#unmatched = { path: OTHER, headersFor: this.#headersFor };
    const operations = operationRoutes(options.operations, options.cors)
      .map((route) => ({ ...route, handle: this.#guarded(route.handle) }));
    this.#routes = new Routes(this.#table(), operations);
    this.onError = options.onError;
  }

  readonly fetch: Nodeface["fetch"] = async (request, ...context) => {
    // A host written in JavaScript may pass any value.
    if (typeof request?.url !== "string" || typeof request.headers?.get !== "function") {
      const error = new TypeError("fetch expects a Request");
      this.#options.log(describeError(error), { code: "error", level: "error", error });
      const common = this.#headersFor({ headers: new Headers() });
      return nativeOf(finish(problem(500, FAILED), common, { method: "GET" }));
    }
    const target = parseTarget(request.url);
    const { pathname } = target ?? { pathname: "/" };
    const path = this.#options.prefix === ""
      ? pathname
      : this.#findPath(this.#prefix.strip(pathname)) ?? pathname;
    const visit = new Visit(request, target, path, context, this.#unmatched);
    const response = await this.#respond(visit);
    this.#options.meters?.countResponse(visit.matched.path, response.status);
    return (request as ServedRequest).takesFastResponse ? response : nativeOf(response);
  };

  readonly matches: Nodeface["matches"] = ({ url, originalUrl = url }) => {
    const target = parseTarget(url);
    if (!target) return false;
    // Some host routers remove their mount path, so the URL has only a part of the prefix.
    const strip = originalUrl === url ? this.#prefix.stripWhole : this.#prefix.strip;
    return this.#findPath(strip(target.pathname)) !== undefined;
  };

  readonly refresh: Nodeface["refresh"] = () => this.#resources.refresh();

  readonly ready: Nodeface["ready"] = () => this.#resources.prepare();

  readonly close = async (): Promise<void> => {
    this.#gateway?.close();
    await this.#resources.close();
  };

  readonly [Symbol.asyncDispose]: () => Promise<void> = this.close;

  /** Never rejects. */
  async warmUp(): Promise<void> {
    try {
      await this.#resources.info.get();
    } catch (error) {
      this.onError(error);
    }
  }

  async #respond(visit: Visit): Promise<Response> {
    const { request } = visit;
    try {
      const response = this.#refuse(visit) ?? await this.#routes.respond(visit);
      return finish(response, visit.common, request);
    } catch (error) {
      // The query may contain secrets, so it is not logged.
      const message = `${request.method} ${visit.path} failed with 500: ${describeError(error)}`;
      this.#options.log(message, { code: "error", level: "error", error });
      return finish(problem(500, FAILED), visit.common, request);
    }
  }

  #findPath(paths: readonly string[]): string | undefined {
    return paths.find((path) => this.#routes.at(path).size > 0);
  }

  #refuse(visit: Visit): Response | undefined {
    const malformed = this.#hostGuard.refuseMalformed(visit.request, visit.target);
    if (malformed) return malformed;
    // Without `cors: "*"`, other pages may read nothing, so no response may be read by rebinding
    // either.
    return this.#options.cors === "*" ? undefined : this.#refuseHost(visit);
  }

  #refuseHost({ request, target }: Visit): Response | undefined {
    const use = this.#hostGuard.useOf(request, target);
    const mayBeProgram = use === "private" && this.#options.isInNetwork;
    const isServed = use === "served" || (mayBeProgram && isProgram(request.headers));
    return isServed ? undefined : problem(421, HOST_NOT_SERVED);
  }

  #guarded(handle: Handler): Handler {
    return (request, visit) => this.#refuseHost(visit) ?? handle(request, visit);
  }

  /** The router tries the routes in this order, so the most requested routes come first. */
  #table(): Route[] {
    return [
      ...this.#infoRoutes(),
      ...this.#callRoutes(),
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
    const { info, ready } = this.#resources;
    const handleHealth: Handler = (_, visit) => {
      const accepted = readAccepted(visit.target!.search);
      if (accepted) return respondWith(this.#resources.health(accepted), visit);
      return problem(400, `"accept" must be a list of: ${STATUSES.join(", ")}`);
    };
    return [
      this.#get("/v1/info", serving(info)),
      this.#get("/v1/health", handleHealth),
      this.#get("/v1/ready", serving(ready)),
    ];
  }

  #callRoutes(): Route[] {
    const { node: { url, kind }, description = "none", forward } = this.#options;
    if (!url && !kind && description === "none") return [];
    const gateway = this.#gateway;
    // For calls, the setting `forward.origins` applies instead of `cors`.
    const headersFor = createCommonHeaders(forward?.origins ?? [], "same-origin");
    const routeOf = (form: CallForm) => ({
      handle: this.#guarded(callHandler(gateway, form)),
      headersFor,
      methodsAt: async (path: string) => {
        const table = await gateway?.table();
        return table && form.methodsAt(table, path.slice(form.start.length));
      },
    });
    return [
      {
        path: "/v1/node/{path}",
        methods: CALL_METHODS,
        ...routeOf(pathCalls),
      },
      {
        path: "/v1/rpc",
        methods: ["POST"],
        ...routeOf(rpcCalls),
        // The npm package `bitcoin-core` requests `/v1/rpc/`.
        allowsSlash: true,
      },
      {
        path: "/v1/rpc/{method}",
        methods: ["GET", "HEAD", "POST"],
        ...routeOf(methodCalls),
      },
    ];
  }

  #liveRoutes(): Route[] {
    // A worker has no timers between requests.
    if (!HAS_SOCKETS) return [];
    const { log, operations, cors } = this.#options;
    const { live } = this.#resources;
    // These responses reveal when the node and this machine were up, so `cors: "*"` does not cover
    // them.
    const origins = cors === "*" ? [] : cors;
    const headersFor = createCommonHeaders(origins, "same-origin");
    const routes: Route[] = [];
    const add = (path: string, handle: Handler) => {
      if (hasOperationAt(operations, path)) {
        const message = `an operation of the host replaces the service's ${path}`;
        return log(message, { code: "description", level: "warn" });
      }
      const handleAllowed: Handler = (request, visit) => {
        if (!isAllowedCaller(request, origins)) {
          return problem(403, `Pages of other origins may not read ${path}`);
        }
        if (hasTokenInQuery(visit.target!.search)) return problem(400, TOKEN_IN_QUERY.message);
        return handle(request, visit);
      };
      routes.push(this.#get(path, this.#guarded(handleAllowed), headersFor));
    };
    add(
      "/v1/events",
      (request, { target }) => live.open(request, new URLSearchParams(target!.search)),
    );
    const { history } = live;
    if (history) add("/v1/history", serving(history));
    return routes;
  }

  #pageRoutes(): Route[] {
    return (["", ...VIEWS] as const).map((name) => {
      const handle: Handler = (request, visit) => {
        // A page under a host name that may be hostile must not ask for the token.
        const isPlain = this.#hostGuard.useOf(request, visit.target) !== "served";
        return respondWith(this.#resources.page(name, isPlain), visit);
      };
      return this.#get(name ? `/v1/spec/${name}` : "/v1/spec", handle);
    });
  }

  #metricsRoutes(): Route[] {
    const { metrics } = this.#resources;
    if (!metrics) return [];
    // Metrics reveal which operations are called, and when, so pages of other origins may not read
    // them.
    return [this.#get("/v1/metrics", this.#guarded(serving(metrics)), createCommonHeaders([]))];
  }

  #descriptionRoutes(): Route[] {
    const { json, yaml, versioned } = this.#resources;
    return [
      this.#get("/spec.json", serving(json)),
      this.#get("/v1/spec.json", serving(versioned.json)),
      this.#get("/spec.yaml", serving(yaml)),
      this.#get("/v1/spec.yaml", serving(versioned.yaml)),
    ];
  }

  #fileRoutes(): Route[] {
    const { catalog, favicon, assets } = this.#resources;
    const handleAsset: Handler = async (_, visit) => {
      const asset = (await assets.get()).get(visit.path.slice("/assets/".length));
      return asset ? await respondWith(asset.get(), visit) : notFound();
    };
    const handleRoot: Handler = (request, { target }) => {
      const { originalUrl } = request as ServedRequest;
      const original = typeof originalUrl === "string" ? parseTarget(originalUrl) : undefined;
      return redirect(this.#prefix.locate("v1/spec", target!.pathname, original?.pathname));
    };
    const handleVersion: Handler = (_, { path }) =>
      redirect(path.endsWith("/") ? "spec" : "v1/spec");
    return [
      this.#get("/.well-known/api-catalog", serving(catalog)),
      this.#get("/favicon.ico", serving(favicon)),
      { ...this.#get("/", handleRoot), allowsSlash: true },
      { ...this.#get("/v1", handleVersion), allowsSlash: true },
      this.#get("/assets/{folder}/{file}", handleAsset),
      this.#get("/assets/{folder}/chunks/{file}", handleAsset),
    ];
  }
}

const HOST_NOT_SERVED = 'This host name is not served; add it to the setting "hosts"';
const FAILED = "Internal error; the log of the service has the reason";

const serving = (resource: Resource<Representation>): Handler => (_, visit) =>
  respondWith(resource.get(), visit);

function respondWith(
  representation: Representation | Promise<Representation>,
  { request, common }: Visit,
): Response | Promise<Response> {
  return whenReady(representation, (representation) => representation.respond(request, common));
}

function openGateway(
  { forward, meters, log, logCalls }: ResolvedOptions,
  node: Node,
  resources: Resources,
): Gateway | undefined {
  if (!forward || node.url === undefined) return undefined;
  return new Gateway({
    forward,
    node,
    findKind: () => resources.monitor.findKind(),
    rpcPath: () => resources.rpcPath(),
    operations: () => resources.operations(),
    onCall(call) {
      meters?.countCall(call);
      if (!isLogged(call, logCalls)) return;
      const took = `${Math.round(call.milliseconds)} ms ${call.bytes} bytes`;
      log(`${call.operation} ${call.status} ${took}`, { code: "call", level: "info", call });
    },
  });
}

function callHandler(gateway: Gateway | undefined, form: CallForm): Handler {
  return async (request, visit) => {
    const content = { isRead: false };
    const callNode = async () => {
      const table = await gateway?.table();
      if (!gateway || !table) return form.refuse(NOT_FORWARDED[gateway ? "unknown" : "off"]);
      const query = visit.target!.search.slice(1);
      const path = visit.path.slice(form.start.length);
      const makeResponse = responseMaker(visit.common);
      const caller = await gateway.identify(request, query);
      const lease = gateway.lease(request, caller);
      try {
        const call = { request, path, query, content, makeResponse, table, caller, lease };
        return await form.respond(gateway, call);
      } catch (error) {
        if (error instanceof Refusal) return form.refuse(error);
        throw error;
      } finally {
        lease.dispose();
      }
    };
    const response = await callNode();
    // The connection closes if the content was not read to its end (RFC 9112, section 9.3).
    if (!content.isRead && namesContent(request)) response.headers.set("connection", "close");
    return response;
  };
}

const responseMaker = (common: CommonHeaders): MakeResponse => (status, headers, body) =>
  completeResponse(body, completeHead(status, headers, common));

const HEALTHY: ReadonlySet<string> = new Set(["ok", "syncing", "stale"]);

function readAccepted(search: string): ReadonlySet<string> | undefined {
  const lists = new URLSearchParams(search).getAll("accept");
  if (lists.length === 0) return HEALTHY;
  const states = lists.flatMap((list) => list.split(",")).map((state) => state.trim());
  const isKnown = (state: string) => (STATUSES as readonly string[]).includes(state);
  return states.every(isKnown) ? new Set(states) : undefined;
}
