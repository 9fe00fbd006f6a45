/**
 * The routes that call the node: below `/v1/node` and `/v1/rpc`, and at the node's own paths.
 *
 * @module
 */
import type { CallForm, UnreadCall } from "./gateway/call.ts";
import { pathCalls } from "./gateway/call-path.ts";
import { methodCalls } from "./gateway/call-method.ts";
import { rpcCalls } from "./gateway/call-rpc.ts";
import { SELF_PATH, selfCalls } from "./gateway/call-self.ts";
import { type CallTable, Gateway } from "./gateway/gateway.ts";
import { Budget, Room } from "./gateway/budget.ts";
import { CALL_METHODS } from "./gateway/policy.ts";
import type { Quota } from "./gateway/quota.ts";
import { LATER, NO_WEBSOCKET, NOT_FORWARDED, Refusal } from "./gateway/response.ts";
import { CODES } from "./node/json-rpc.ts";
import { isOwnPath, isWellKnown } from "./http/own-paths.ts";
import { isWebSocket, namesContent, prefersHtml } from "./http/request.ts";
import {
  type CommonHeadersFor,
  createCommonHeaders,
  notAllowed,
  notFound,
  problem,
  useJsonType,
} from "./http/response.ts";
import type { Handler, Route, Visit } from "./http/routes.ts";
import { isLogged } from "./log.ts";
import type { Node } from "./node/node.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Resources } from "./resources/resources.ts";

interface CallRoutesContext {
  /** Refuses requests for a host name that is not served. */
  readonly guard: (handle: Handler) => Handler;
  /** Tells whether an operation of the host has a path. */
  readonly isHosts: (path: string) => boolean;
}

export class CallRoutes {
  readonly gateway: Gateway | undefined;
  /** The routes below `/v1`. */
  readonly routes: readonly Route[];
  /** The drop-in address: the node's own paths, or `undefined` if the root is closed. */
  readonly root: Route | undefined;
  readonly #resources: Resources;
  /** The content of calls that are refused without a gateway. */
  readonly #unread = new Budget();
  /** For calls, the setting `forward.origins` applies instead of `cors`. */
  readonly #headersFor: CommonHeadersFor;

