/**
 * The service as one function from `Request` to `Response`, the same on every runtime.
 *
 * A request passes through the host guard, the table of routes and a handler, which returns a
 * representation. `respond` makes an answer of it and `finish` adds the common headers. Errors pass
 * through `finish` as well, as problem details.
 *
 * @module
 */
import { type IRequestStrict, Router } from "itty-router";
import type { Closeable } from "./disposable.ts";
import { createFail, type Fail } from "./answer-error.ts";
import type { Call } from "./gateway/core.ts";
import type { Gateway } from "./gateway/gateway.ts";
import { hasContent } from "./gateway/request-body.ts";
import { CALL_METHODS, type Forward } from "./gateway/settings.ts";
import { refuseCall, refuseRpc } from "./gateway/not-forwarded.ts";
import { type Cors, isPreflight } from "./http/cors.ts";
import { createFinish, type Finish } from "./http/finish.ts";
import { createHostGuard } from "./http/host-guard.ts";
import { memoize } from "./http/memoize.ts";
import type { Answer, Awaitable, RequestHead } from "./http/message.ts";
import { answerMethod, notFound } from "./http/method-not-allowed.ts";
import { parsePathTemplate } from "./http/path-template.ts";
import { createPrefix, type Prefix, type RequestedPath } from "./http/prefix.ts";
import { problem } from "./http/problem-details.ts";
import type { Representation } from "./http/representation.ts";
import { parseTarget } from "./http/request-target.ts";
import { respond } from "./http/respond.ts";
import { isResponse, toResponse } from "./http/to-response.ts";
import { STATUSES } from "./info/status.ts";
import type { Resource } from "./lazy.ts";
import { createCaller } from "./operations/call-operation.ts";
import type { Operation } from "./operations/operation.ts";
import { type CheckedOptions, withDefaults } from "./options.ts";
import { createResources, type Resources } from "./resources.ts";

/** A service. Its `fetch` works with any server of `Request` and `Response`. */
export interface Nodeface extends Closeable {
  /**
   * Answers a request; neither throws nor rejects. Returns no promise if the answer is ready.
   *
   * @param context is given to the handlers of a host's operations, after their own parameters
   */
  fetch(request: Request, ...context: unknown[]): Response | Promise<Response>;
  /**
   * Whether a request is for this service: its path, whatever the method, is served here. Below `prefix` if
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
   * Makes every answer except the explorer's files and the description below `/v1`. Otherwise the first
   * request makes it.
   *
   * @throws {Error} if one cannot be made
   */
  ready(): Promise<void>;
  /**
   * Ends what is under way at the node, programs included. Answers stay as they are from then on. Nothing
   * is left running without it either: the service has no timers of its own.
   */
  close(): Promise<void>;
}

/** A service as the adapters know it. */
export interface AnsweringNodeface extends Nodeface {
  /**
   * Answers a request like `fetch`, but with plain data, so that an adapter copies no bytes. A host's
   * operation still answers with a `Response`.
   *
   * @param head the head of the request
   * @param makeRequest makes the `Request`; called only for a host's operation
   * @param context is given to its handler
   */
  answer(
    head: RequestHead,
    makeRequest: () => Awaitable<Request>,
    context?: readonly unknown[],
  ): Awaitable<Answer | Response>;
  /** Tells the log of an error that an adapter has met, such as that of an operation's stream. */
  onError(error: unknown): void;
}

/**
 * Assembles a service of options that have been checked. Reads nothing before the first request or
 * `ready`.
 */
