/**
 * The lease of a request: all that the service holds for it, until its response has been sent.
 *
 * | phase     | the lease holds                             | until                             |
 * | --------- | ------------------------------------------- | --------------------------------- |
 * | `waiting` | the bytes of the request                    | its calls begin                   |
 * | `calling` | also a slot, a time limit, and the bytes of | a long response is whole, or is   |
 * |           | the responses                               | passed on as the node sends it    |
 * | `sending` | the time limit, and the bytes of the        | the response is sent or dropped   |
 * |           | response; a slot, if the node still sends   |                                   |
 * | `ended`   | the slot and the bytes                      | the node has finished             |
 *
 * A lease only goes forward, and may leave phases out. Whoever sends the response ends `sending`,
 * and whoever created the lease ends the phases before. If the client leaves, or its time is over,
 * the lease ends itself.
 *
 * @module
 */
import { type Signal, withSignal } from "../abort-signal.ts";
import { byteLengthOf, type Bytes, joinBytes } from "../bytes.ts";
import { HeldBytes } from "../http/response.ts";
import { ReservedBytes, SMALL_BYTES } from "./budget.ts";
import type { Capacity } from "./capacity.ts";
import { Deadline } from "./deadline.ts";
import type { Quota } from "./quota.ts";
import { FULL, type Refusal, STOPPING, toUncertain } from "./refusal.ts";
import { ANONYMOUS, type CallingClient, type Slot } from "./slots.ts";
import type { UpstreamResponse } from "./upstream.ts";

/** Nodes let a call wait for a minute. */
const LONG_POLL_MS = 65_000;

/** Whom a lease is for. */
interface LeaseHolder {
  /** Aborted when the client disconnects. */
  readonly disconnectSignal: Signal;
  /** @default all callers without a token */
  readonly client?: CallingClient | undefined;
  readonly quota?: Quota | undefined;
  /** Aborted when the token that the call came with is not valid any more. */
  readonly token?: Signal | undefined;
}

export interface CallsToBegin {
  readonly isHeavy: boolean;
  /** @default false */
  readonly isLongPoll?: boolean | undefined;
  /** The number of calls that the slot is for. @default 1 */
  readonly calls?: number | undefined;
}

type Phase = "waiting" | "calling" | "sending" | "ended";

/** A batch has only one lease. The code that creates a lease must call `dispose`. */
export class Lease {
  readonly disconnectSignal: Signal;
  readonly client: CallingClient;
  readonly quota: Quota | undefined;
  readonly token: Signal | undefined;
  /** The bytes of the request so far, or of a response that is a text of our own. */
  readonly requestBytes: ReservedBytes;
  readonly responseBytes: ReservedBytes;
  /** Its time limit begins with the calls. */
  readonly deadline: Deadline;
  readonly #capacity: Capacity;
  #phase: Phase = "waiting";
  /** True once its calls count in the quota. */
  #isCounted = false;
  #slot: Slot | undefined;
  /** The request that the node may still be busy with. */
  #pending: Promise<UpstreamResponse> | undefined;
  /** The long response that is being sent. */
  #held: HeldBytes | undefined;
  constructor(
    capacity: Capacity,
    { disconnectSignal, client = ANONYMOUS, quota, token }: LeaseHolder,
  ) {
    this.disconnectSignal = disconnectSignal;
    this.client = client;
    this.quota = quota;
    this.token = token;
    const isNamed = client !== ANONYMOUS;
    this.requestBytes = new ReservedBytes(capacity.budget, isNamed ? "named client" : "body");
    this.responseBytes = new ReservedBytes(capacity.budget, isNamed ? "named client" : "response");
    this.deadline = new Deadline(disconnectSignal, token);
    this.#capacity = capacity;
    capacity.add(this);
  }

  /** True if nobody waits for the response any more. */
  get isAbandoned(): boolean {
    return this.deadline.clientSignal.aborted;
  }

