/**
 * The routes that call the node: below `/v1/node` and `/v1/rpc`, and at the node's own paths.
 *
 * @module
 */
import type { CallForm, UnreadCall } from "./gateway/call.ts";
import { pathCalls } from "./gateway/call-path.ts";
import { methodCalls } from "./gateway/call-method.ts";
import { rpcCalls } from "./gateway/call-rpc.ts";
import { selfCalls } from "./gateway/call-self.ts";
import { type CallTable, Gateway } from "./gateway/gateway.ts";
import { Budget, Room } from "./gateway/budget.ts";
import { CALL_METHODS } from "./gateway/policy.ts";
import type { Quota } from "./gateway/quota.ts";
import { NO_WEBSOCKET, NOT_FORWARDED, Refusal } from "./gateway/refusal.ts";
import { isWellKnown, SELF_PATH } from "./http/own-paths.ts";
import { isWebSocket, namesContent, prefersHtml, type ServedRequest } from "./http/request.ts";
import { type CommonHeadersFor, createCommonHeaders } from "./http/common-headers.ts";
import { notAllowed, notFound, problem } from "./http/problem.ts";
import { useJsonType } from "./http/response.ts";
import type { Route, Visit } from "./http/routes.ts";
import { type Lazy, lazy } from "./lazy.ts";
import type { GatewayLoad } from "./metrics/metrics.ts";
import type { Node } from "./node/node.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Resources } from "./resources/resources.ts";
import type { Sockets } from "./sockets/sockets.ts";

export class CallRoutes {
  readonly gateway: Gateway | undefined;
  /** The routes below `/v1`. */
  readonly routes: readonly Route[];
  /** The drop-in address: the node's own paths, or `undefined` if the root is closed. */
  readonly root: Route | undefined;
  readonly #resources: Resources;
  readonly #node: Node;
  /** True if the settings let nobody call the node. */
  readonly #isOff: boolean;
  readonly #sockets: Lazy<Sockets>;
  /** The content of calls that are refused without a gateway. */
  readonly #unread = new Budget();
  /** For calls, the setting `forward.origins` applies instead of `cors`. */
  readonly #headersFor: CommonHeadersFor;

