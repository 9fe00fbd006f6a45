/**
 * The lease of a request: what the service holds for it, one phase after the other.
 *
 * | phase                          | held                           | freed by            |
 * | ------------------------------ | ------------------------------ | ------------------- |
 * | the request is read, and waits | its bytes                      | `Lease.dispose`     |
 * | its calls run at the node      | also a slot, a time limit, and | `RunningCalls.end`  |
 * |                                | the bytes of the responses     |                     |
 * | a long response is being sent  | the time limit, and the bytes  | `HeldBytes.release` |
 * |                                | of the response                |                     |
 *
 * While a response is passed on as the node sends it, its call still runs.
 *
 * @module
 */
import type { Signal } from "../abort-signal.ts";
import { byteLengthOf, type Bytes, joinBytes } from "../bytes.ts";
import type { HeldBytes } from "../http/response.ts";
import { ReservedBytes, SMALL_BYTES } from "./budget.ts";
import { Deadline } from "./deadline.ts";
import type { Capacity } from "./capacity.ts";
import type { Quota } from "./quota.ts";
import { FULL } from "./refusal.ts";
import { holdUntilSent, RunningCalls } from "./running-calls.ts";
import { ANONYMOUS, type CallingClient } from "./slots.ts";

/** Nodes let a call wait for a minute. */
const LONG_POLL_MS = 65_000;

/** Whom a lease is for. */
interface LeaseHolder {
  /** Aborted when the client disconnects. */
  readonly gone: Signal;
  /** @default all callers without a token */
  readonly client?: CallingClient | undefined;
  readonly quota?: Quota | undefined;
  /** Aborted when the token that the call came with is not valid any more. */
  readonly token?: Signal | undefined;
}

interface CallsToBegin {
  readonly isHeavy: boolean;
  /** @default false */
  readonly isLongPoll?: boolean | undefined;
  /** The number of calls that the slot is for. @default 1 */
  readonly calls?: number | undefined;
}

/** A batch has only one lease. The code that creates a lease must call `dispose`. */
export class Lease implements LeaseHolder {
  readonly gone: Signal;
  readonly client: CallingClient;
  readonly quota: Quota | undefined;
  readonly token: Signal | undefined;
  /** The bytes of the request so far. */
  readonly requestBytes: ReservedBytes;
  #isCounted = false;
  readonly #capacity: Capacity;
  /** The calls that `dispose` ends. */
  #running: RunningCalls | undefined;
  /** True once the bytes belong to the response, which frees them. */
  #isHandedOver = false;
  constructor(capacity: Capacity, { gone, client = ANONYMOUS, quota, token }: LeaseHolder) {
    this.gone = gone;
    this.client = client;
    this.quota = quota;
    this.token = token;
    this.#capacity = capacity;
    const purpose = client === ANONYMOUS ? "body" : "named client";
    this.requestBytes = new ReservedBytes(capacity.budget, purpose);
    capacity.add(this);
  }

  /**
   * Waits for a slot.
   *
   * @throws {Refusal} if the client may make no more calls, or no slot becomes free
   */
  async begin({ isHeavy, isLongPoll = false, calls = 1 }: CallsToBegin): Promise<RunningCalls> {
    this.quota?.count(calls);
    this.#isCounted = true;
    const { limits, slots, longPollSlots } = this.#capacity;
    const deadline = isLongPoll
      ? new Deadline(this, LONG_POLL_MS, false)
      : new Deadline(this, limits.timeout, isHeavy);
    const among = isLongPoll ? longPollSlots : slots;
    try {
      const slot = await among.acquire(this.client, isHeavy, deadline.clientSignal, calls);
      return this.#running = new RunningCalls(this.#capacity, this, deadline, slot);
    } catch (error) {
      deadline.dispose();
      throw error;
    }
  }

  /** Charges refused calls, unless `begin` has counted them. */
  charge(refusal: unknown, calls?: number): void {
    if (!this.#isCounted) this.quota?.charge(refusal, calls);
  }

  /**
   * Returns the bytes of a complete response for whoever sends them. Those of a long one count
   * against the budget until they are sent.
   */
  handOver(parts: readonly Bytes[]): Bytes | HeldBytes {
    const length = byteLengthOf(parts);
    if (length <= SMALL_BYTES) return parts.length === 1 ? parts[0]! : joinBytes(parts);
    if (this.#running) {
      return this.#running.deliver(parts) ?? { parts, release() {}, drop() {} };
    }
    // A text of our own repeats the ids of the calls, which may be long.
    if (!this.requestBytes.set(length)) throw FULL;
    this.#isHandedOver = true;
    return holdUntilSent(parts, this.requestBytes);
  }

  /** Leaves the calls to whoever sends the node's stream, and must end them. */
  detach(): void {
    this.#running = undefined;
  }

  dispose(): void {
    if (this.#running) return void this.#running.end();
    if (!this.#isHandedOver) this.requestBytes.dispose();
    this.#capacity.remove(this);
  }
}
