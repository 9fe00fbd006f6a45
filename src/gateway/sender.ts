/**
 * Sends calls to the node: JSON-RPC alone and in batches, and requests to the node's paths.
 *
 * @module
 */
import { encodeText } from "../bytes.ts";
import { isBusy, saysBusy } from "../node/failures.ts";
import type { RequestContent } from "../node/http1.ts";
import { RPC_HEADERS } from "../node/own-headers.ts";
import type { TextResponse } from "../node/request.ts";
import type { CallOutcome, RpcRequest, RpcTransport } from "../node/rpc.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { decodeParts } from "../utf8.ts";
import { SMALL_BYTES } from "./budget.ts";
import type { Capacity } from "./capacity.ts";
import type { Lease } from "./lease.ts";
import type { SentParams } from "./params.ts";
import type { PolicyEntry } from "./policy.ts";
import { FULL, toUncertain } from "./refusal.ts";
import { ANONYMOUS } from "./slots.ts";
import { sendVerified } from "./send-verified.ts";
import { sendUpstream, type UpstreamResponse } from "./upstream.ts";

/** A call of a method that may be sent. */
export interface ReadyCall extends SentParams {
  readonly entry: PolicyEntry;
  /** The method to call, if it is not the one of `entry`: it ends a subscription. */
  readonly unsubscribe?: string | undefined;
  /** The id that the client has chosen, as JSON text. */
  readonly id?: string | undefined;
}

interface SendOptions {
  /** The number of bytes after which the rest is left to whoever sends the response. */
  readonly collect: number;
  /** The number of bytes that the responses may have. @default the setting `forward.limit` */
  readonly limit?: number;
  /** True if the request has credentials of the client. @default false */
  readonly hasCredentials?: boolean;
}

/** Sends the calls of a lease that has its slot. */
export class Sender {
  readonly #capacity: Capacity;
  readonly #lease: Lease;
  /** The number of bytes that further responses may have. */
  #bytesLeft: number;
  readonly #rpcPath: string | undefined;

  /** @param rpcPath the path of JSON-RPC calls, if it is not that of the node's endpoint */
  constructor(capacity: Capacity, lease: Lease, rpcPath?: string) {
    this.#rpcPath = rpcPath;
    this.#capacity = capacity;
    this.#lease = lease;
    this.#bytesLeft = capacity.limits.limit;
  }

  /**
   * Calls one method, or several that read in batches. Never rejects: the outcome of a call that
   * failed has an `error`.
   */
  async call(calls: readonly ReadyCall[]): Promise<CallOutcome[]> {
    const transport = await this.#transportFor(calls);
    const outcomes = await this.#capacity.node.endpoint.call(calls.map(requestOf), transport);
    this.reserve(0);
    return outcomes;
  }

  /**
   * Sends a plain batch as it came, unless it is too long. Resolves to the node's response to the
   * whole batch, or else to outcomes, as `call` does.
   */
  async callVerbatim(
    text: string,
    calls: readonly ReadyCall[],
  ): Promise<TextResponse | CallOutcome[]> {
    const transport = await this.#transportFor(calls);
    const outcome = await this.#capacity.node.endpoint.callVerbatim(
      text,
      calls.map(requestOf),
      transport,
    );
    this.reserve(0);
    return outcome;
  }

  async #transportFor([first]: readonly ReadyCall[]): Promise<RpcTransport> {
    const { node, limits } = this.#capacity;
    const { operation } = first!.entry;
    const path = this.#rpcPath ?? await node.rpcPath();
    const url = node.resolve(path);
    this.#setPurpose(operation);
    const post = async (text: string): Promise<TextResponse> => {
      const request = { method: "POST", url, headers: RPC_HEADERS, body: encodeText(text) };
      // The text of a response counts besides its bytes.
      const most = Math.min(limits.limit, this.#lease.responseBytes.most / 2);
      const upstream = await this.send(request, operation, { collect: most, limit: most });
      const { status, headers, size, parts } = upstream;
      // The text needs about as much memory as its bytes, which are held already.
      this.reserve(size);
      return { status, headers, size, text: await decodeParts(parts, size) ?? "" };
    };
    return { path, post, isForwarded: true };
  }

  /**
   * Sends a request in the slot, after the one before has its response. Resolves when the response
   * has ended or is longer than `collect` bytes.
   */
  async send(
    request: RequestContent,
    operation: NodeOperation,
    { collect, limit = this.#capacity.limits.limit, hasCredentials = false }: SendOptions,
  ): Promise<UpstreamResponse> {
    const { deadline, responseBytes } = this.#lease;
    const { clientSignal, nodeSignal: signal } = deadline;
    const isRead = operation.access === "read";
    this.#setPurpose(operation);
    if (!responseBytes.set(SMALL_BYTES)) throw FULL;
    // Making room may have ended the client of this call.
    if (clientSignal.aborted) throw clientSignal.reason;
    const { node, slots, verify } = this.#capacity;
    const isAnonymous = hasCredentials || this.#capacity.isAnonymous(operation);
    const limits = {
      bytesLeft: Math.min(this.#bytesLeft, limit),
      limit,
      collect,
      reserved: responseBytes,
      stop: clientSignal,
    };
    const sendOnce = (isStale?: () => boolean) =>
      sendUpstream(
        node,
        { ...request, signal, isSentOnce: !isRead, isStale },
        { isAnonymous, hasCredentials },
        limits,
      );
    const sending = verify ? sendVerified(node, verify, { isRead, signal }, sendOnce) : sendOnce();
    const response = await this.#lease.waitFor(sending);
    if (!choosesStatus(operation)) slots.noteBusy(isOfBusyNode(response));
    this.#bytesLeft -= response.size;
    if (response.isWhole) responseBytes.keep(response.received);
    return response;
  }

  #setPurpose({ access }: NodeOperation): void {
    const { client, responseBytes } = this.#lease;
    if (client !== ANONYMOUS) responseBytes.purpose = access === "read" ? "named client" : "write";
  }

  /**
   * Sets the number of bytes that count against the budget, besides those of the responses.
   *
   * @throws {Refusal} if the budget has no room
   */
  reserve(bytes: number): void {
    if (!this.#lease.responseBytes.set(bytes)) throw toUncertain(FULL);
  }
}

const requestOf = ({ entry, params }: ReadyCall): RpcRequest => ({
  method: entry.operation.name,
  params,
});

/** The client of such an operation could make the node look busy. */
const choosesStatus = ({ parameters = [] }: NodeOperation): boolean =>
  parameters.some(({ name }) => /status|^duration_secs$/i.test(name));

function isOfBusyNode({ status, parts: [part], size }: UpstreamResponse): boolean {
  if (status !== 500 || !part || size > 100) return isBusy(status);
  return saysBusy(status, new TextDecoder().decode(part));
}
