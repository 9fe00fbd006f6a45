/**
 * Creates the service: a function that takes a `Request`, finds its route, and returns a `Response`.
 *
 * @module
 */
import { Router } from "itty-router";
import type { Closeable } from "./closeable.ts";
import { VIEWS } from "./explorer/page-settings.ts";
import { callPath, methodsOfPath } from "./gateway/call-path.ts";
import { callMethod, callRpc, methodsOfMethod, refuseRpc } from "./gateway/call-rpc.ts";
import { type CallForm, Gateway } from "./gateway/gateway.ts";
import { hasTokenInQuery, isAllowedCaller, isProgram, TOKEN_IN_QUERY } from "./gateway/guard.ts";
import { CALL_METHODS } from "./gateway/policy.ts";
import { type MakeResponse, NOT_FORWARDED, refuse } from "./gateway/response.ts";
import {
  createOperations,
  hasOperationAt,
  type OperationMatch,
} from "./host-operations/call-operation.ts";
import type { Representation } from "./http/representation.ts";
import {
  createHostGuard,
  createPrefix,
  namesContent,
  parseTarget,
  type RequestTarget,
  type ServedRequest,
} from "./http/request.ts";
import {
  type CommonHeadersFor,
  createCommonHeaders,
  FastResponse,
  finish,
  isPreflight,
  nativeOf,
  notAllowed,
  notFound,
  preflightHeaders,
  problem,
  REASONS,
  ResponseInParts,
} from "./http/response.ts";
import { STATUSES } from "./info/status.ts";
import { type Resource, whenReady } from "./lazy.ts";
import { describeError, isLogged } from "./log.ts";
import { OTHER } from "./metrics/metrics.ts";
import { type CheckedOptions, type ResolvedOptions, withDefaults } from "./options.ts";
import { HAS_SOCKETS } from "./platform.ts";
import { createResources, type Resources } from "./resources/resources.ts";

/** A service. Its `fetch` works in any server that uses `Request` and `Response`. */
export interface Nodeface extends Closeable {
  /** Responds to a request; never throws or rejects. Handlers of host operations get `context` as extra arguments. */
  fetch(request: Request, ...context: unknown[]): Promise<Response>;
  /**
   * Tells whether this service has a route for the path of a request. If false, the host can handle the request itself.
   *
   * @example
   * ```ts
   * if (nodeface.matches(request)) return nodeface.fetch(request);
   * ```
   */
  matches(request: { readonly url: string; readonly originalUrl?: string | undefined }): boolean;
  /**
   * Reloads the node's description if it has changed. An invalid description does not replace the last valid one. While
   * requests arrive, the service also checks for changes: every 2 seconds in a file, every 30 seconds at a URL.
   */
  refresh(): Promise<void>;
  /**
   * Prepares responses so that the first request does not have to wait for them. The explorer's files, `/v1/spec.*` and
   * responses with values from the node are not prepared.
   *
   * @throws {Error} if a response cannot be prepared
   */
  ready(): Promise<void>;
  /**
   * Ends child processes and requests to the node. Responses after `close` contain only data that was read earlier. A
   * process can also exit without closing its service.
   */
  close(): Promise<void>;
}

export interface App extends Nodeface {
  /** Never rejects. */
  warmUp(): Promise<void>;
  onError(error: unknown): void;
}

type Named = Pick<OperationMatch, "template" | "headersFor">;

/** The object that itty-router uses instead of a `Request`. On Bun, `params` of a `Request` cannot be set. */
interface Routing {
  readonly method: string;
  readonly url: string;
  /** The path of the matching route, which the router sets; `*` until then. */
  route: string;
  /** The request; the router passes it to handlers as their first argument. */
  readonly proxy: Request;
  readonly target: RequestTarget | undefined;
  /** The path without the prefix at which the host mounts the service. */
  readonly path: string;
  readonly context: readonly unknown[];
  named?: Named | undefined;
  /** True if the response already has the common headers. */
  isFinished: boolean;
}

type Found = Representation | Response;

type Handler = (request: Request, routing: Routing) => Response | Promise<Response>;

