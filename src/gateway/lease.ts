/**
 * The lease of a call: a slot at the node, a time limit and a byte budget. Most nodes do not notice
 * that a client has disconnected, so the slot is held until the node has finished.
 *
 * @module
 */
import { type Bytes, joinBytes } from "../bytes.ts";
import type { HeldBytes } from "../http/response.ts";
import { isBusy } from "../node/failures.ts";
import type { RequestContent } from "../node/http1.ts";
import type { Node } from "../node/node.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { type Signal, withSignal } from "../with-timeout.ts";
import { Budget, ReservedBytes, SMALL } from "./budget.ts";
import { Deadline } from "./deadline.ts";
import type { ResolvedForward } from "./policy.ts";
import type { Quota } from "./quota.ts";
import { FULL, FULL_AFTERWARDS, STOPPING_AFTERWARDS } from "./refusal.ts";
import { type Sharer, type Slot, Slots } from "./slots.ts";
import {
  sendUpstream,
  sendVerified,
  type UpstreamAuth,
  type UpstreamResponse,
  type VerifyNode,
} from "./upstream.ts";

const CLOSING_GRACE_MS = 4000;

/** All callers without a token. */
export const EVERYBODY: Sharer = { name: "anonymous" };

/** The number of slots of long polls; one client has at most half of them. */
const LONG_POLLS_MAX = 32;
/** Nodes let a call wait for a minute. */
const LONG_POLL_MS = 65_000;

/** All leases, and what they share. */
export class Leases {
  readonly node: Pick<Node, "send" | "losses">;
  readonly limits: Pick<ResolvedForward, "timeout" | "limit">;
  readonly verify: VerifyNode | undefined;
  readonly slots: Slots = new Slots(1);
  /** The slots of calls that wait for an event at the node. */
  readonly longPollSlots: Slots = new Slots(LONG_POLLS_MAX, true);
  readonly budget: Budget = new Budget();
  readonly #open = new Set<Lease>();
  #closing: ReturnType<typeof setTimeout> | undefined;
  #onIdle: (() => void) | undefined;
  /** @param verify is called before each request; `undefined` if any node may be at the address */
  constructor(
    node: Pick<Node, "send" | "losses">,
    limits: Pick<ResolvedForward, "timeout" | "limit">,
    verify?: VerifyNode,
  ) {
    this.node = node;
    this.limits = limits;
    this.verify = verify;
  }

  add(lease: Lease): void {
    this.#open.add(lease);
  }

