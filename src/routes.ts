/**
 * The routes: which handler answers which method of which path.
 *
 * @module
 */
import { type IRequestStrict, Router } from "itty-router";
import type { Fail } from "./answer-error.ts";
import type { Call } from "./gateway/every-call.ts";
import type { Gateway } from "./gateway/gateway.ts";
import { refuseCall, refuseRpc, type WhyNot } from "./gateway/gateway-off.ts";
import { CALL_METHODS, type ForwardSettings } from "./gateway/forward-settings.ts";
import type { Cors } from "./http/cors.ts";
import { createFinish, type Finish } from "./http/finish.ts";
import type { Answer, Awaitable, RequestHead } from "./http/message.ts";
import { namesContent } from "./http/request-has-content.ts";
import { normalizePath, parsePathTemplate } from "./http/path-template.ts";
import type { Prefix, RequestedPath } from "./http/prefix.ts";
import { problem } from "./http/problem-details.ts";
import type { Representation } from "./http/representation.ts";
import { isResponse } from "./http/to-response.ts";
import { STATUSES } from "./info/status.ts";
import type { Resource } from "./lazy.ts";
import { createCaller } from "./host-operations/call-operation.ts";
import type { Operation } from "./host-operations/operation.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Resources } from "./resources/resources.ts";

/** What a handler returns; `undefined` is answered with 404. */
export type Found = Representation | Answer | Response | undefined;

/** What a handler is given. */
interface RoutedRequest {
  path: RequestedPath;
  url: string;
  match: readonly string[];
  head: RequestHead;
  makeRequest: () => Awaitable<Request>;
  context: readonly unknown[];
}

/** A route that fits a path. */
export interface Route {
  readonly handle: Handler;
  /** Operations, calls and metrics have one of their own. */
  readonly finish: Finish | undefined;
  readonly match: readonly string[];
  /** The path with the names in place of what stands there. */
  readonly template: string;
}

/** The routes of a path by method. */
export type Routes = Map<string, Route>;

type Handler = (request: RoutedRequest) => Awaitable<Found>;

/** The table of itty-router with the handlers that are put there. */
type RouteTable = [
  method: string,
  pattern: { readonly source: string; exec(path: string): readonly string[] | null },
  handlers: [handle: Handler, finish?: Finish],
  template: string,
][];

/**
 * Makes the table of all routes.
 *
 * @param options which operations a host adds, and whether calls of the node are served
 * @returns finds the routes of a path, which has no prefix any more; none if nothing is served there
 * @throws {TypeError} if a path of a host's operation is taken
 */
export function createRoutes(
  resources: Resources,
  options: ResolvedOptions,
  prefix: Prefix,
  fail: Fail,
): (pathname: string) => Routes {
  const table = serviceRoutes(resources, prefix);
  if (isBesideNode(options)) addCalls(table, resources, options.forward);
  addOperations(table, options.operations, options.cors, fail);
  return (pathname) => {
    const routes: Routes = new Map();
    if (hasExtraSlash(pathname)) return routes;
    for (const [method, pattern, [handle, finish], template] of table) {
      const match = pattern.exec(pathname);
      if (!match || routes.has(method)) continue;
      const route = { handle, finish, match, template };
      routes.set(method, route);
      if (method === "GET") routes.set("HEAD", route);
    }
    return routes;
  };
}

function isBesideNode({ node, description }: ResolvedOptions): boolean {
  if (node.url ?? node.kind) return true;
  return description !== undefined && description !== "none";
}

/** Makes the table of the service's own routes, in the order in which they are tried. HEAD is with GET. */
function serviceRoutes(resources: Resources, prefix: Prefix): RouteTable {
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
  serve("/v1/ready", resources.ready);
  if (resources.metrics) {
    serve("/v1/metrics", resources.metrics);
    // A page that reads them sees which operations of the node are called, and when.
    table.at(-1)![2].push(createFinish([]));
  }
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
      async ({ match }) => (await resources.assets.get())(match[0]!.slice("/assets/".length)),
    );
  }
  for (const row of table) row[3] = row[3].replaceAll(/:(\w+)/g, "{$1}") || "/";
  return table;
}

/** Adds the calls of the node. They have a rule of their own for pages of other origins. */
function addCalls(
  table: RouteTable,
  { gateway, isDescribed }: Resources,
  forward: ForwardSettings | undefined,
): void {
  const finish = createFinish(forward?.origins ?? [], "same-origin");
  const add = (
    methods: readonly string[],
    template: string,
    pattern: RegExp,
    refuse: (why: WhyNot) => Answer,
    answerOf: (gateway: Gateway, call: Call) => Promise<Answer | Response>,
  ) => {
    const handle: Handler = async ({ head, url, match, makeRequest }) => {
      const opened = gateway.peek() ?? await gateway.get();
      const at = url.indexOf("?");
      const query = at < 0 ? "" : url.slice(at + 1).replace(/#.*$/, "");
      const call = { head, query, makeRequest, path: match[1] ?? "", content: { isRead: false } };
      const whyNot = opened ? (await isDescribed() ? undefined : "unknown") : "off";
      const answer = finish(whyNot ? refuse(whyNot) : await answerOf(opened!, call), head);
      // The rest of the content is not waited for (RFC 9112, section 9.3).
      const isLeft = !call.content.isRead && (head.hasContent ?? namesContent(head));
      if (isResponse(answer)) {
        if (isLeft) answer.headers.set("connection", "close");
        return answer;
      }
      const { status, body, rest, sent } = answer;
      const headers = isLeft ? { ...answer.headers, connection: "close" } : answer.headers;
      return { status, headers, body, rest, sent, isFinished: true };
    };
    for (const method of methods) table.push([method, pattern, [handle, finish], template]);
  };
  add(
    CALL_METHODS,
    "/v1/node/{path}",
    /^\/v1\/node(\/.*)?$/,
    refuseCall,
    ({ callPath }, call) => callPath(call),
  );
  add(["POST"], "/v1/rpc", /^\/v1\/rpc\/?$/, refuseRpc, ({ callRpc }, call) => callRpc(call));
  add(
    ["GET", "POST"],
    "/v1/rpc/{method}",
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
  const ownRoutes = table.length;
  for (const operation of operations.toSorted(bySpecificity)) {
    const { method, path, cors = named } = operation;
    const { names, source, match } = parsePathTemplate(path);
    const isTaken = table.some(([other, taken], i) =>
      other === method && (i < ownRoutes ? taken.exec(path) : taken.source === source)
    );
    if (isTaken) throw new TypeError(`${method} ${path} is served already`);
    const finish = createFinish(cors);
    const handle: Handler = createCaller(operation, names, cors, finish, fail);
    const exec = (path: string) => {
      const texts = match(normalizePath(path));
      return texts ? [path, ...texts] : null;
    };
    table.push([method, { source, exec }, [handle, finish], path]);
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
