/**
 * The service as one function from `Request` to `Response`, the same on every runtime: its routes, in their order, and
 * what every request passes through.
 *
 * `before` (the host guard) → the route's handler → `finally` (`finish`, then the count), and `catch` where something is
 * thrown. `finish` (`http/common-headers.ts`) adds the common headers; a representation, and what a node says, have them already.
 *
 * @module
 */
import { Router } from "itty-router";
import type { Closeable } from "./closeable.ts";
import { VIEWS } from "./explorer/page-settings.ts";
import type { Call } from "./gateway/call.ts";
import { hasTokenInQuery, isAllowedCaller, TOKEN_IN_QUERY } from "./gateway/guard.ts";
import { CALL_METHODS } from "./gateway/policy.ts";
import { type MakeResponse, NOT_FORWARDED, refuse, refuseBody } from "./gateway/response.ts";
import {
  createOperations,
  hasOperationAt,
  type OperationMatch,
} from "./host-operations/call-operation.ts";
import {
  type CorsPolicy,
  createCorsPolicy,
  finish,
  isPreflight,
  preflightHeaders,
} from "./http/common-headers.ts";
import { createHostGuard } from "./http/hosts.ts";
import { notAllowed, notFound, problem } from "./http/problem-details.ts";
import type { Representation } from "./http/representation.ts";
import {
  createPrefix,
  namesContent,
  parseTarget,
  type RequestTarget,
  type ServedRequest,
} from "./http/request.ts";
import { FastResponse, nativeOf, REASONS, ResponseInParts } from "./http/response.ts";
import { STATUSES } from "./info/status.ts";
import type { Resource } from "./lazy.ts";
import { describeError } from "./log.ts";
import { OTHER } from "./metrics/metrics.ts";
import { type CheckedOptions, type ResolvedOptions, withDefaults } from "./options.ts";
import { HAS_SOCKETS } from "./platform.ts";
import { createResources, type Resources } from "./resources/resources.ts";

/** A service. Its `fetch` works with any server of `Request` and `Response`. */
export interface Nodeface extends Closeable {
  /**
   * Responds to a request; neither throws nor rejects.
   *
   * @param context is given to the handlers of a host's operations, after their own parameters
   */
  fetch(request: Request, ...context: unknown[]): Promise<Response>;
  /**
   * Tells whether a request is for this service: its path, whatever the method, is served here. Below `prefix` if
   * there is one. Ask it in a chain of handlers, to let the others answer what is not for this service.
   *
   * @example
   * ```ts
   * if (nodeface.matches(request)) return nodeface.fetch(request);
   * ```
   */
  matches(request: { readonly url: string; readonly originalUrl?: string | undefined }): boolean;
  /**
   * Reads the node's description again, now, if it has changed. There is no need to call it: the service
   * looks by itself while somebody asks, every two seconds at files and every thirty at URLs. The old
   * description stays if the new one is invalid.
   */
  refresh(): Promise<void>;
  /**
   * Makes every response except the explorer's files and the description below `/v1`. Otherwise the first
   * request makes it.
   *
   * @throws {Error} if one cannot be made
   */
  ready(): Promise<void>;
  /**
   * Ends what is under way at the node, programs included. Responses stay as they are from then on. Nothing
   * is left running without it either: no timer of the service keeps a process alive.
   */
  close(): Promise<void>;
}

/** A service as the command and the adapters see it. */
export interface App extends Nodeface {
  /** Asks the node, so that the first client need not wait for it. Never rejects. */
  warmUp(): Promise<void>;
  /** Tells the log of an error that an adapter has met, such as that of an operation's stream. */
  onError(error: unknown): void;
}

type Named = Pick<OperationMatch, "template" | "policy">;

/**
 * The object that itty-router routes by, with what is found out on the way. It is no `Request`, since the router writes `params`,
 * `query` and `route` to it: a host's own request stays as it is, and Bun's has a `params` that cannot be written.
 */
interface Routing {
  readonly method: string;
  readonly url: string;
  /** The path of the route that fits, which the router writes; `*` before there is one. */
  route: string;
  readonly proxy: Request;
  readonly target: RequestTarget | undefined;
  /** The path without a prefix. */
  readonly path: string;
  /** The host's own arguments after the request. */
  readonly context: readonly unknown[];
  named?: Named | undefined;
  /**
   * True once the handler has put the common headers in, so that `finish` is skipped: it would make `Headers` of the
   * list that they are in, which takes long.
   */
  isFinished: boolean;
}

