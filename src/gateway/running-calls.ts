/**
 * The calls of a lease at the node. Most nodes do not notice that a client has disconnected, so the
 * calls run until the node has finished.
 *
 * @module
 */
import { type Signal, withSignal } from "../abort-signal.ts";
import { byteLengthOf, type Bytes, encodeText } from "../bytes.ts";
import type { HeldBytes } from "../http/response.ts";
import { isBusy } from "../node/failures.ts";
import type { RequestContent } from "../node/http1.ts";
import { RPC_HEADERS } from "../node/own-headers.ts";
import type { TextResponse } from "../node/request.ts";
import type { CallOutcome, RpcRequest, RpcTransport } from "../node/rpc.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { decodeParts } from "../utf8.ts";
import { ReservedBytes, SMALL_BYTES } from "./budget.ts";
import type { Deadline } from "./deadline.ts";
import type { Capacity } from "./capacity.ts";
import type { SentParams } from "./params.ts";
import type { PolicyEntry } from "./policy.ts";
import { beforehand, FULL, FULL_AFTERWARDS, type Refusal, STOPPING_AFTERWARDS } from "./refusal.ts";
import { ANONYMOUS, type CallingClient, type Slot } from "./slots.ts";
import {
  sendUpstream,
  sendVerified,
  type UpstreamAuth,
  type UpstreamResponse,
} from "./upstream.ts";

/** A call of a method that may be sent. */
export interface ReadyCall extends SentParams {
  readonly entry: PolicyEntry;
  /** The method to call, if it is not the one of `entry`: it ends a subscription. */
  readonly unsubscribe?: string | undefined;
  /** The id that the client has chosen, as JSON text. */
  readonly id?: string | undefined;
}

/** The lease that the calls belong to. */
interface Owner {
  readonly client: CallingClient;
  /** The calls free them. */
  readonly requestBytes: ReservedBytes;
}