  constructor(options: ResolvedOptions, node: Node, resources: Resources) {
    const { node: { url, kind }, description = "none", forward, meters, log, logCalls } = options;
    this.#resources = resources;
    this.#node = node;
    this.#sockets = lazy(async () => {
      const { Sockets } = await import("./sockets/sockets.ts");
      return new Sockets({
        gateway: this.gateway!,
        counts: options.meters,
      });
    });
    this.#headersFor = createCommonHeaders(forward?.origins ?? [], "same-origin");
    if (forward && url !== undefined) {
      this.gateway = new Gateway({ forward, node, resources, meters, log, logCalls });
    }
    this.#isOff = !forward && url !== undefined;
    const isRpcRefused = this.#isOff && options.isService;
    this.routes = url || kind || description !== "none" ? this.#routes(isRpcRefused) : [];
    this.root = this.gateway && forward?.at_root
      ? {
        path: "/{path}",
        methods: CALL_METHODS,
        headersFor: this.#headersFor,
        handle: (visit) => this.#callAtRoot(visit),
        methodsAt: (path) => this.#methodsAtRoot(path),
      }
      : undefined;
  }

  /** Responds to a WebSocket handshake, or returns `undefined` if its path takes none. */
  async handshake({ request, path, target }: Visit): Promise<Response | undefined> {
    const { gateway } = this;
    const { upgrade } = request as ServedRequest;
    if (!upgrade || !gateway || !await this.#takesSockets(path)) return undefined;
    return await (await this.#sockets.get()).respond(request, target!.search.slice(1), upgrade);
  }

  /** The connections of clients; `undefined` before the first handshake. */
  get sockets(): Sockets | undefined {
    return this.#sockets.made;
  }

  get load(): GatewayLoad {
    const { gateway, sockets } = this;
    return {
      waitingCalls: gateway?.waiting,
      sockets: gateway && (sockets?.size ?? 0),
      subscriptions: gateway && (sockets?.subscriptions ?? 0),
    };
  }

  async #takesSockets(path: string): Promise<boolean> {
    if (path === "/v1/rpc") return true;
    if (!this.root) return false;
    const table = await this.gateway?.table();
    const kind = await this.#node.definition();
    const isOfKind = path === kind?.websocket?.path && table !== undefined &&
      table.methods.size > 0;
    return isOfKind || await isRpcPath(path, table);
  }

  /** Tells whether the node responds to a request for one of our paths, such as `GET /v1`. */
  async isForNode({ request, path }: Visit): Promise<boolean> {
    if (!this.root || prefersHtml(request)) return false;
    return (await this.#methodsAtRoot(path))?.includes(request.method) ?? false;
  }

  /** What a client may have to change whose path or method is not served. */
  get hint(): string {
    return this.#isOff ? `. ${NOT_FORWARDED.off.message}` : this.#resources.hint;
  }

  /** @param isRpcRefused true if JSON-RPC is refused where clients of most nodes send it */
  #routes(isRpcRefused: boolean): Route[] {
    const routeOf = (form: CallForm): Pick<Route, "headersFor" | "handle" | "methodsAt"> => ({
      headersFor: this.#headersFor,
      handle: async (visit) =>
        await this.#call(visit, form, form.start, await this.gateway?.table()),
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
      ...isRpcRefused
        ? [{ path: "/", methods: ["POST"], ...routeOf(rpcCalls), allowsSlash: true }]
        : [],
      ...this.gateway?.hasClients
        ? [{ path: SELF_PATH, methods: ["GET", "HEAD"], ...routeOf(selfCalls) }]
        : [],
    ];
  }

  async #callAtRoot(visit: Visit): Promise<Response> {
    const { request, path } = visit;
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
    return await this.#call(visit, isRpc ? rpcCalls : pathCalls, "", table);
  }

  async #methodsAtRoot(path: string): Promise<readonly string[] | undefined> {
    const table = await this.gateway?.table();
    return methodsAtRoot(path, table, await isRpcPath(path, table));
  }

  /** @param start the part of the path that the node does not get */
  async #call(
    visit: Visit,
    form: CallForm,
    start: string,
    table: CallTable | undefined,
  ): Promise<Response> {
    const { request } = visit;
    const content = { isRead: false };
    const response = await this.#callNode(visit, form, start, table, content);
    // The connection closes if the content was not read to its end (RFC 9112, section 9.3).
    if (!content.isRead && namesContent(request)) response.headers.set("connection", "close");
    // Clients of nodes know no problem details, and some read only `application/json`.
    useJsonType(response, request.headers.get("accept") ?? "");
    return response;
  }

  async #callNode(
    { request, path, target, common }: Visit,
    form: CallForm,
    start: string,
    table: CallTable | undefined,
    content: { isRead: boolean },
  ): Promise<Response> {
    const { gateway } = this;
    const refuse = (refusal: Refusal) => this.#refuseUnread(form, refusal, { request, content });
    if (!gateway || !table?.isKnown) {
      return await refuse(NOT_FORWARDED[gateway ? "unknown" : "off"]);
    }
    const query = target!.search.slice(1);
    const caller = await gateway.identify(request, query);
    const lease = gateway.lease(request, caller);
    const { quota } = lease;
    try {
      const isOver = quota?.refusal;
      const call = {
        request,
        path: path.slice(start.length),
        query,
        content,
        common,
        table,
        caller,
        lease,
        follower: this.#sockets,
      };
      const response = isOver ? await refuse(isOver) : await form.respond(gateway, call);
      return withHeaders(response, quota);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      quota?.charge(error);
      return withHeaders(await form.toResponse(error), quota);
    } finally {
      lease.dispose();
    }
  }

  /** Refuses a call that has no lease. Its content is read only to find out its id. */
  async #refuseUnread(
    form: CallForm,
    refusal: Refusal,
    call: Pick<UnreadCall, "request" | "content">,
  ): Promise<Response> {
    const lease = { requestRoom: new Room(this.#unread, "body") };
    try {
      return await form.toResponse(refusal, { ...call, lease });
    } finally {
      lease.requestRoom.dispose();
    }
  }
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
