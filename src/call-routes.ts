/**
 * The routes that call the node below `/v1/node` and `/v1/rpc`.
 *
 * @module
 */
import { DropIn } from "./drop-in.ts";
import type { CallProtocol } from "./gateway/call.ts";
import { CallHandler } from "./gateway/call-handler.ts";
import { pathCalls } from "./gateway/call-path.ts";
import { methodCalls } from "./gateway/call-method.ts";
import { rpcCalls } from "./gateway/call-rpc.ts";
import { selfCalls } from "./gateway/call-self.ts";
import { Gateway } from "./gateway/gateway.ts";
import { CALL_METHODS } from "./gateway/policy.ts";
import { NOT_FORWARDED } from "./gateway/refusal.ts";
import { SELF_PATH } from "./http/own-paths.ts";
import { type CommonHeadersFor, createCommonHeaders } from "./http/common-headers.ts";
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
  /** `undefined` if the node's own paths are closed. */
  readonly dropIn: DropIn | undefined;
  readonly #resources: Resources;
  /** True if the settings let nobody call the node. */
  readonly #isOff: boolean;
  readonly #sockets: Lazy<Sockets>;
  #hasEnded = false;
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
      const sockets = new Sockets({ gateway: this.gateway!, counts: meters });
      if (this.#hasEnded) void sockets.end();
      return sockets;
    });
    this.#handler = new CallHandler(this.gateway);
    // Clients of nodes read headers such as `X-Aptos-Cursor` and `Retry-After`.
    this.#headersFor = createCommonHeaders(forward?.origins ?? [], "same-origin", "*");
    const hasOperations = url || kind || description !== "none";
    this.routes = hasOperations ? this.#table(this.#isOff && isStandalone) : [];
    this.dropIn = this.gateway && forward?.at_root
      ? new DropIn(this.gateway, this.#handler, resources, this.#headersFor)
      : undefined;
  }

  /** The connections of clients; `undefined` before the first handshake. */
  get sockets(): Sockets | undefined {
    return this.#sockets.current;
  }

  /** Ends the connections of clients, and takes no more. */
  async endSockets(): Promise<void> {
    this.#hasEnded = true;
    await this.sockets?.end();
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
    const pathIn = (whole: string) => whole.slice(protocol.prefix.length);
    return {
      path,
      methods,
      headersFor: this.#headersFor,
      handle: async (routed) => {
        const table = await this.gateway?.table();
        return await this.#handler.handle(routed, protocol, table, pathIn(routed.path));
      },
      methodsAt: async (whole) => {
        const table = await this.gateway?.table();
        return table && protocol.methodsAt(table, pathIn(whole));
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
    return path === `/v1/rpc${added}` || await this.dropIn?.takesSockets(path, added) === true;
  }
}