interface Entry extends Named {
  readonly handle: Handler;
  /** Returns the methods that do not get 405 at a path, if the node's description has the path. */
  readonly methodsAt?: MethodsAt | undefined;
}

type MethodsAt = (path: string) => Promise<readonly string[] | undefined>;

export function createApp(checked: CheckedOptions): App {
  const options = withDefaults(checked);
  const { meters, log } = options;
  const resources = createResources(options, () => gateway?.waiting);
  const gateway = openGateway(options, resources);
  const prefix = createPrefix(options.prefix);
  const hostGuard = createHostGuard(options.hosts);
  /** Without `cors: "*"`, other pages may read nothing, so no response may be read by rebinding either. */
  const isOpenToAll = options.cors === "*";
  const isServed = (request: Request, target: RequestTarget | undefined) => {
    const use = hostGuard.useOf(request, target);
    const mayBeProgram = use === "private" && options.isInNetwork;
    return use === "served" || (mayBeProgram && isProgram(request.headers));
  };
  const refuseHost = (request: Request, target: RequestTarget | undefined) =>
    isServed(request, target) ? undefined : problem(421, HOST_NOT_SERVED);
  const guarded = (handle: Handler): Handler => (request, routing) =>
    refuseHost(request, routing.target) ?? handle(request, routing);
  const ownHeaders = createCommonHeaders(options.cors);
  const router = Router<Request, [Routing]>({
    before: [
      (request, { target, path }) =>
        hostGuard.refuseMalformed(request, target) ??
          (isOpenToAll ? undefined : refuseHost(request, target)) ??
          (hasExtraSlash(path) ? notFound() : undefined),
    ],
    catch: (error, { method, url }, routing) => {
      routing.isFinished = false;
      // The query may contain secrets, so it is not logged.
      const [target] = url.replace(/^\w+:\/\/[^/]*/, "").split("?");
      const message = `${method} ${target} failed with 500: ${describeError(error)}`;
      log(message, { code: "error", level: "error", error });
      return problem(500, FAILED);
    },
    finally: [
      (response: Response, request, routing) => {
        const { template, headersFor } = namedOf(routing);
        const finished = routing.isFinished
          ? response
          : finish(response, headersFor(request), request);
        meters?.responses.add(template, finished.status);
        // Only requests from our `node:http` adapter have `gone`. This adapter sends a `FastResponse` faster than a
        // native `Response`.
        return "gone" in request ? finished : nativeOf(finished);
      },
    ],
  });
  const nothing: Named = { template: OTHER, headersFor: ownHeaders };
  const entries = new Map<string, Entry>();
  const namedOf = ({ named, route }: Routing): Named => named ?? entries.get(route) ?? nothing;
  const add = (
    methods: readonly string[],
    path: string,
    handle: Handler,
    headersFor = ownHeaders,
    methodsAt?: MethodsAt,
  ) => {
    const template = path.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{path}") || "/";
    for (const method of methods) router[method.toLowerCase()]!(path, handle);
    // To the router, the path `/` is an empty string.
    entries.set(path.replace(/\/$/, ""), { template, headersFor, handle, methodsAt });
  };
  const respondWith =
    (find: (routing: Routing) => Found | Promise<Found>): Handler => (request, routing) => {
      const respond = (found: Found) => {
        if (found instanceof Response) return found;
        routing.isFinished = true;
        return found.respond(request, namedOf(routing).headersFor(request));
      };
      return whenReady(find(routing), respond);
    };
  const addResource = (
    path: string,
    resource: Resource<Representation>,
    headersFor?: CommonHeadersFor,
  ) => add(["GET"], path, respondWith(() => resource.get()), headersFor);

  // The router tries the routes in this order, so the most requested routes come first.
  addResource("/v1/info", resources.info);
  const respondHealth = respondWith(({ target }) => {
    const accepted = readAccepted(target!.search);
    if (accepted) return resources.health(accepted).get();
    return problem(400, `"accept" must be a list of: ${STATUSES.join(", ")}`);
  });
  add(["GET"], "/v1/health", respondHealth);
  addResource("/v1/ready", resources.ready);
  const { url, kind } = options.node;
  if (url || kind || (options.description ?? "none") !== "none") {
    // For calls, the setting `forward.origins` applies instead of `cors`.
    const headersFor = createCommonHeaders(options.forward?.origins ?? [], "same-origin");
    const call = (form: CallForm, start: string) =>
      guarded(callHandler(gateway, headersFor, form, start));
    const at = (find: typeof methodsOfPath, start: string): MethodsAt => async (path) =>
      gateway && await find(gateway, path.slice(start.length));
    const [path, method] = [call(callPath, "/v1/node"), call(callMethod, "/v1/rpc/")];
    add(CALL_METHODS, "/v1/node/*", path, headersFor, at(methodsOfPath, "/v1/node"));
    add(["POST"], "/v1/rpc", call(callRpc, "/v1/rpc"), headersFor);
    add(["GET", "POST"], "/v1/rpc/:method", method, headersFor, at(methodsOfMethod, "/v1/rpc/"));
  }
  // A worker has no timers between requests.
  if (HAS_SOCKETS) {
    const { live: { open, history } } = resources;
    // These responses reveal when the node and this machine were up, so `cors: "*"` does not cover them.
    const origins = options.cors === "*" ? [] : options.cors;
    const headersFor = createCommonHeaders(origins, "same-origin");
    const addGuarded = (path: string, handle: Handler) => {
      if (hasOperationAt(options.operations, path)) {
        const message = `an operation of the host replaces the service's ${path}`;
        return log(message, { code: "description", level: "warn" });
      }
      const handleAllowed: Handler = (request, routing) => {
        if (!isAllowedCaller(request, origins)) {
          return problem(403, `Pages of other origins may not read ${path}`);
        }
        if (hasTokenInQuery(routing.target!.search)) return problem(400, TOKEN_IN_QUERY.message);
        return handle(request, routing);
      };
      add(["GET"], path, guarded(handleAllowed), headersFor);
    };
    addGuarded(
      "/v1/events",
      (request, { target }) => open(request, new URLSearchParams(target!.search)),
    );
    if (history) addGuarded("/v1/history", respondWith(() => history.get()));
  }
  for (const name of ["", ...VIEWS] as const) {
    // A page under a host name that may be hostile must not ask for the token.
    const page = respondWith(() => resources.page(name, false).get());
    const plainPage = respondWith(() => resources.page(name, true).get());
    const respondPage: Handler = (request, routing) => {
      const isHere = hostGuard.useOf(request, routing.target) === "served";
      return (isHere ? page : plainPage)(request, routing);
    };
    add(["GET"], name ? `/v1/spec/${name}` : "/v1/spec", respondPage);
  }
  // Metrics reveal which operations are called, and when, so pages of other origins may not read them.
  const { metrics } = resources;
  if (metrics) {
    const respondMetrics = guarded(respondWith(() => metrics.get()));
    add(["GET"], "/v1/metrics", respondMetrics, createCommonHeaders([]));
  }
  for (const form of ["json", "yaml"] as const) {
    addResource(`/spec.${form}`, resources[form]);
    addResource(`/v1/spec.${form}`, resources.versioned[form]);
  }
  addResource("/.well-known/api-catalog", resources.catalog);
  addResource("/favicon.ico", resources.favicon);
  add(["GET"], "/", (request, { target }) => {
    const { originalUrl } = request as ServedRequest;
    const original = typeof originalUrl === "string" ? parseTarget(originalUrl) : undefined;
    return redirect(prefix.locate("v1/spec", target!.pathname, original?.pathname));
  });
  add(["GET"], "/v1", (_, { path }) => redirect(path.endsWith("/") ? "spec" : "v1/spec"));
  for (const path of ["/assets/:folder/:file", "/assets/:folder/chunks/:file"]) {
    const respondAsset = respondWith(async ({ path }) => {
      const find = await resources.assets.get();
      return await find(path.slice("/assets/".length)) ?? notFound();
    });
    add(["GET"], path, respondAsset);
  }

  const ownRoutes = [...router.routes];
  const findOperations = createOperations(
    options.operations,
    options.cors,
    (method, path) => ownRoutes.some((route) => route[0] === method && route[1].test(path)),
  );
  const entriesAt = (path: string): ReadonlyMap<string, Entry> => {
    const found = new Map<string, Entry>();
    const put = (method: string, entry: Entry) => {
      if (found.has(method)) return;
      found.set(method, entry);
      if (method === "GET") found.set("HEAD", entry);
    };
    if (hasExtraSlash(path)) return found;
    for (const [method, pattern, , route = ""] of ownRoutes) {
      if (pattern.test(path)) put(method, entries.get(route)!);
    }
    for (const [method, { call, ...named }] of findOperations(path)) {
      const handle: Handler = (request, { context }) => call(request, context);
      put(method, { ...named, handle: guarded(handle) });
    }
    return found;
  };
  router.all("*", (request: Request, routing: Routing) => {
    const found = entriesAt(routing.path);
    const [first] = found.values();
    const entry = found.get(request.method);
    routing.named = entry ?? first;
    return entry ? entry.handle(request, routing) : respondOther(request, routing, found);
  });
  const respondOther = async (
    request: Request,
    routing: Routing,
    found: ReadonlyMap<string, Entry>,
  ) => {
    if (found.size === 0) return notFound();
    const methods = await allowedAt(routing.path, found);
    if (request.method !== "OPTIONS") return notAllowed(methods);
    const allow = [...methods, "OPTIONS"].join(", ");
    const headers: Record<string, string> = { allow };
    if (isPreflight(request)) {
      const asked = found.get(request.headers.get("access-control-request-method") ?? "");
      if (asked) routing.named = asked;
      const { headersFor } = namedOf(routing);
      // Browsers cache a preflight response for all methods in it, so these methods must allow the same origins.
      const open = [...found].filter(([, entry]) => entry.headersFor === headersFor)
        .map(([method]) => method);
      const isAllOfOwn = headersFor === ownHeaders && open.length === found.size;
      if (headersFor(request).headers.some(([name]) => name === "access-control-allow-origin")) {
        Object.assign(headers, preflightHeaders(isAllOfOwn ? allow : open.join(", ")));
      }
    }
    return respondEmpty(204, headers);
  };
  const close = async () => {
    gateway?.close();
    await resources.close();
  };
  const findPath = (paths: readonly string[]) => paths.find((path) => entriesAt(path).size > 0);
  return {
    fetch(request, ...context) {
      // A host written in JavaScript may pass any value.
      if (typeof request?.url !== "string" || typeof request.headers?.get !== "function") {
        const error = new TypeError("fetch expects a Request");
        log(describeError(error), { code: "error", level: "error", error });
        const common = ownHeaders({ headers: new Headers() });
        return Promise.resolve(nativeOf(finish(problem(500, FAILED), common, { method: "GET" })));
      }
      const target = parseTarget(request.url);
      const { pathname } = target ?? { pathname: "/" };
      const path = options.prefix === "" ? pathname : findPath(prefix.strip(pathname)) ?? pathname;
      const routing: Routing = {
        method: request.method,
        url: `http://localhost${path}`,
        route: "*",
        proxy: request,
        target,
        path,
        context,
        isFinished: false,
      };
      return router.fetch(routing, routing);
    },
    matches({ url, originalUrl = url }) {
      const target = parseTarget(url);
      if (!target) return false;
      // Some host routers remove their mount path, so the URL has only a part of the prefix.
      const strip = originalUrl === url ? prefix.stripWhole : prefix.strip;
      return findPath(strip(target.pathname)) !== undefined;
    },
    async warmUp() {
      try {
        await resources.info.get();
      } catch (error) {
        options.onError(error);
      }
    },
    onError: options.onError,
    refresh: resources.refresh,
    ready: resources.prepare,
    close,
    [Symbol.asyncDispose]: close,
  };
}

