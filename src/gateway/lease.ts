/**
 * The lease of a call: a slot at the node, a time limit and a byte budget. Most nodes do not notice
 * that a client has disconnected, so the slot is held until the node has finished.
 *
 * @module
 */
import { type Bytes, createCollector, joinBytes } from "../bytes.ts";
import type { HeldBytes } from "../http/response.ts";
import type { NodeRequest, NodeResponse, RequestContent, ResponseHead } from "../node/http1.ts";
import { CODES } from "../node/json-rpc.ts";
import { isBusy, type Node } from "../node/node.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { following, LightSignal, type Signal, withSignal } from "../with-timeout.ts";
import { formatSize } from "../units.ts";
import type { ResolvedForward } from "./policy.ts";
import type { Quota } from "./quota.ts";
import { CREDENTIALS_REJECTED, FULL, LATER, Refusal } from "./response.ts";
import { type Sharer, type Slot, Slots } from "./slots.ts";

export interface LeaseOptions extends Pick<ResolvedForward, "timeout" | "limit"> {
  readonly node: Pick<Node, "send">;
  /** Resolves to true if the call is sent without the node's secret. */
  readonly isAnonymous: (operation: NodeOperation) => Promise<boolean>;
}

const GRACE_MS = 4000;

/** All callers without a token. */
export const EVERYBODY: Sharer = { name: "anonymous" };

/** The number of slots of calls that wait; one client has at most half of them. */
const WAITS = 32;
/** Nodes let a call wait for a minute. */
const WAIT_MS = 65_000;

export class Leases {
  readonly options: LeaseOptions;
  readonly slots: Slots = new Slots(1);
  /** The slots of calls that wait for an event at the node. */
  readonly waits: Slots = new Slots(WAITS, true);
  readonly budget: Budget = new Budget();
  readonly #underWay = new Set<Lease>();
  #closing: ReturnType<typeof setTimeout> | undefined;
  constructor(options: LeaseOptions) {
    this.options = options;
  }

  add(lease: Lease): void {
    this.#underWay.add(lease);
  }