  remove(lease: Lease): void {
    this.#open.delete(lease);
    if (this.#open.size > 0) return;
    clearTimeout(this.#closing);
    this.#onIdle?.();
  }

  /** Resolves when all calls have ended. */
  async idle(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#onIdle = resolve);
  }

  /** A running call has `CLOSING_GRACE_MS` to finish if its client is still connected. */
  close(): void {
    this.slots.close();
    this.longPollSlots.close();
    for (const lease of this.#open) if (lease.isAbandoned) lease.breakOff();
    if (this.#open.size === 0) return;
    this.#closing ??= setTimeout(() => {
      for (const lease of this.#open) lease.breakOff();
    }, CLOSING_GRACE_MS);
  }
}

/** A batch has only one lease. The code that creates a lease must call `dispose`. */
export class Lease {
  /** Aborted when the client disconnects. */
  readonly gone: Signal;
  readonly sharer: Sharer;
  readonly quota: Quota | undefined;
  /** The token that the call came with. */
  readonly token: Signal | undefined;
  /** The bytes of the request so far. */
  readonly requestBytes: ReservedBytes;
  readonly #leases: Leases;
  /** The bytes of the responses. */
  readonly #responseBytes: ReservedBytes;
  /** The number of bytes that further responses may have. */
  #bytesLeft: number;
  /**
   * - `open`: calls are sent, or may be sent
   * - `handed over`: the response is being sent to the client
   * - `ended`: the response has been sent or dropped. The slot is held until the node has finished
   */
  #state: "open" | "handed over" | "ended" = "open";
  /** These two are set by `begin`. */
  #deadline: Deadline | undefined;
  #slot: Slot | undefined;
  /** The call that the node may still be busy with. */
  #call: Promise<UpstreamResponse> | undefined;
  #held: HeldBytes | undefined;
  readonly #drop = (): void => this.#held?.drop(this.#deadline!.clientSignal.reason);
  /**
   * @param client `undefined` for callers without a token
   * @param token aborted when the client's token is not valid any more
   */
  constructor(
    leases: Leases,
    gone: Signal,
    client: Sharer | undefined,
    quota?: Quota,
    token?: Signal,
  ) {
    this.gone = gone;
    this.token = token;
    this.sharer = client ?? EVERYBODY;
    this.quota = quota;
    this.#leases = leases;
    this.requestBytes = new ReservedBytes(leases.budget, client ? "token" : "body");
    this.#responseBytes = new ReservedBytes(leases.budget, client ? "token" : "response");
    this.#bytesLeft = leases.limits.limit;
    leases.add(this);
  }

  get isAbandoned(): boolean {
    return (this.#deadline?.clientSignal ?? this.gone).aborted;
  }

  /** True once the calls have been counted, so that they are not charged as refused ones, too. */
  get isCounted(): boolean {
    return this.#deadline !== undefined;
  }

  /**
   * Waits for a slot.
   *
   * @param calls the number of calls that the slot is for
   * @throws {Refusal} if the client may make no more calls, or no slot becomes free
   */
  async begin(isHeavy: boolean, isLongPoll: boolean = false, calls: number = 1): Promise<void> {
    this.quota?.count(calls);
    const { limits, slots, longPollSlots } = this.#leases;
    const deadline = this.#deadline = isLongPoll
      ? new Deadline(this, LONG_POLL_MS, "with client")
      : new Deadline(this, limits.timeout, isHeavy ? "late" : "in time");
    const among = isLongPoll ? longPollSlots : slots;
    this.#slot = await among.acquire(this.sharer, isHeavy, deadline.clientSignal, calls);
    deadline.clientSignal.addEventListener("abort", () => {
      if (!this.#held || this.#state === "ended") void this.#end();
      else if (deadline.isOver) this.#leases.budget.overdue.add(this.#drop);
      else this.#drop();
    });
  }

  /**
   * Sends a request in the slot, after the one before has its response. Resolves when the response
   * has ended or is longer than `collect` bytes.
   */
  async send(
    request: RequestContent,
    operation: NodeOperation,
    auth: UpstreamAuth,
    collect: number,
  ): Promise<UpstreamResponse> {
    const { clientSignal, nodeSignal: signal } = this.#deadline!;
    if (clientSignal.aborted) throw clientSignal.reason;
    const isRead = operation.access === "read";
    if (this.sharer !== EVERYBODY) this.#responseBytes.purpose = isRead ? "token" : "write";
    if (!this.#responseBytes.set(SMALL)) throw FULL;
    const { node, slots, verify, limits: { limit } } = this.#leases;
    const upstreamLimits = {
      bytesLeft: this.#bytesLeft,
      limit,
      collect,
      reserved: this.#responseBytes,
      stop: clientSignal,
    };
    const sent = { ...request, signal, isOnce: !isRead || verify !== undefined };
    const call = this.#call = verify
      ? sendVerified(node, sent, auth, upstreamLimits, verify, isRead)
      : sendUpstream(node, sent, auth, upstreamLimits);
    let response: UpstreamResponse | undefined;
    try {
      response = await withSignal(call, clientSignal);
    } finally {
      // The node has finished if its response is complete or the call failed. The node may still be
      // busy if the response is a stream or the call was aborted.
      const hasNodeEnded = response ? response.isWhole : !clientSignal.aborted;
      if (hasNodeEnded) this.#call = undefined;
    }
    if (!choosesStatus(operation)) slots.isBusy = saysBusy(response);
    this.#bytesLeft -= response.size;
    if (response.isWhole) this.#responseBytes.keep(response.received);
    return response;
  }

  /**
   * Sets the number of bytes that count against the budget, besides those of the responses.
   *
   * @throws {Refusal} if the budget has no room
   */
  reserve(bytes: number): void {
    if (!this.#responseBytes.set(bytes)) throw FULL_AFTERWARDS;
  }

  /**
   * After `handOver`, `dispose` frees neither the bytes of the response nor the slot of a call that
   * the node still handles. The caller must call the returned function when the response has been
   * sent or has failed.
   */
  handOver(): () => void {
    if (this.#state === "open") this.#state = "handed over";
    return () => void this.#end();
  }

  /**
   * The bytes of a long body count against the budget until they are sent. After the time limit of
   * the call, a client may read on unless others need the memory.
   */
  handOverBytes(parts: readonly Bytes[]): Bytes | HeldBytes {
    const release = this.handOver();
    const length = parts.reduce((length, { byteLength }) => length + byteLength, 0);
    if (length > SMALL) return this.#held = { parts, release, drop: release };
    release();
    return parts.length === 1 ? parts[0]! : joinBytes(parts);
  }

  /** Gives the slot back before the response has come. */
  freeSlot(): void {
    this.#slot?.dispose();
  }

  dispose(): void {
    // The bytes of an abandoned call are kept until the node has finished.
    if (!this.#call || this.#state === "handed over") this.requestBytes.dispose();
    if (this.#state === "open") void this.#end();
    // The response is complete, so the node is free for the next call.
    else if (this.#state === "handed over" && !this.#call) this.#leave();
  }

  breakOff(): void {
    this.#deadline?.end(STOPPING_AFTERWARDS);
  }

  async #end(): Promise<void> {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#leases.budget.overdue.delete(this.#drop);
    const response = this.#call && await this.#call.catch(() => undefined);
    this.requestBytes.dispose();
    this.#responseBytes.dispose();
    if (response) await response.drain();
    this.#deadline?.dispose();
    this.#leave();
  }

  #leave(): void {
    this.freeSlot();
    this.#leases.remove(this);
  }
}

/** The client of such an operation could make the node look busy. */
const choosesStatus = ({ parameters = [] }: NodeOperation): boolean =>
  parameters.some(({ name }) => /status/i.test(name));

/** Bitcoin Core before 22 says with 500 that its queue is full. */
function saysBusy({ status, parts: [part], size }: UpstreamResponse): boolean {
  if (status !== 500 || !part || size > 100) return isBusy(status);
  return new TextDecoder().decode(part).startsWith("Work queue depth exceeded");
}