const HOST_NOT_SERVED = 'This host name is not served; add it to the setting "hosts"';
const FAILED = "Internal error; the log of the service has the reason";

/** Returns the methods that do not get 405 at a path. */
async function allowedAt(
  path: string,
  found: ReadonlyMap<string, Entry>,
): Promise<readonly string[]> {
  // The own routes come first, and a path has at most one that depends on the description.
  const [first] = found.values();
  const described = await first?.methodsAt?.(path);
  const methods = [...found.keys()];
  if (!described) return methods;
  return methods.filter((method) => !found.get(method)!.methodsAt || described.includes(method));
}

function openGateway(
  { forward, node, meters, log, logCalls }: ResolvedOptions,
  { beside, operations }: Resources,
): Gateway | undefined {
  const { url } = node;
  if (!forward || url === undefined) return undefined;
  return new Gateway({
    ...{ forward, node: { ...node, url }, beside, operations },
    onCall(call) {
      meters?.countCall(call);
      if (!isLogged(call, logCalls)) return;
      const took = `${Math.round(call.milliseconds)} ms ${call.bytes} bytes`;
      log(`${call.operation} ${call.status} ${took}`, { code: "call", level: "info", call });
    },
  });
}

/** @param start the part of the path before `Call.path`, such as `/v1/node` */
function callHandler(
  gateway: Gateway | undefined,
  headersFor: CommonHeadersFor,
  form: CallForm,
  start: string,
): Handler {
  const refuseAll = form === callRpc ? refuseRpc : refuse;
  return async (request, routing) => {
    const content = { isRead: false };
    const callNode = async () => {
      if (!gateway) return refuseAll(NOT_FORWARDED.off);
      if (!await gateway.isDescribed()) return refuseAll(NOT_FORWARDED.unknown);
      const query = routing.target!.search.slice(1);
      const path = routing.path.slice(start.length);
      const makeResponse = responseMaker(request, routing, headersFor);
      return await gateway.call(form, { request, query, path, content, makeResponse });
    };
    const response = await callNode();
    // The connection closes if the content was not read to its end (RFC 9112, section 9.3).
    if (!content.isRead && namesContent(request)) response.headers.set("connection", "close");
    return response;
  };
}