  remove(lease: Lease): void {
    this.#underWay.delete(lease);
    if (this.#underWay.size === 0) clearTimeout(this.#closing);
  }

  /** A running call has `GRACE_MS` to finish if its client is still connected. */
  close(): void {
    this.slots.close();
    this.waits.close();
    for (const lease of this.#underWay) if (lease.isLeft) lease.breakOff();
    if (this.#underWay.size === 0) return;
    this.#closing ??= setTimeout(() => {
      for (const lease of this.#underWay) lease.breakOff();
    }, GRACE_MS);
  }
}

/** A batch has only one lease. The code that creates a lease must call `dispose`. */
export class Lease {
  /** Aborted when the client disconnects. */
  readonly gone: Signal;
  readonly #leases: Leases;
  readonly sharer: Sharer;
  readonly quota: Quota | undefined;
  readonly #hasName: boolean;
  readonly #body: Room;
  readonly #room: Room;
  #deadline: Deadline | undefined;
  #slot: Slot | undefined;
  /** The call that the node may still be busy with. */
  #called: Promise<LimitedResponse> | undefined;
  /** The sizes of the responses so far: what the limit leaves, and what the budget counts. */
  #left: number;
  #held = 0;
  #isHandedOver = false;
  #hasEnded = false;
  /** @param client `undefined` for callers without a token */
  constructor(leases: Leases, gone: Signal, client: Sharer | undefined, quota?: Quota) {
    this.quota = quota;
    this.gone = gone;
    this.#leases = leases;
    this.sharer = client ?? EVERYBODY;
    this.#hasName = client !== undefined;
    this.#body = new Room(leases.budget, client ? "token" : "body");
    this.#room = new Room(leases.budget, client ? "token" : "response");
    this.#left = leases.options.limit;
  }

  get isLeft(): boolean {
    return (this.#deadline?.client ?? this.gone).aborted;
  }

  /** @param bytes the length of the request body so far, not the length of its last part */
  holdBody(bytes: number): boolean {
    return this.#body.set(bytes);
  }

  /**
   * @param calls the number of calls that the slot is for
   * @throws {Refusal} if the client may make no more calls, or no slot becomes free
   */
  async begin(isHeavy: boolean, isWaiting: boolean = false, calls: number = 1): Promise<void> {
    this.quota?.take(calls);
    const { options, slots, waits } = this.#leases;
    const timeout = isWaiting ? WAIT_MS : options.timeout;
    this.#deadline = new Deadline(this.gone, timeout, isHeavy);
    this.#leases.add(this);
    const { client } = this.#deadline;
    if (isWaiting) client.addEventListener("abort", () => this.#deadline!.end(client.reason));
    this.#slot = await (isWaiting ? waits : slots).take(this.sharer, isHeavy, client);
    client.addEventListener("abort", () => this.#end());
  }

  /**
   * Resolves when the response has ended or is longer than `collect` bytes.
   *
   * @param hasCredentials whether the request has credentials of the client, so that it gets none
   * of the service
   */
  async send(
    request: RequestContent,
    operation: NodeOperation,
    collect: number,
    hasCredentials: boolean = false,
  ): Promise<UpstreamResponse> {
    const { client, node } = this.#deadline!;
    const isRead = operation.access === "read";
    const isAnonymous = hasCredentials || await this.#leases.options.isAnonymous(operation);
    if (client.aborted) throw client.reason;
    if (this.#hasName) this.#room.purpose = isRead ? "token" : "write";
    if (!this.#room.set(this.#held + SMALL)) throw FULL;
    const sent = { ...request, signal: node, isOnce: !isRead };
    const use = { isAnonymous, hasCredentials };
    const called = this.#called = this.#sendAndCollect(sent, use, collect);
    let response: LimitedResponse | undefined;
    try {
      response = await withSignal(called, client);
    } finally {
      // The node has finished if its response is complete or the call failed. The node may still be
      // busy if the response is a stream or the call was aborted.
      const hasNodeEnded = response ? response.isWhole : !client.aborted;
      if (hasNodeEnded) this.#called = undefined;
    }
    if (!choosesStatus(operation)) this.#leases.slots.isBusy = saysBusy(response);
    this.#left -= response.size;
    if (response.isWhole) this.#room.set(this.#held += response.received);
    return response;
  }

  /**
   * Sets the number of bytes that count against the budget, besides those of the responses.
   *
   * @throws {Refusal} if the budget has no room
   */
  hold(bytes: number): void {
    if (!this.#room.set(this.#held + bytes)) throw FULL_AFTERWARDS;
  }

  /**
   * After `handOver`, `dispose` frees neither the bytes of the response nor the slot of a call that
   * the node still handles. The caller must call the returned function when the response has been
   * sent or has failed.
   */
  handOver(): () => void {
    this.#isHandedOver = true;
    return () => this.#end();
  }

  /** The bytes of a long body count against the budget until they are sent. */
  handOverBytes(parts: readonly Bytes[]): Bytes | HeldBytes {
    const release = this.handOver();
    const length = parts.reduce((length, { byteLength }) => length + byteLength, 0);
    if (length > SMALL) return { parts, release };
    release();
    return parts.length === 1 ? parts[0]! : joinBytes(parts);
  }

  dispose(): void {
    this.#body.dispose();
    if (!this.#isHandedOver) this.#end();
    // The response is complete, so the node is free for the next call.
    else if (!this.#called) this.#free();
  }

  breakOff(): void {
    this.#deadline?.end(STOPPING);
  }

  async #sendAndCollect(
    request: NodeRequest,
    { isAnonymous, hasCredentials }: { isAnonymous: boolean; hasCredentials: boolean },
    collect: number,
  ): Promise<LimitedResponse> {
    const { node, limit } = this.#leases.options;
    const left = this.#left;
    const answer = await node.send(request, ({ response, refusal }) => {
      // A 403 from the node is passed on, since the node may refuse only this call. A 401 means
      // that the node rejected the service's credentials, unless the client sent its own.
      if (!refusal || response.status === 403 || hasCredentials) return response;
      response.cancel();
      throw CREDENTIALS_REJECTED;
    }, { isAnonymous });
    try {
      checkHead(answer, limit, left);
      const response = new LimitedResponse(answer, limit, left, this.#deadline!.client);
      const collector = createCollector();
      while (!response.isWhole && response.size <= Math.min(collect, left)) {
        const part = await response.read();
        if (this.isLeft) break;
        if (!part) response.isWhole = true;
        else if (this.#room.set(this.#held + Math.max(response.received, SMALL))) {
          collector.push(part);
        } else throw FULL_AFTERWARDS;
      }
      response.parts = this.isLeft ? [] : collector.take();
      return response;
    } catch (error) {
      answer.cancel();
      throw error;
    }
  }

  /** Frees the slot, and the bytes when they are sent or dropped. */
  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const finish = () => {
      this.#deadline?.dispose();
      this.#free();
    };
    const drop = (response?: LimitedResponse) => {
      this.#room.dispose();
      return response?.drain();
    };
    if (this.#called) return void this.#called.then(drop, () => drop()).then(finish);
    this.#room.dispose();
    finish();
  }

  #free(): void {
    this.#slot?.dispose();
    this.#leases.remove(this);
  }
}

const STOPPING = new Refusal(503, CODES.busy, "The service is stopping", {
  headers: LATER,
  isUncertain: true,
});

/** Like {@linkcode FULL}, for a response that the node has sent. */
const FULL_AFTERWARDS = new Refusal(503, CODES.busy, FULL.message, {
  headers: LATER,
  isUncertain: true,
});

/** The client of such an operation could make the node look busy. */
const choosesStatus = ({ parameters = [] }: NodeOperation): boolean =>
  parameters.some(({ name }) => /status/i.test(name));

/** Bitcoin Core before 22 says with 500 that its queue is full. */
function saysBusy({ status, parts: [part], size }: LimitedResponse): boolean {
  if (status !== 500 || !part || size > 100) return isBusy(status);
  return new TextDecoder().decode(part).startsWith("Work queue depth exceeded");
}

/** The end of a call for its client, and for the node. */
class Deadline {
  /** Aborted when nobody waits for the response any more. */
  readonly client: LightSignal;
  /** Aborted when the request to the node must end. */
  readonly node: LightSignal = new LightSignal();
  #timer: ReturnType<typeof setTimeout>;
  constructor(gone: Signal, timeout: number, isHeavy: boolean) {
    this.client = following(gone);
    this.#timer = setTimeout(() => {
      const message = `The node did not finish its response within ${timeout / 1000} s`;
      const reason = new Refusal(504, CODES.tooLate, message, { isUncertain: true });
      if (!isHeavy) return this.end(reason);
      // Most nodes finish a heavy call even if the service disconnects.
      this.#timer = setTimeout(() => this.node.abort(reason), timeout);
      this.client.abort(reason);
    }, timeout);
  }

  end(reason: unknown): void {
    this.client.abort(reason);
    this.node.abort(reason);
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }
}

export type UpstreamResponse = Omit<LimitedResponse, "read" | "drain">;

/** The node's response, which may have at most `left` bytes. */
class LimitedResponse {
  /** What has been read, without the parts that were sent already. */
  parts: Bytes[] = [];
  /** True if `parts` has all bytes. */
  isWhole = false;
  /** The number of bytes that have been read. */
  size = 0;
  readonly #response: NodeResponse;
  readonly #limit: number;
  readonly #left: number;
  readonly #stop: Signal;
  constructor(response: NodeResponse, limit: number, left: number, stop: Signal) {
    this.#response = response;
    this.#limit = limit;
    this.#left = left;
    this.#stop = stop;
  }

  get status(): number {
    return this.#response.status;
  }

  get headers(): ResponseHead["headers"] {
    return this.#response.headers;
  }

  /** With chunk framing. */
  get received(): number {
    return this.#response.received();
  }

  /** Rejects if the response breaks off or is too long, or if nobody waits for it any more. */
  next(): Promise<Bytes | undefined> {
    return withSignal(this.read(), this.#stop);
  }

  /** Like `next`, but nobody needs to wait. */
  async read(): Promise<Bytes | undefined> {
    const part = await this.#response.next();
    this.size += part?.byteLength ?? 0;
    // An eighth is allowed for chunk framing.
    if (this.size > this.#left || this.received > this.#left * 1.125 + SMALL) {
      this.#response.cancel();
      throw unusable(tooLong(this.#limit));
    }
    return part;
  }

  /**
   * Reads and discards the rest, whose end tells that the node has finished. A node that is sending
   * more notices a closed connection.
   */
  async drain(): Promise<void> {
    const before = this.size;
    try {
      for (let part = await this.read(); part; part = await this.read()) {
        if (this.size - before > DRAIN_MAX) return this.#response.cancel();
      }
    } catch {
      // An error also ends the response.
    }
  }
}

const DRAIN_MAX = 65_536;

const unusable = (message: string): Refusal =>
  new Refusal(502, CODES.notReached, message, { isUncertain: true });

const tooLong = (limit: number): string =>
  `The node's response is longer than ${formatSize(limit)}; "forward.limit" sets the maximum`;

/** @throws {Refusal} if the response must not be read */
function checkHead({ status, headers }: NodeResponse, limit: number, left: number): void {
  if (status >= 300 && status < 400 && status !== 304) {
    throw unusable("The node responded with a redirect, which is not followed");
  }
  const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding !== "identity") {
    throw unusable("The node compressed its response without being asked to");
  }
  const length = headers.get("content-length") ?? "";
  if (/^\d+$/.test(length) && Number(length) > left) throw unusable(tooLong(limit));
}

const BYTES_MAX = 128 * 1024 * 1024;

/**
 * The number of bytes that are reserved for a response before its length is known. Contents of up
 * to this size may use the share `SHARE_OF_SMALL`.
 */
const SMALL = 16_384;

/** Fractions of `BYTES_MAX`. The budget never limits the response to a write call. */
const SHARES: Readonly<Record<"body" | "response" | "token" | "write", number>> = {
  body: 0.25,
  response: 0.625,
  token: 1,
  write: Infinity,
};
const SHARE_OF_SMALL = 0.75;

/** The bytes of all calls that are in transit. */
export class Budget {
  taken = 0;
}

/** The bytes of one call that count against the budget. */
export class Room {
  purpose: keyof typeof SHARES;
  readonly #budget: Budget;
  #held = 0;
  #isOpen = true;
  constructor(budget: Budget, purpose: keyof typeof SHARES) {
    this.#budget = budget;
    this.purpose = purpose;
  }

  /**
   * `bytes` is the new total, not an increase. Returns false if an increase would exceed the
   * budget.
   */
  set(bytes: number): boolean {
    if (!this.#isOpen) return true;
    const more = bytes - this.#held;
    const share = Math.max(SHARES[this.purpose], bytes <= SMALL ? SHARE_OF_SMALL : 0);
    if (more > 0 && this.#budget.taken + more > BYTES_MAX * share) return false;
    this.#budget.taken += more;
    this.#held = bytes;
    return true;
  }

  dispose(): void {
    this.set(0);
    this.#isOpen = false;
  }
}
