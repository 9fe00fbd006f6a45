/**
 * The routes that call the node: below `/v1/node` and `/v1/rpc`, and at the node's own paths.
 *
 * @module
 */
import type { CallProtocol } from "./gateway/call.ts";
import { CallHandler } from "./gateway/call-handler.ts";
import { pathCalls } from "./gateway/call-path.ts";
import { methodCalls } from "./gateway/call-method.ts";
import { rpcAtUnknownPath, rpcCalls } from "./gateway/call-rpc.ts";
import { selfCalls } from "./gateway/call-self.ts";
import { type CallTable, Gateway } from "./gateway/gateway.ts";
import { CALL_METHODS } from "./gateway/policy.ts";
import { NO_WEBSOCKET, NOT_FORWARDED } from "./gateway/refusal.ts";
import { isWalletPath } from "./gateway/wallets.ts";
import { isWellKnown, SELF_PATH } from "./http/own-paths.ts";
import { isWebSocket, prefersHtml } from "./http/request.ts";
import { type CommonHeadersFor, createCommonHeaders } from "./http/common-headers.ts";
import { notAllowed, notFound, problem } from "./http/problem.ts";
import type { Route, RoutedRequest } from "./http/routes.ts";
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
  /** True if the settings let nobody call the node. */
  readonly #isOff: boolean;
  readonly #sockets: Lazy<Sockets>;
  readonly #handler: CallHandler;
  /** For calls, the setting `forward.origins` applies instead of `cors`. */
  readonly #headersFor: CommonHeadersFor;

  constructor(options: ResolvedOptions, node: Node, resources: Resources) {
    const { node: { url, kind }, description = "none", forward, meters } = options;
    const { log, logCalls, isStandalone } = options;
    this.#resources = resources;
    this.gateway = forward && url !== undefined
      ? new Gateway({ forward, node, resources, meters, log, logCalls, isStandalone })
      : undefined;
    this.#isOff = !forward && url !== undefined;
    this.#sockets = lazy(async () => {
      const { Sockets } = await import("./sockets/sockets.ts");
      return new Sockets({ gateway: this.gateway!, counts: meters });
    });
    this.#handler = new CallHandler(this.gateway);
    // Clients of nodes read headers such as `X-Aptos-Cursor` and `Retry-After`.
    this.#headersFor = createCommonHeaders(forward?.origins ?? [], "same-origin", "*");
    const hasOperations = url || kind || description !== "none";
    this.routes = hasOperations ? this.#table(this.#isOff && isStandalone) : [];
    this.root = this.gateway && forward?.at_root
      ? {
        path: "/{path}",
        methods: CALL_METHODS,
        headersFor: this.#headersFor,
        handle: (routed) => this.#callAtRoot(routed),
        methodsAt: async (path) => (await this.#rootAt(path)).methods,
      }
      : undefined;
  }

  /** The connections of clients; `undefined` before the first handshake. */
  get sockets(): Sockets | undefined {
    return this.#sockets.current;
  }

  get load(): GatewayLoad {
    const { gateway, sockets } = this;
    return {
      waitingCalls: gateway?.queuedCalls,
      sockets: gateway && (sockets?.size ?? 0),
      subscriptions: gateway && (sockets?.subscriptions ?? 0),
    };
  }

  /** What a client may have to change whose path or method is not served. */
  get hint(): string {
    return this.#isOff ? NOT_FORWARDED.off.message : this.#resources.hint;
  }

  /** @param refusesRpc true if JSON-RPC is refused where clients of most nodes send it */
  #table(refusesRpc: boolean): Route[] {
    const rpc = this.#routeOf(rpcCalls, "/v1/rpc", ["POST"]);
    return [
      this.#routeOf(pathCalls, "/v1/node/{path}", CALL_METHODS),
      // The npm package `bitcoin-core` requests `/v1/rpc/`.
      { ...rpc, allowsSlash: true },
      this.#routeOf(methodCalls(this.#sockets), "/v1/rpc/{method}", ["GET", "HEAD", "POST"]),
      ...refusesRpc ? [{ ...rpc, path: "/", allowsSlash: true }] : [],
      ...this.gateway?.hasClients ? [this.#routeOf(selfCalls, SELF_PATH, ["GET", "HEAD"])] : [],
    ];
  }

  #routeOf(protocol: CallProtocol, path: string, methods: readonly string[]): Route {
    return {
      path,
      methods,
      headersFor: this.#headersFor,
      handle: async (routed) =>
        await this.#handler.handle(routed, protocol, await this.gateway?.table()),
      methodsAt: async (path) => {
        const table = await this.gateway?.table();
        return table && protocol.methodsAt(table, path.slice(protocol.prefix.length));
      },
    };
  }

  /** Responds to a WebSocket handshake, or returns `undefined` if its path takes none. */
  async handshake({ request, path, target }: RoutedRequest): Promise<Response | undefined> {
    const { upgrade } = request;
    if (!upgrade || !this.gateway || !await this.#takesSockets(path)) return undefined;
    return await (await this.#sockets.get()).respond(request, target.search.slice(1), upgrade);
  }

  async #takesSockets(path: string): Promise<boolean> {
    if (path === "/v1/rpc") return true;
    // Until the operations are known, the kind may not be, either.
    await this.gateway!.table();
    // Clients of CometBFT add this path to each address.
    const { path: added = "" } = (await this.gateway!.node.definition())?.websocket ?? {};
    if (path === `/v1/rpc${added}`) return true;
    if (!this.root) return false;
    const { table, takesRpc, isOfWallet } = await this.#rootAt(path);
    return (takesRpc && !isOfWallet) || (path === added && table.methods.size > 0);
  }

  /** Tells whether the node responds to a request for one of our paths, such as `GET /v1`. */
  async isForNode({ request, path }: RoutedRequest): Promise<boolean> {
    if (!this.root || prefersHtml(request)) return false;
    return (await this.#rootAt(path)).methods?.includes(request.method) ?? false;
  }

  async #callAtRoot(routed: RoutedRequest): Promise<Response> {
    const { request, path } = routed;
    if (isWellKnown(path) && !(await this.#resources.description()).current.isBuiltIn) {
      return notFound(this.#resources.hint);
    }
    if (isWebSocket(request)) return problem(400, NO_WEBSOCKET);
    const { table, takesRpc, methods } = await this.#rootAt(path);
    if (takesRpc || leadsToExplorer(path)) {
      const allowed = new Set([...leadsToExplorer(path) ? ["GET", "HEAD"] : [], ...methods ?? []]);
      if (!allowed.has(request.method)) return notAllowed([...allowed], this.#resources.hint);
    }
    const isElsewhere = methods === undefined && table.methods.size > 0;
    const posted = takesRpc ? rpcCalls : isElsewhere ? rpcAtUnknownPath : pathCalls;
    const protocol = request.method === "POST" ? posted : pathCalls;
    return await this.#handler.handle(routed, protocol, table, "");
  }

  async #rootAt(path: string): Promise<RootPlace> {
    const table = await this.gateway!.table();
    const isWithoutRpc = table.isKnown && table.methods.size === 0;
    const { node } = this.gateway!;
    const isOfWallet = isWalletPath(path, (await node.definition())?.wallets);
    const takesRpc = !isWithoutRpc && (isOfWallet || path === (await node.rpcPath() || "/"));
    const described = pathCalls.methodsAt(table, path) ?? (leadsToExplorer(path) ? [] : undefined);
    const methods = takesRpc ? [...new Set(described).add("POST")] : described;
    return { table, takesRpc, isOfWallet, methods };
  }
}

/** What the node takes at one of its own paths. */
interface RootPlace {
  readonly table: CallTable;
  /** True if the node takes JSON-RPC calls there. */
  readonly takesRpc: boolean;
  /** True if the calls there are for one wallet. */
  readonly isOfWallet: boolean;
  /** `undefined` if neither the node nor the service has the path. */
  readonly methods: readonly string[] | undefined;
}

/** These paths redirect browsers to the explorer. */
const leadsToExplorer = (path: string): boolean => /^\/(?:v1\/?)?$/.test(path);