export function assembleNodeface(checked: CheckedOptions): AnsweringNodeface {
  const options = withDefaults(checked);
  const { hosts, cors, operations, log } = options;
  const resources = createResources(options);
  const prefix = createPrefix(options.prefix);
  const guard = createHostGuard(hosts);
  const finish = createFinish(cors);
  const fail = createFail(log);
  const table = createRoutes(resources, prefix);
  const { node, description } = options;
  const isBesideNode = Boolean(node.url ?? node.kind) ||
    (description !== undefined && description !== "none");
  if (isBesideNode) addCalls(table, resources, options.forward);
  addOperations(table, operations, cors, fail);

  // The way of a request, in its order.
  const answer: AnsweringNodeface["answer"] = (head, makeRequest, context = []) => {
    try {
      const found = find(head, makeRequest, context);
      const answered = isReady(found) ? complete(found, head) : completeLater(found, head);
      return isReady(answered) ? answered : orError(answered, head);
    } catch (error) {
      return answerError(error, head);
    }
  };

  const completeLater = async (found: Promise<Found>, head: RequestHead) =>
    complete(await found, head);

  const orError = async (answered: Promise<Answer | Response>, head: RequestHead) => {
    try {
      return await answered;
    } catch (error) {
      return answerError(error, head);
    }
  };

  const find = (
    head: RequestHead,
    makeRequest: () => Awaitable<Request>,
    context: readonly unknown[],
  ): Awaitable<Found> => {
    const { url, originalUrl } = head;
    const pathname = guard(head);
    if (typeof pathname !== "string") return pathname;
    const routes = routesOf(pathname);
    const route = routes.get(head.method);
    if (!route) return answerOther(routes, head);
    const original = originalUrl === undefined ? undefined : parseTarget(originalUrl)?.pathname;
    const path = { pathname, original };
    return route.handle({ path, url, match: route.match, head, makeRequest, context });
  };

  const routesAt = (pathname: string): Routes => {
    const routes: Routes = new Map();
    if (hasExtraSlash(pathname)) return routes;
    for (const [method, pattern, [handle, finish]] of table) {
      const match = pattern.exec(pathname);
      if (!match || routes.has(method)) continue;
      const route = { handle, finish, match };
      routes.set(method, route);
      if (method === "GET") routes.set("HEAD", route);
    }
    return routes;
  };
  /** Finds the routes of the first path that has any, of those that a requested path may stand for. */
  const lookUp = (strip: Prefix["strip"]) =>
    memoize((requested: string): Routes =>
      strip(requested).map(routesAt).find(({ size }) => size > 0) ?? NO_ROUTES
    );
  const routesOf = lookUp(prefix.strip);
  const routesOfWhole = lookUp(prefix.stripWhole);

  /** Answers OPTIONS, and a method that the path does not have. */
  const answerOther = (routes: Routes, head: RequestHead): Answer | Response => {
    const answer = answerMethod(head.method, routes.keys());
    if (!isPreflight(head)) return answer;
    // A method that is not there is answered as the others: to allow it would allow its headers for them too.
    const [first] = routes.values();
    const asked = (routes.get(head.headers.get("access-control-request-method") ?? "") ?? first)
      ?.finish;
    // Browsers remember all methods of the answer, so that each has to be open to the same origins.
    const open = [...routes].filter(([, { finish }]) => finish === asked).map(([method]) => method);
    if (!asked && open.length === routes.size) return answer;
    return toResponse((asked ?? finish)(answer, head, open));
  };

  const complete = (found: Found, head: RequestHead): Awaitable<Answer | Response> => {
    const answer = !found ? notFound() : "variants" in found ? respond(found, head.headers) : found;
    // What comes from an operation or from the node has a rule of its own for pages of other origins.
    if (isResponse(answer) || answer.isFinished) return answer;
    const finished = finish(answer, head) as Answer;
    return finished.load && head.method !== "HEAD" ? withBody(finished, finished.load) : finished;
  };

  // JavaScript hosts may hand over anything.
  const answerError = (error: unknown, head: RequestHead) =>
    isHead(head) ? finish(fail(error, head), head) : fail(error, undefined);

  const matches: Nodeface["matches"] = ({ url, originalUrl = url }) => {
    const target = parseTarget(url);
    if (!target) return false;
    // Only a router that has taken a mount's path off leaves less than the whole prefix.
    const isShortened = originalUrl !== url;
    return (isShortened ? routesOf : routesOfWhole)(target.pathname).size > 0;
  };

  return {
    fetch(request, ...context) {
      const answered = answer(request, () => request, context);
      return isReady(answered) ? toResponse(answered) : answered.then(toResponse);
    },
    matches,
    answer,
    onError: options.onError,
    refresh: resources.refresh,
    ready: resources.prepare,
    close: resources.close,
    [Symbol.asyncDispose]: resources.close,
  };
}