  /**
   * Waits for a slot, and starts the time limit.
   *
   * @throws {Refusal} if the client may make no more calls, or no slot becomes free
   */
  async begin({ isHeavy, isLongPoll = false, calls = 1 }: CallsToBegin): Promise<void> {
    this.quota?.count(calls);
    this.#isCounted = true;
    this.#enter("calling");
    const { limits, slots, longPollSlots } = this.#capacity;
    const { clientSignal } = this.deadline;
    if (isLongPoll) this.deadline.start(LONG_POLL_MS, false);
    else this.deadline.start(limits.timeout, isHeavy);
    const among = isLongPoll ? longPollSlots : slots;
    this.#slot = await among.acquire(this.client, isHeavy, clientSignal, calls);
    clientSignal.addEventListener("abort", () => this.#giveUp());
  }

  /** Charges refused calls, unless `begin` has counted them. */
  charge(refusal: unknown, calls?: number): void {
    if (!this.#isCounted) this.quota?.charge(refusal, calls);
  }

  /**
   * Waits for the response of the node, as long as somebody waits for it. Then rejects with the
   * reason why nobody does.
   */
  async waitFor(sending: Promise<UpstreamResponse>): Promise<UpstreamResponse> {
    const { clientSignal } = this.deadline;
    this.#pending = sending;
    try {
      const response = await withSignal(sending, clientSignal);
      // While the response is a stream, the node is busy.
      if (response.isWhole) this.#pending = undefined;
      return response;
    } catch (error) {
      if (!clientSignal.aborted) this.#pending = undefined;
      throw error === clientSignal.reason ? toUncertain(error) : error;
    }
  }

  /** Gives the slot back before the response has come. */
  freeSlot(): void {
    this.#slot?.dispose();
  }

  /**
   * Returns the bytes of a complete response for whoever sends them. Those of a long one count
   * against the budget until they are sent, which ends the lease.
   *
   * @throws {Refusal} if the response is a text of our own, and the budget has no room for it
   */
  holdUntilSent(parts: readonly Bytes[]): Bytes | HeldBytes {
    const length = byteLengthOf(parts);
    if (length <= SMALL_BYTES) return parts.length === 1 ? parts[0]! : joinBytes(parts);
    const isFromNode = this.#slot !== undefined;
    // A text of our own repeats the ids of the calls, which may be long.
    if (!isFromNode && !this.requestBytes.set(length)) throw FULL;
    const held = new HeldBytes(parts, () => void this.#end());
    if (!this.#enter("sending")) return held;
    if (isFromNode) {
      this.requestBytes.dispose();
      this.responseBytes.setAtLeast(length);
    } else {
      // It has no time limit.
      this.deadline.dispose();
      this.requestBytes.offer(() => held.drop(FULL));
    }
    this.#held = held;
    this.#leaveNode();
    return held;
  }

  /**
   * Leaves the lease to whoever passes the response on while the node sends it. Returns a function
   * that ends the lease.
   */
  leaveToSender(): () => void {
    this.#enter("sending");
    this.requestBytes.dispose();
    return () => void this.#end();
  }

  /** Ends the calls, and the response that is being sent, if it is a stream. */
  abort(reason: Refusal = STOPPING): void {
    this.deadline.end(reason);
  }

  /** Ends the lease, unless its response is being sent. */
  dispose(): void {
    if (this.#phase !== "sending") void this.#end();
  }

  /** Returns false if the lease has ended already. */
  #enter(phase: Phase): boolean {
    if (this.#phase === "ended") return false;
    this.#phase = phase;
    return true;
  }

  /** Frees all once the node has finished. */
  async #end(): Promise<void> {
    if (!this.#enter("ended")) return;
    const response = this.#pending && await this.#pending.catch(() => undefined);
    this.requestBytes.dispose();
    this.responseBytes.dispose();
    if (response) await response.drain();
    this.deadline.dispose();
    this.#leaveNode();
  }

  /** The client has left, or its time is over. */
  #giveUp(): void {
    const held = this.#held;
    if (!held) return void this.#end();
    const drop = () => held.drop(this.deadline.clientSignal.reason);
    // After the time limit, a client may read on unless others need the memory.
    if (this.deadline.isOver) this.responseBytes.offer(drop);
    else drop();
  }

  #leaveNode(): void {
    this.#slot?.dispose();
    this.#capacity.remove(this);
  }
}