/** Whoever starts them must call `end` or `deliver`. They also end when nobody waits for them. */
export class RunningCalls {
  readonly #capacity: Capacity;
  readonly #owner: Owner;
  readonly #deadline: Deadline;
  readonly #slot: Slot;
  readonly #responseBytes: ReservedBytes;
  /** The number of bytes that further responses may have. */
  #bytesLeft: number;
  /** The request that the node may still be busy with. */
  #pending: Promise<UpstreamResponse> | undefined;
  #hasEnded = false;
  constructor(capacity: Capacity, owner: Owner, deadline: Deadline, slot: Slot) {
    this.#capacity = capacity;
    this.#owner = owner;
    this.#deadline = deadline;
    this.#slot = slot;
    this.#responseBytes = new ReservedBytes(
      capacity.budget,
      this.#isClient ? "named client" : "response",
    );
    this.#bytesLeft = capacity.limits.limit;
    capacity.start(owner, this);
    deadline.clientSignal.addEventListener("abort", () => void this.end());
  }

  get #isClient(): boolean {
    return this.#owner.client !== ANONYMOUS;
  }

  get isAbandoned(): boolean {
    return this.#deadline.clientSignal.aborted;
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
    const auth = { isAnonymous: this.#capacity.isAnonymous(operation) };
    const path = await node.rpcPath();
    const url = node.resolve(path);
    this.#setPurpose(operation);
    const post = async (text: string): Promise<TextResponse> => {
      const request = { method: "POST", url, headers: RPC_HEADERS, body: encodeText(text) };
      // The text of a response counts besides its bytes.
      const most = Math.min(limits.limit, this.#responseBytes.most / 2);
      const upstream = await this.send(request, operation, auth, most, most);
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
   *
   * @param limit the number of bytes that the responses may have
   */
  async send(
    request: RequestContent,
    operation: NodeOperation,
    auth: UpstreamAuth,
    collect: number,
    limit: number = this.#capacity.limits.limit,
  ): Promise<UpstreamResponse> {
    const { clientSignal, nodeSignal: signal } = this.#deadline;
    if (clientSignal.aborted) throw beforehand(clientSignal.reason);
    const isRead = operation.access === "read";
    this.#setPurpose(operation);
    if (!this.#responseBytes.set(SMALL_BYTES)) throw FULL;
    const { node, slots, verify } = this.#capacity;
    const upstreamLimits = {
      bytesLeft: Math.min(this.#bytesLeft, limit),
      limit,
      collect,
      reserved: this.#responseBytes,
      stop: clientSignal,
    };
    const { method, url, target, headers, body, closesConnection } = request;
    const sendOnce = (isStale?: () => boolean) =>
      sendUpstream(
        node,
        {
          method,
          url,
          target,
          headers,
          body,
          closesConnection,
          signal,
          isSentOnce: !isRead,
          isStale,
        },
        auth,
        upstreamLimits,
      );
    const sending = this.#pending = verify
      ? sendVerified(node, verify, { isRead, signal }, sendOnce)
      : sendOnce();
    let response: UpstreamResponse | undefined;
    try {
      response = await withSignal(sending, clientSignal);
    } finally {
      // The node has finished if its response is complete or the call failed. The node may still be
      // busy if the response is a stream or the call was aborted.
      const hasNodeEnded = response ? response.isWhole : !clientSignal.aborted;
      if (hasNodeEnded) this.#pending = undefined;
    }
    if (!choosesStatus(operation)) slots.noteBusy(saysBusy(response));
    this.#bytesLeft -= response.size;
    if (response.isWhole) this.#responseBytes.keep(response.received);
    return response;
  }

  #setPurpose({ access }: NodeOperation): void {
    if (this.#isClient) this.#responseBytes.purpose = access === "read" ? "named client" : "write";
  }

  /**
   * Sets the number of bytes that count against the budget, besides those of the responses.
   *
   * @throws {Refusal} if the budget has no room
   */
  reserve(bytes: number): void {
    if (!this.#responseBytes.set(bytes)) throw FULL_AFTERWARDS;
  }

  /** Gives the slot back before the response has come. */
  freeSlot(): void {
    this.#slot.dispose();
  }

  /** Aborted when nobody waits for the response any more, or when its time is over. */
  get stop(): Signal {
    return this.#deadline.clientSignal;
  }

  /** Ends the calls, and the response that is being sent, if it is a stream. */
  abort(reason: Refusal = STOPPING_AFTERWARDS): void {
    this.#deadline.end(reason);
  }

  /**
   * Ends the calls, whose responses are complete. The time limit, and the bytes of the responses,
   * go to the response to the client. Returns `undefined` if the calls had ended already.
   */
  deliver(parts: readonly Bytes[]): HeldBytes | undefined {
    if (this.#hasEnded) return undefined;
    this.#hasEnded = true;
    this.#owner.requestBytes.dispose();
    this.#responseBytes.cover(byteLengthOf(parts));
    this.#leave();
    return holdUntilSent(parts, this.#responseBytes, this.#deadline);
  }

  /** Ends the calls, and frees all that they hold once the node has finished. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const response = this.#pending && await this.#pending.catch(() => undefined);
    this.#owner.requestBytes.dispose();
    this.#responseBytes.dispose();
    if (response) await response.drain();
    this.#deadline.dispose();
    this.#leave();
  }

  #leave(): void {
    this.#slot.dispose();
    this.#capacity.finish(this);
  }
}

const requestOf = ({ entry, params }: ReadyCall): RpcRequest => ({
  method: entry.operation.name,
  params,
});

/**
 * Holds the bytes of a complete response until they are sent, or dropped because nobody waits for
 * them. After the time limit of its calls, a client may read on unless others need the memory.
 *
 * @param deadline the time limit; without one, others may take the memory at once
 */
export function holdUntilSent(
  parts: readonly Bytes[],
  bytes: ReservedBytes,
  deadline?: Deadline,
): HeldBytes {
  const signal = deadline?.clientSignal;
  const drop = () => held.drop(signal?.reason ?? FULL);
  const release = () => {
    bytes.withdraw(drop);
    bytes.dispose();
    deadline?.dispose();
  };
  const held: HeldBytes = { parts, release, drop: release };
  if (!deadline) bytes.offer(drop);
  signal?.addEventListener("abort", () => deadline?.isOver ? bytes.offer(drop) : drop());
  return held;
}

/** The client of such an operation could make the node look busy. */
const choosesStatus = ({ parameters = [] }: NodeOperation): boolean =>
  parameters.some(({ name }) => /status|^duration_secs$/i.test(name));

/** Bitcoin Core before 22 says with 500 that its queue is full. */
function saysBusy({ status, parts: [part], size }: UpstreamResponse): boolean {
  if (status !== 500 || !part || size > 100) return isBusy(status);
  return new TextDecoder().decode(part).startsWith("Work queue depth exceeded");
}
