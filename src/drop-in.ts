/**
 * The drop-in address: calls at the node's own paths, as clients of the node send them.
 *
 * @module
 */
import type { CallHandler } from "./gateway/call-handler.ts";
import { pathCalls } from "./gateway/call-path.ts";
import { rpcAtUnknownPath, rpcCalls } from "./gateway/call-rpc.ts";
import type { CallTable, Gateway } from "./gateway/gateway.ts";
import { CALL_METHODS } from "./gateway/policy.ts";
import { NO_WEBSOCKET } from "./gateway/refusal.ts";
import { isWalletPath } from "./gateway/wallets.ts";
import type { CommonHeadersFor } from "./http/common-headers.ts";
import { isWellKnown } from "./http/own-paths.ts";
import { notAllowed, notFound, problemResponse } from "./http/problem.ts";
import { isWebSocket, prefersHtml } from "./http/request.ts";
import type { Route, RoutedRequest } from "./http/routes.ts";
import type { Resources } from "./resources/resources.ts";

export class DropIn {
  /** The route of all paths that nothing else serves. */
  readonly route: Route;
  readonly #gateway: Gateway;
  readonly #handler: CallHandler;
  readonly #resources: Resources;
  constructor(
    gateway: Gateway,
    handler: CallHandler,
    resources: Resources,
    headersFor: CommonHeadersFor,
  ) {
    this.#gateway = gateway;
    this.#handler = handler;
    this.#resources = resources;
    this.route = {
      path: "/{path}",
      methods: CALL_METHODS,
      headersFor,
      handle: (routed) => this.#respond(routed),
      methodsAt: async (path) => (await this.#placeAt(path)).methods,
    };
  }

  /**
   * Tells whether clients open WebSocket connections at a path.
   *
   * @param added the path that clients of the node's kind add to each address, or an empty text
   */
  async takesSockets(path: string, added: string): Promise<boolean> {
    const { table, takesRpc, isOfWallet } = await this.#placeAt(path);
    return (takesRpc && !isOfWallet) || (path === added && table.methods.size > 0);
  }

  /** Tells whether the node responds to a request for one of our paths, such as `GET /v1`. */
  async isForNode({ request, path }: RoutedRequest): Promise<boolean> {
    if (prefersHtml(request)) return false;
    return (await this.#placeAt(path)).methods?.includes(request.method) ?? false;
  }

  async #respond(routed: RoutedRequest): Promise<Response> {
    const { request, path } = routed;
    if (isWellKnown(path) && !(await this.#resources.description()).current.isBuiltIn) {
      return notFound(path, this.#resources.hint);
    }
    if (isWebSocket(request)) return problemResponse(400, NO_WEBSOCKET);
    const { table, takesRpc, methods } = await this.#placeAt(path);
    if (takesRpc || leadsToExplorer(path)) {
      const allowed = new Set([...leadsToExplorer(path) ? ["GET", "HEAD"] : [], ...methods ?? []]);
      if (!allowed.has(request.method)) return notAllowed([...allowed], this.#resources.hint);
    }
    const isElsewhere = methods === undefined && table.methods.size > 0;
    const posted = takesRpc ? rpcCalls : isElsewhere ? rpcAtUnknownPath : pathCalls;
    const protocol = request.method === "POST" ? posted : pathCalls;
    return await this.#handler.handle(routed, protocol, table, path);
  }

  async #placeAt(path: string): Promise<NodePlace> {
    const table = await this.#gateway.table();
    const isWithoutRpc = table.isKnown && table.methods.size === 0;
    const { node } = this.#gateway;
    const isOfWallet = isWalletPath(path, (await node.definition())?.wallets);
    const takesRpc = !isWithoutRpc && (isOfWallet || path === (await node.rpcPath() || "/"));
    const described = pathCalls.methodsAt(table, path) ?? (leadsToExplorer(path) ? [] : undefined);
    const methods = takesRpc ? [...new Set(described).add("POST")] : described;
    return { table, takesRpc, isOfWallet, methods };
  }
}

/** What the node takes at one of its own paths. */
interface NodePlace {
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