/** What a handler returns; `undefined` is answered with 404. */
type Found = Representation | Answer | Response | undefined;

interface RoutedRequest {
  path: RequestedPath;
  url: string;
  match: RegExpExecArray;
  head: RequestHead;
  makeRequest: () => Awaitable<Request>;
  context: readonly unknown[];
}

async function withBody(
  { load: _, ...answer }: Answer,
  load: NonNullable<Answer["load"]>,
): Promise<Answer> {
  return { ...answer, body: await load() };
}

/** The routes of a path by method; those of operations have a `finish` of their own. */
type Routes = Map<
  string,
  { handle: Handler; finish: Finish | undefined; match: RegExpExecArray }
>;

const NO_ROUTES: Routes = new Map();

type Handler = (request: RoutedRequest) => Awaitable<Found>;

/** The table of itty-router with the handlers that are put there. */
type RouteTable = [
  method: string,
  pattern: RegExp,
  handlers: [handle: Handler, finish?: Finish],
  path: string,
][];

/** Makes the table of the service's own routes, in the order in which they are tried. HEAD is with GET. */
function createRoutes(resources: Resources, prefix: Prefix): RouteTable {
  const router = Router<RoutedRequest & IRequestStrict, [], Found>();
  const table = router.routes as unknown as RouteTable;
  const get = (path: string, handle: Handler) => router.get(path, handle);
  const serve = (path: string, resource: Resource<Representation>) =>
    get(path, () => resource.peek() ?? resource.get());

  serve("/v1/spec", resources.page);
  serve("/v1/info", resources.info);
  get("/v1/health", ({ url }) => {
    const accepted = readAccepted(url);
    if (!accepted) return problem(400, `"accept" lists states: ${STATUSES.join(", ")}`);
    const resource = resources.health(accepted);
    return resource.peek() ?? resource.get();
  });
  for (const form of ["json", "yaml"] as const) {
    serve(`/spec.${form}`, resources[form]);
    serve(`/v1/spec.${form}`, resources.versioned[form]);
  }
  serve("/.well-known/api-catalog", resources.catalog);
  serve("/favicon.ico", resources.favicon);
  get("/", ({ path }) => redirect(prefix.locate("v1/spec", path)));
  // This route matches `/v1/` as well.
  get("/v1", ({ path }) => redirect(path.pathname.endsWith("/") ? "spec" : "v1/spec"));
  for (const path of ["/assets/:folder/:file", "/assets/:folder/chunks/:file"]) {
    get(
      path,
      async ({ match }) => (await resources.assets.get())(match[0].slice("/assets/".length)),
    );
  }
  return table;
}