function responseMaker(
  request: Request,
  routing: Routing,
  headersFor: CommonHeadersFor,
): MakeResponse {
  return (status, named, body) => {
    const headers = Object.entries(named);
    // For HEAD, `finish` adds the headers and removes the body.
    if (request.method !== "HEAD") {
      routing.isFinished = true;
      const { headers: common, vary } = headersFor(request);
      headers.push(...common);
      if (vary) headers.push(["vary", vary]);
    }
    const statusText = (REASONS as Readonly<Record<number, string>>)[status] ?? "";
    const init = { status, statusText, headers };
    return body && "parts" in body ? new ResponseInParts(body, init) : new FastResponse(body, init);
  };
}

const HEALTHY: ReadonlySet<string> = new Set(["ok", "syncing", "stale"]);

function readAccepted(search: string): ReadonlySet<string> | undefined {
  const lists = new URLSearchParams(search).getAll("accept");
  if (lists.length === 0) return HEALTHY;
  const states = lists.flatMap((list) => list.split(",")).map((state) => state.trim());
  const isKnown = (state: string) => (STATUSES as readonly string[]).includes(state);
  return states.every(isKnown) ? new Set(states) : undefined;
}

/** A relative `Location` works behind any proxy prefix (RFC 9110, section 10.2.2). */
function redirect(location: string): Response {
  return respondEmpty(307, { location, "content-length": "0", "cache-control": "no-cache" });
}

function respondEmpty(status: 204 | 307, headers: Record<string, string>): Response {
  const init = { status, statusText: REASONS[status], headers: new Headers(headers) };
  return new FastResponse(null, init);
}

/** These paths may end with a slash. The npm package `bitcoin-core` requests `/v1/rpc/`. */
const WITH_SLASH = ["/", "/v1/", "/v1/rpc/"];

/** itty-router would serve `/v1/spec/` like `/v1/spec`, but the page's relative links would break there. */
function hasExtraSlash(path: string): boolean {
  return path.endsWith("/") && !path.startsWith("/v1/node/") && !WITH_SLASH.includes(path);
}