  constructor(
    options: ResolvedOptions,
    node: Node,
    resources: Resources,
    { guard, isHosts }: CallRoutesContext,
  ) {
    const { node: { url, kind }, description = "none", forward } = options;
    this.#resources = resources;
    this.#headersFor = createCommonHeaders(forward?.origins ?? [], "same-origin");
    this.gateway = openGateway(options, node, resources);
    this.routes = url || kind || description !== "none" ? this.#routes(guard) : [];
    this.root = this.gateway && forward?.at_root
      ? {
        path: "/{path}",
        methods: CALL_METHODS,
        headersFor: this.#headersFor,
        handle: guard((request, visit) => this.#callAtRoot(request, visit)),
        methodsAt: (path) => this.#methodsAtRoot(path),
        matches: (path) => !isOwnPath(path) && !isHosts(path),
      }
      : undefined;
  }

  /** Tells whether the node responds to a request for one of our paths, such as `GET /v1`. */
  async isForNode(request: Request, path: string): Promise<boolean> {
    if (!this.root || prefersHtml(request)) return false;
    return (await this.#methodsAtRoot(path))?.includes(request.method) ?? false;
  }

  #routes(guard: CallRoutesContext["guard"]): Route[] {
    const routeOf = (form: CallForm) => ({
      headersFor: this.#headersFor,
      handle: guard(async (request, visit) =>
        await this.#call(request, visit, form, form.start, await this.gateway?.table())
      ),
      methodsAt: async (path: string) => {
        const table = await this.gateway?.table();
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
      ...this.gateway && this.gateway.clients.all.length > 0
        ? [{ path: SELF_PATH, methods: ["GET", "HEAD"], ...routeOf(selfCalls) }]
        : [],
    ];
  }

  async #callAtRoot(request: Request, visit: Visit): Promise<Response> {
    const { path } = visit;
    if (isWellKnown(path) && !(await this.#resources.description()).current.isBuiltIn) {
      return notFound(this.#resources.hint);
    }
    if (isWebSocket(request)) return problem(400, NO_WEBSOCKET);
    const table = await this.gateway?.table();
    const takesRpc = await isRpcPath(path, table);
    const isRpc = takesRpc && request.method === "POST";
    if (!isRpc && (takesRpc || isRedirect(path))) {
      const methods = methodsAtRoot(path, table, takesRpc) ?? [];
      const allowed = new Set([...isRedirect(path) ? ["GET", "HEAD"] : [], ...methods]);
      if (!allowed.has(request.method)) return notAllowed([...allowed], this.#resources.hint);
    }
    return await this.#call(request, visit, isRpc ? rpcCalls : pathCalls, "", table);
  }

  async #methodsAtRoot(path: string): Promise<readonly string[] | undefined> {
    const table = await this.gateway?.table();
    return methodsAtRoot(path, table, await isRpcPath(path, table));
  }

  /** @param start the part of the path that the node does not get */
  async #call(
    request: Request,
    visit: Visit,
    form: CallForm,
    start: string,
    table: CallTable | undefined,
  ): Promise<Response> {
    const content = { isRead: false };
    const response = await this.#callNode(request, visit, form, start, table, content);
    // The connection closes if the content was not read to its end (RFC 9112, section 9.3).
    if (!content.isRead && namesContent(request)) response.headers.set("connection", "close");
    // Clients of nodes know no problem details, and some read only `application/json`.
    useJsonType(response, request.headers.get("accept") ?? "");
    return response;
  }

  async #callNode(
    request: Request,
    visit: Visit,
    form: CallForm,
    start: string,
    table: CallTable | undefined,
    content: { isRead: boolean },
  ): Promise<Response> {
    const { gateway } = this;
    const unread = { request, content };
    if (!gateway || !table?.isKnown) {
      return await this.#respondUnread(form, NOT_FORWARDED[gateway ? "unknown" : "off"], unread);
    }
    const reason = await this.#resources.monitor.reasonAgainstCalls();
    if (reason) {
      const refusal = new Refusal(503, CODES.notReached, reason, { headers: LATER });
      return await this.#respondUnread(form, refusal, unread);
    }
    const query = visit.target!.search.slice(1);
    const path = visit.path.slice(start.length);
    const { common } = visit;
    const caller = await gateway.identify(request, query);
    const lease = gateway.lease(request, caller);
    const { quota } = lease;
    try {
      const refusal = quota?.refusal;
      if (refusal) return withHeaders(await this.#respondUnread(form, refusal, unread), quota);
      const call = { request, path, query, content, common, table, caller, lease };
      return withHeaders(await form.respond(gateway, call), quota);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      quota?.charge(error);
      return withHeaders(await form.toResponse(error), quota);
    } finally {
      lease.dispose();
    }
  }

  /** Refuses a call that has no lease. Its content is read only to find out its id. */
  async #respondUnread(
    form: CallForm,
    refusal: Refusal,
    call: Pick<UnreadCall, "request" | "content">,
  ): Promise<Response> {
    const body = new Room(this.#unread, "body");
    const lease = { holdBody: (bytes: number) => body.set(bytes) };
    try {
      return await form.toResponse(refusal, {
        request: call.request,
        content: call.content,
        lease,
      });
    } finally {
      body.dispose();
    }
  }
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
    description: () => resources.description(),
    onTrouble: (error) => log(error, { code: "error", level: "error", error }),
    onCall(call) {
      meters?.countCall(call);
      if (call.status < 400) resources.monitor.expectResponse();
      if (!isLogged(call, logCalls)) return;
      const took = `${Math.round(call.milliseconds)} ms ${call.bytes} bytes`;
      const by = forward.clients.length > 0 ? `${call.client} ` : "";
      log(`${call.operation} ${call.status} ${by}${took}`, {
        code: "call",
        level: "info",
        call,
      });
    },
  });
}

function withHeaders(response: Response, quota: Quota | undefined): Response {
  for (const [name, value] of Object.entries(quota?.headers ?? {})) {
    response.headers.set(name, value);
  }
  return response;
}

/** Tells whether the node takes JSON-RPC calls at one of its own paths. */
async function isRpcPath(path: string, table: CallTable | undefined): Promise<boolean> {
  if (!table || (table.isKnown && table.methods.size === 0)) return false;
  return path === (await table.rpcPath.get() || "/");
}

function methodsAtRoot(
  path: string,
  table: CallTable | undefined,
  takesRpc: boolean,
): readonly string[] | undefined {
  const methods = table && pathCalls.methodsAt(table, path);
  if (takesRpc) return [...new Set([...methods ?? [], "POST"])];
  return methods ?? (isRedirect(path) ? [] : undefined);
}

/** These paths redirect browsers to the explorer. */
const isRedirect = (path: string): boolean => /^\/(?:v1\/?)?$/.test(path);