/** Adds the calls of the node. They have a rule of their own for pages of other origins. */
function addCalls(table: RouteTable, { gateway }: Resources, forward: Forward): void {
  const origins = typeof forward === "object" ? forward.origins ?? [] : [];
  const finish = createFinish(origins, "same-origin");
  const add = (
    methods: readonly string[],
    pattern: RegExp,
    refuse: () => Answer,
    answerOf: (gateway: Gateway, call: Call) => Promise<Answer | Response>,
  ) => {
    const handle: Handler = async ({ head, url, match, makeRequest }) => {
      const opened = gateway.peek() ?? await gateway.get();
      const at = url.indexOf("?");
      const query = at < 0 ? "" : url.slice(at + 1).replace(/#.*$/, "");
      const call = { head, query, makeRequest, path: match[1] ?? "", content: { isRead: false } };
      const answer = finish(opened ? await answerOf(opened, call) : refuse(), head);
      // The rest of the content is not waited for (RFC 9112, section 9.3).
      const isLeft = hasContent(head) && !call.content.isRead;
      if (isResponse(answer)) {
        if (isLeft) answer.headers.set("connection", "close");
        return answer;
      }
      const headers = isLeft ? { ...answer.headers, connection: "close" } : answer.headers;
      return { ...answer, headers, isFinished: true };
    };
    for (const method of methods) table.push([method, pattern, [handle, finish], pattern.source]);
  };
  add(CALL_METHODS, /^\/v1\/node(\/.*)?$/, refuseCall, ({ callPath }, call) => callPath(call));
  add(["POST"], /^\/v1\/rpc\/?$/, refuseRpc, ({ callRpc }, call) => callRpc(call));
  add(
    ["GET", "POST"],
    /^\/v1\/rpc\/([^/]+)$/,
    refuseCall,
    ({ callMethod }, call) => callMethod(call),
  );
}

/**
 * Adds a host's operations to a table of routes. itty-router does not support all of OpenAPI's path
 * templates, so they are compiled here.
 *
 * @throws {TypeError} if the table has one already
 */
function addOperations(
  table: RouteTable,
  operations: readonly Operation[],
  cors: Cors,
  fail: Fail,
): void {
  // `"*"` is for what the service answers itself.
  const named = cors === "*" ? [] : cors;
  const serviceRoutes = table.length;
  for (const operation of operations.toSorted(bySpecificity)) {
    const { method, path, cors = named } = operation;
    const { pattern, names } = parsePathTemplate(path);
    const isTaken = table.some(([other, taken], i) =>
      other === method && (i < serviceRoutes ? taken.test(path) : taken.source === pattern.source)
    );
    if (isTaken) throw new TypeError(`${method} ${path} is served already`);
    const finish = createFinish(cors);
    const handle: Handler = createCaller(operation, names, cors, finish, fail);
    table.push([method, pattern, [handle, finish], path]);
  }
}

/** The states that a probe takes for healthy where it does not say. */
const HEALTHY: ReadonlySet<string> = new Set(["ok", "syncing", "stale"]);

/** The states of a query such as `?accept=ok,syncing`; `undefined` if one is unknown. */
function readAccepted(url: string): ReadonlySet<string> | undefined {
  const at = url.indexOf("?");
  const lists = at < 0 ? [] : new URLSearchParams(url.slice(at + 1)).getAll("accept");
  if (lists.length === 0) return HEALTHY;
  const states = lists.flatMap((list) => list.split(",")).map((state) => state.trim());
  const isKnown = (state: string) => (STATUSES as readonly string[]).includes(state);
  return states.every(isKnown) ? new Set(states) : undefined;
}

/** Paths with fewer names come first (OpenAPI 3.1, "Paths Object"), then paths with longer literals. */
function bySpecificity(a: Operation, b: Operation): number {
  const names = ({ path }: Operation) => path.split("{").length;
  const literals = ({ path }: Operation) => path.replaceAll(/\{[^}]*\}/g, "").length;
  return names(a) - names(b) || literals(b) - literals(a);
}

/** A relative `Location` works behind any proxy prefix (RFC 9110, section 10.2.2). */
function redirect(location: string): Answer {
  return {
    status: 307,
    headers: { location, "content-length": "0", "cache-control": "no-cache" },
    body: null,
  };
}

function isHead(value: unknown): boolean {
  const { url, headers } = (value ?? {}) as { url?: unknown; headers?: { get?: unknown } };
  return typeof url === "string" && typeof headers?.get === "function";
}

/** Whether a value is not a promise. A promise may be of any class, so this tests for the others. */
function isReady<T extends Found>(found: T | Promise<T>): found is T {
  return found === undefined || "variants" in found || "status" in found;
}

/** Paths of our own that may end with a slash: bitcoin-core of npm puts one at the end of its URL. */
const WITH_SLASH = ["/", "/v1/", "/v1/rpc/"];

/**
 * itty-router matches `/v1/spec/` as `/v1/spec`, where the page's relative links would be wrong. The node's own
 * paths may end with a slash.
 */
function hasExtraSlash(pathname: string): boolean {
  const isOwn = !pathname.startsWith("/v1/node/");
  return isOwn && pathname.endsWith("/") && !WITH_SLASH.includes(pathname);
}