type Handler = (request: Request, routing: Routing) => Response | Promise<Response>;

interface Entry extends Named {
  readonly handle: Handler;
}

/** Makes a service of options that have been checked. Throws if a path of a host's operation is taken. */
export function createApp(checked: CheckedOptions): App {
  const options = withDefaults(checked);
  const { meters, log } = options;
  const resources = createResources(options);
  const prefix = createPrefix(options.prefix);
  const hostGuard = createHostGuard(options.hosts);
  const ownPolicy = createCorsPolicy(options.cors);

  const fail = (error: unknown, request: Request): Response => {
    // A query may hold secrets.
    const [target] = request.url.replace(/^\w+:\/\/[^/]*/, "").split("?");
    const message = `${request.method} ${target} failed with 500: ${describeError(error)}`;
    log(message, { code: "error", level: "error", error });
    return problem(500, FAILED);
  };

  const router = Router<Request, [Routing]>({
    before: [
      (request, { target, path }) => {
        const refusal = hostGuard(request, target);
        if (refusal) return refusal;
        return hasExtraSlash(path) ? notFound() : undefined;
      },
    ],
    catch: (error, request, routing) => {
      routing.isFinished = false;
      return fail(error, request);
    },
    finally: [
      (response: Response, request, routing) => {
        const { template, policy } = namedOf(routing);
        const finished = routing.isFinished ? response : finish(response, policy(request), request);
        meters?.responses.add(template, finished.status);
        // Our own server on Node and Deno says when the client has left, and takes the response as it was made.
        return "gone" in request ? finished : nativeOf(finished);
      },
    ],
  });

  const nothing: Named = { template: OTHER, policy: ownPolicy };
  const entries = new Map<string, Entry>();
  const namedOf = ({ named, route }: Routing): Named => named ?? entries.get(route) ?? nothing;

  const add = (
    methods: readonly string[],
    path: string,
    handle: Handler,
    policy: CorsPolicy = ownPolicy,
  ) => {
    const template = path.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{path}") || "/";
    for (const method of methods) router[method.toLowerCase()]!(path, handle);
    // The router writes `/` as an empty path.
    entries.set(path.replace(/\/$/, ""), { template, policy, handle });
  };
  const sendRepresentation = (
    representation: Representation,
    request: Request,
    routing: Routing,
  ) => {
    routing.isFinished = true;
    return representation.respond(request, namedOf(routing).policy(request));
  };
  const addResource = (path: string, resource: Resource<Representation>, policy?: CorsPolicy) =>
    add(
      ["GET"],
      path,
      async (request, routing) => sendRepresentation(await resource.get(), request, routing),
      policy,
    );

  // The router tries the routes in turn: first those that are asked again and again.
  addResource("/v1/info", resources.info);
  add(["GET"], "/v1/health", async (request, routing) => {
    const accepted = readAccepted(routing.target!.search);
    if (!accepted) return problem(400, `"accept" must be a list of: ${STATUSES.join(", ")}`);
    return sendRepresentation(await resources.health(accepted).get(), request, routing);
  });
  addResource("/v1/ready", resources.ready);
  if (isBesideNode(options)) {
    // Pages of other origins have a rule of their own for calls. Where `forward` is off there are these routes too, and
    // say so.
    const policy = createCorsPolicy(options.forward?.origins ?? [], "same-origin");
    const call = createCalls(resources, policy);
    add(CALL_METHODS, "/v1/node/*", call("callPath", "/v1/node"), policy);
    add(["POST"], "/v1/rpc", call("callRpc"), policy);
    add(["GET", "POST"], "/v1/rpc/:method", call("callMethod", "/v1/rpc/"), policy);
  }
  addLive();
  addResource("/v1/spec", resources.page(""));
  for (const view of VIEWS) addResource(`/v1/spec/${view}`, resources.page(view));
  // A page that reads them sees which operations of the node are called, and when.
  if (resources.metrics) addResource("/v1/metrics", resources.metrics, createCorsPolicy([]));
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
  // This route matches `/v1/` as well.
  add(["GET"], "/v1", (_, { path }) => redirect(path.endsWith("/") ? "spec" : "v1/spec"));
  for (const path of ["/assets/:folder/:file", "/assets/:folder/chunks/:file"]) {
    add(["GET"], path, async (request, routing) => {
      const file = (await resources.assets.get())(routing.path.slice("/assets/".length));
      return file ? sendRepresentation(await file, request, routing) : notFound();
    });
  }

  /** Adds what tells for hours when the node and this machine were up: pages of other origins read it where `cors` lists them. */
  function addLive(): void {
    // A worker has no timers between requests.
    if (!HAS_SOCKETS) return;
    const { live } = resources;
    const origins = options.cors === "*" ? [] : options.cors;
    const policy = createCorsPolicy(origins, "same-origin");
    const addGuarded = (path: string, handle: Handler) => {
      if (hasOperationAt(options.operations, path)) {
        const message = `an operation of the host takes the place of ${path}`;
        return log(message, { code: "description", level: "warn" });
      }
      add(["GET"], path, (request, routing) => {
        if (!isAllowedCaller(request, origins)) {
          return problem(403, `Pages of other origins may not read ${path}`);
        }
        if (hasTokenInQuery(routing.target!.search)) return problem(400, TOKEN_IN_QUERY.message);
        return handle(request, routing);
      }, policy);
    };
    addGuarded(
      "/v1/events",
      (request, { target }) => live.open(request, new URLSearchParams(target!.search)),
    );
    const { history } = live;
    if (history) {
      addGuarded(
        "/v1/history",
        async (request, routing) => sendRepresentation(await history.get(), request, routing),
      );
    }
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
      // A handler leaves out the body of HEAD, or `finish` does.
      if (method === "GET") found.set("HEAD", entry);
    };
    if (hasExtraSlash(path)) return found;
    for (const [method, pattern, , route = ""] of ownRoutes) {
      if (pattern.test(path)) put(method, entries.get(route)!);
    }
    for (const [method, { call, ...named }] of findOperations(path)) {
      put(method, { ...named, handle: (request, { context }) => call(request, context) });
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

  /** Responds to OPTIONS, and to a method that the path does not have. */
  const respondOther = (
    request: Request,
    routing: Routing,
    found: ReadonlyMap<string, Entry>,
  ): Response => {
    if (found.size === 0) return notFound();
    const methods = [...found.keys()];
    if (request.method !== "OPTIONS") return notAllowed(methods);
    const allow = [...methods, "OPTIONS"].join(", ");
    const headers: Record<string, string> = { allow };
    if (isPreflight(request)) {
      // A method that is not there is answered as the others: to allow it would allow its headers for them too.
      const asked = found.get(request.headers.get("access-control-request-method") ?? "");
      if (asked) routing.named = asked;
      const { policy } = namedOf(routing);
      // Browsers remember all methods of the response, so that each has to be open to the same origins.
      const open = methods.filter((method) => found.get(method)!.policy === policy);
      const isAllOfOwn = policy === ownPolicy && open.length === methods.length;
      if (policy(request).headers.some(([name]) => name === "access-control-allow-origin")) {
        Object.assign(headers, preflightHeaders(isAllOfOwn ? allow : open.join(", ")));
      }
    }
    return respondEmpty(204, headers);
  };

  const findPath = (paths: readonly string[]) => paths.find((path) => entriesAt(path).size > 0);

  return {
    fetch(request, ...context) {
      // JavaScript hosts may hand over anything.
      if (typeof request?.url !== "string" || typeof request.headers?.get !== "function") {
        const error = new TypeError("fetch expects a Request");
        log(describeError(error), { code: "error", level: "error", error });
        const common = ownPolicy({ headers: new Headers() });
        return Promise.resolve(nativeOf(finish(problem(500, FAILED), common, { method: "GET" })));
      }
      const target = parseTarget(request.url);
      const { pathname } = target ?? { pathname: "/" };
      const path = options.prefix === "" ? pathname : findPath(prefix.strip(pathname)) ?? pathname;
      const { method } = request;
      const url = `http://localhost${path}`;
      const routing: Routing = {
        method,
        url,
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
      // Only a router that has taken a mount's path off leaves less than the whole prefix.
      const strip = originalUrl === url ? prefix.stripWhole : prefix.strip;
      return findPath(strip(target.pathname)) !== undefined;
    },
    async warmUp() {
      await resources.info.get().then(() => {}, options.onError);
    },
    onError: options.onError,
    refresh: resources.refresh,
    ready: resources.prepare,
    close: resources.close,
    [Symbol.asyncDispose]: resources.close,
  };
}

const FAILED = "Internal error; the log of the service has the reason";

function isBesideNode({ node, description }: ResolvedOptions): boolean {
  if (node.url ?? node.kind) return true;
  return description !== undefined && description !== "none";
}

function createCalls(
  { gateway, isDescribed }: Pick<Resources, "gateway" | "isDescribed">,
  policy: CorsPolicy,
) {
  /** @param start what stands in the path before that of the call; a body of JSON-RPC has all in it, and no path */
  return (form: "callPath" | "callMethod" | "callRpc", start = ""): Handler => {
    const refuseAll = form === "callRpc" ? refuseBody : refuse;
    const callNode = async (request: Request, routing: Routing, content: Call["content"]) => {
      if (!gateway) return refuseAll(NOT_FORWARDED.off);
      if (!await isDescribed()) return refuseAll(NOT_FORWARDED.unknown);
      const query = routing.target!.search.slice(1);
      const path = routing.path.slice(start.length);
      const makeResponse = responseMaker(request, routing, policy);
      return await gateway[form]({ request, query, path, content, makeResponse });
    };
    return async (request, routing) => {
      const content = { isRead: false };
      const response = await callNode(request, routing, content);
      // The rest of the content is not waited for (RFC 9112, section 9.3).
      if (!content.isRead && namesContent(request)) response.headers.set("connection", "close");
      return response;
    };
  };
}

/** Makes a function that makes the response of the node's, the common headers with its own. */
function responseMaker(request: Request, routing: Routing, policy: CorsPolicy): MakeResponse {
  return (status, named, body) => {
    const headers = Object.entries(named);
    // `finish` takes the body of a HEAD away.
    if (request.method !== "HEAD") {
      routing.isFinished = true;
      const { headers: common, vary } = policy(request);
      headers.push(...common);
      if (vary) headers.push(["vary", vary]);
    }
    // A node may have one that this service never gives by itself.
    const statusText = (REASONS as Readonly<Record<number, string>>)[status] ?? "";
    const init = { status, statusText, headers };
    return body && "parts" in body ? new ResponseInParts(body, init) : new FastResponse(body, init);
  };
}

/** The states that a probe takes for healthy by default. */
const HEALTHY: ReadonlySet<string> = new Set(["ok", "syncing", "stale"]);

/** Reads the states of a query such as `?accept=ok,syncing`; `undefined` if one is unknown. */
function readAccepted(search: string): ReadonlySet<string> | undefined {
  const lists = new URLSearchParams(search).getAll("accept");
  if (lists.length === 0) return HEALTHY;
  const states = lists.flatMap((list) => list.split(",")).map((state) => state.trim());
  const isKnown = (state: string) => (STATUSES as readonly string[]).includes(state);
  return states.every(isKnown) ? new Set(states) : undefined;
}

/** Makes a redirect. A relative `Location` works behind any proxy prefix (RFC 9110, section 10.2.2). */
function redirect(location: string): Response {
  return respondEmpty(307, { location, "content-length": "0", "cache-control": "no-cache" });
}

function respondEmpty(status: 204 | 307, headers: Record<string, string>): Response {
  const init = { status, statusText: REASONS[status], headers: new Headers(headers) };
  return new FastResponse(null, init);
}

/** Paths of our own that may end with a slash: bitcoin-core of npm puts one at the end of its URL. */
const WITH_SLASH = ["/", "/v1/", "/v1/rpc/"];

/**
 * Tells whether a path ends with a slash that no route has: itty-router matches `/v1/spec/` as `/v1/spec`, where the
 * page's relative links would be wrong. The node's own paths may end with a slash.
 */
function hasExtraSlash(path: string): boolean {
  return path.endsWith("/") && !path.startsWith("/v1/node/") && !WITH_SLASH.includes(path);
}
