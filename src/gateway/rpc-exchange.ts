/**
 * Sends the calls of one request to the node's methods, one after the other or in batches.
 *
 * @module
 */
import { joinBytes } from "../bytes.ts";
import type { Resource } from "../lazy.ts";
import { failureOfStatus, notJson, SourceError } from "../node/failures.ts";
import { CODES, RPC_HEADERS, type RpcFailure, type RpcOutcome } from "../node/json-rpc.ts";
import { isBusy, type Node } from "../node/node.ts";
import type { TextResponse } from "../node/request.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { type Call, decodeUtf8, DEPTH_MAX, inTurn } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import type { Lease } from "./lease.ts";
import type { SentParams } from "./params.ts";
import type { PolicyEntry } from "./policy.ts";
import { busyNode, Refusal, refusalOf } from "./response.ts";
import type { UpstreamResponse, UpstreamUse } from "./upstream.ts";

/** A call that may be sent. */
export interface ReadyCall extends SentParams {
  readonly entry: PolicyEntry;
  /** The method to call, if it is not the one of `entry`: it ends a subscription. */
  readonly unsubscribe?: string | undefined;
  /** The id that the client has chosen, as JSON text. */
  readonly id?: string | undefined;
}

/** Sends calls that need the connection of a client. */
export interface Subscriber {
  subscribe(call: ReadyCall): Promise<RpcOutcome>;
}

const encoder = new TextEncoder();

export class RpcExchange {
  /** The last response of the node; `undefined` if the node sent none that may be read. */
  upstream: UpstreamResponse | undefined;
  readonly #gateway: Gateway;
  readonly #node: Node;
  readonly #rpcPath: Resource<string>;
  readonly #lease: Lease;
  /** The request before: a lease sends one at a time. */
  #last: Promise<unknown> = Promise.resolve();
  /** The failures of calls to which the node sent no response that may be read. */
  readonly #unread = new WeakSet<object>();

  constructor(gateway: Gateway, { table, lease }: Pick<Call, "table" | "lease">) {
    this.#gateway = gateway;
    this.#node = gateway.node;
    this.#rpcPath = table.rpcPath;
    this.#lease = lease;
  }

  /**
   * Several calls must all be reads that are sent with the secret of the node, or all without. The
   * outcome of a call that failed has an `error`.
   */
  async send(calls: readonly ReadyCall[]): Promise<RpcOutcome[]> {
    const [{ entry: { operation } }] = calls as [ReadyCall];
    const path = await this.#rpcPath.get();
    const url = this.#node.resolve(path);
    const use = { isAnonymous: await this.#gateway.isAnonymous(operation) };
    const post = (body: string) => {
      const response = this.#last.then(() => this.#post(body, url, operation, use));
      this.#last = response.catch(() => {});
      return response;
    };
    const requests = calls.map(({ entry, params = null }) => ({
      jsonrpc: entry.operation.path,
      params,
    }));
    const outcomes = await this.#node.rpc(requests, { path, post, depthMax: DEPTH_MAX });
    if (this.upstream) this.#lease.hold(0);
    return outcomes;
  }

  async #post(
    body: string,
    url: URL,
    operation: NodeOperation,
    use: UpstreamUse,
  ): Promise<TextResponse> {
    this.upstream = undefined;
    const request = { method: "POST", url, headers: RPC_HEADERS, body: encoder.encode(body) };
    try {
      this.upstream = await this.#lease.send(request, operation, use, this.#gateway.limit);
    } catch (error) {
      if (error instanceof SourceError) this.#unread.add(error);
      throw error;
    }
    const { status, parts, size, isWhole } = this.upstream;
    if (!isWhole) throw failureOfStatus(status);
    // The text needs about as much memory as its bytes, which are held already.
    this.#lease.hold(size);
    const bytes = await inTurn(size, () => parts.length === 1 ? parts[0]! : joinBytes(parts));
    const text = await inTurn(size, () => decodeUtf8(bytes));
    if (text === undefined) throw notJson("");
    return { status, text };
  }

  /** Tells whether a call failed because the node's response to it is not JSON-RPC. */
  isOfNode({ error, reason = error }: RpcFailure): boolean {
    return reason instanceof SourceError && !this.#unread.has(reason);
  }

  /** Returns the reason why a call has neither a result nor an error of the node. */
  refusalOf(failure: RpcFailure): Refusal {
    const { error, reason = error } = failure;
    if (!this.upstream || !this.isOfNode(failure)) return refusalOf(reason, true);
    const { status, headers } = this.upstream;
    if (isBusy(status)) return busyNode(status, headers.get("retry-after"));
    return new Refusal(
      502,
      CODES.notReached,
      status < 400
        ? "The node's response is not JSON-RPC"
        : `The node responded with ${status}, and without JSON-RPC`,
    );
  }
}
