/**
 * The lease of a call: a slot at the node, a time limit and a byte budget. Most nodes do not notice that a client has
 * disconnected, so the slot is held until the node has finished.
 *
 * @module
 */
import { type Bytes, createCollector, joinBytes } from "../bytes.ts";
import type { HeldBytes } from "../http/response.ts";
import type { NodeRequest, NodeResponse, RequestContent } from "../node/http1.ts";
import type { Node } from "../node/node.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { nextTurn } from "../slices.ts";
import { following, LightSignal, type Signal, withSignal } from "../with-timeout.ts";
import type { ResolvedForward } from "./policy.ts";
import { formatSize } from "../units.ts";
import { FULL, UpstreamError } from "./response.ts";

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly parts: readonly Bytes[];
  readonly isWhole: boolean;
  readonly size: number;
  /** Rejects if the response breaks off or is too long. */
  next(): Promise<Bytes | undefined>;
}

export interface LeaseOptions extends Pick<ResolvedForward, "timeout" | "limit" | "concurrency"> {
  readonly node: Pick<Node, "send">;
  /** Resolves to true if the call is sent without the node's secret. */
  readonly isAnonymous: (operation: NodeOperation) => Promise<boolean>;
}

const GRACE_MS = 4000;

export class Leases {
  readonly options: LeaseOptions;
  readonly slots: Semaphore;
  readonly budget: () => Room = createBudget();
  readonly underWay: Set<Lease> = new Set();
  closing: ReturnType<typeof setTimeout> | undefined;
  constructor(options: LeaseOptions) {
    this.options = options;
    this.slots = createSemaphore(options.concurrency);
  }

  /** A running call has `GRACE_MS` to finish if its client is still connected. */
  close(): void {
    this.slots.close();
    const [all, breakOff] = [this.underWay, (lease: Lease) => lease.breakOff()];
    [...all].filter(({ isLeft }) => isLeft).forEach(breakOff);
    if (all.size > 0) this.closing ??= setTimeout(() => [...all].forEach(breakOff), GRACE_MS);
  }
}

/** A batch has only one lease. The code that creates a lease must call `dispose`. */
export class Lease {
  readonly #pool: Leases;
  readonly #clientGone: Signal;
  readonly #body: Room;
  readonly #room: Room;
  #callStop: LightSignal | undefined;
  readonly #nodeStop = new LightSignal();
  #hasToken = false;
  #isHeavy = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #giveBack = () => {};
  #called: Promise<CollectedResponse> | undefined;
  #left: number;
  #held = 0;
  #purpose: Purpose = "response";
  #isHandedOver = false;
  #isFree = false;
  #hasEnded = false;
  constructor(pool: Leases, clientGone: Signal) {
    this.#pool = pool;
    this.#clientGone = clientGone;
    this.#body = pool.budget();
    this.#room = pool.budget();
    this.#left = pool.options.limit;
  }

  get isLeft(): boolean {
    return (this.#callStop ?? this.#clientGone).aborted;
  }

  /** @param bytes the length of the request body so far, not the length of its last part */
  holdBody(bytes: number, hasToken: boolean): boolean {
    return this.#body.set(bytes, hasToken ? "token" : "body");
  }

  /** Rejects with `UpstreamError` if no slot becomes free. */
  async begin(hasToken: boolean, isHeavy: boolean): Promise<void> {
    const callStop = this.#callStop = following(this.#clientGone);
    this.#hasToken = hasToken;
    this.#isHeavy = isHeavy;
    this.#timer = setTimeout(() => this.#late(), this.#pool.options.timeout);
    this.#pool.underWay.add(this);
    this.#giveBack = await this.#pool.slots.take(hasToken, isHeavy, callStop);
    callStop.addEventListener("abort", () => this.#end());
  }

  /** Resolves when the response has ended or is longer than `collect` bytes. */
  async send(
    request: RequestContent,
    operation: NodeOperation,
    collect: number,
  ): Promise<UpstreamResponse> {
    const callStop = this.#callStop!;
    const isRead = operation.access === "read";
    const isAnonymous = await this.#pool.options.isAnonymous(operation);
    if (callStop.aborted) throw callStop.reason;
    const use = this.#hasToken ? "token" : "response";
    const purpose = this.#purpose = use === "token" && !isRead ? "write" : use;
    if (!this.#room.set(this.#held + SMALL, use)) throw new UpstreamError(503, FULL.message, true);
    const sent = { ...request, signal: this.#nodeStop, isOnce: !isRead };
    const called = this.#called = this.#sendAndCollect(sent, isAnonymous, collect, purpose);
    let response: CollectedResponse | undefined;
    try {
      response = await withSignal(called, callStop);
    } finally {
      // The node has finished if its response is complete or the call failed. The node may still be busy if the
      // response is a stream or the call was aborted.
      const hasNodeEnded = response ? response.isWhole : !callStop.aborted;
      if (hasNodeEnded) this.#called = undefined;
    }
    this.#left -= response.size;
    if (response.isWhole) this.#room.set(this.#held += response.received, purpose);
    const { next } = response;
    return { ...response, next: () => withSignal(next(), callStop) };
  }

  /**
   * Counts more bytes against the budget until the returned function is called. Throws an `UpstreamError` if the budget
   * has no room.
   */
  hold(bytes: number): () => void {
    if (!this.#room.set(this.#held + bytes, this.#purpose)) {
      throw new UpstreamError(503, FULL.message);
    }
    return () => void this.#room.set(this.#held, this.#purpose);
  }

  /**
   * After `handOver`, `dispose` frees neither the bytes of the response nor the slot of a call that the node still
   * handles. The caller must call the returned function when the response has been sent or has failed.
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
    this.#body.end();
    if (!this.#isHandedOver) this.#end();
    // The response is complete, so the node is free for the next call.
    else if (!this.#called) this.#free();
  }

  breakOff(): void {
    const reason = new UpstreamError(503, "The service is stopping");
    this.#callStop?.abort(reason);
    this.#nodeStop.abort(reason);
  }

  async #sendAndCollect(
    request: NodeRequest,
    isAnonymous: boolean,
    collect: number,
    purpose: Purpose,
  ): Promise<CollectedResponse> {
    const { node, limit } = this.#pool.options;
    const left = this.#left;
    const response = await node.send(request, ({ response, refusal }) => {
      // A 403 from the node is passed on, since the node may refuse only this call. A 401 means that the node rejected
      // the service's credentials.
      if (!refusal || response.status === 403) return response;
      response.cancel();
      throw new UpstreamError(502, "The node rejected the service's credentials", true);
    }, { isAnonymous });
    const { status, headers } = response;
    let size = 0;
    const next = async () => {
      const part = await response.next();
      size += part?.byteLength ?? 0;
      // `received` also counts chunk framing, for which an eighth is allowed.
      if (size > left || response.received() > left * 1.125 + SMALL) {
        response.cancel();
        throw new UpstreamError(502, tooLong(limit));
      }
      return part;
    };
    const drain = async () => {
      let read = 0;
      try {
        for (let part = await next(); part; part = await next()) {
          read += part.byteLength;
          // This data is discarded, so reading it must not delay other tasks.
          if (read <= DRAIN_MAX) continue;
          read = 0;
          await nextTurn();
        }
      } catch {
        // An error also ends the response.
      }
    };
    try {
      const reason = whyUnread(response, limit, left);
      if (reason !== undefined) throw new UpstreamError(502, reason);
      const come = createCollector();
      let isWhole = false;
      while (!isWhole && size <= Math.min(collect, left)) {
        const part = await next();
        if (this.isLeft) break;
        const bytes = this.#held + Math.max(response.received(), SMALL);
        if (!part) isWhole = true;
        else if (this.#room.set(bytes, purpose)) come.push(part);
        else throw new UpstreamError(503, FULL.message);
      }
      const received = response.received();
      const parts = this.isLeft ? [] : come.take();
      return { status, headers, parts, isWhole, size, received, next, drain };
    } catch (error) {
      response.cancel();
      throw error;
    }
  }

  #late(): void {
    // The node has finished, but its response may still be waiting to be sent.
    if (this.#isFree) return this.#room.end();
    const reason = new DOMException("The call took too long", "TimeoutError");
    const stop = () => this.#nodeStop.abort(reason);
    // Most nodes finish a heavy call even if the service disconnects.
    if (this.#isHeavy) this.#timer = setTimeout(stop, this.#pool.options.timeout);
    this.#callStop?.abort(reason);
    if (!this.#isHeavy) stop();
  }

  #free(): void {
    this.#isFree = true;
    this.#giveBack();
    const { underWay, closing } = this.#pool;
    underWay.delete(this);
    if (underWay.size === 0) clearTimeout(closing);
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const finish = () => {
      clearTimeout(this.#timer);
      this.#free();
    };
    const drop = (response?: CollectedResponse) => {
      this.#room.end();
      return response?.drain();
    };
    if (this.#called) return void this.#called.then(drop, () => drop()).then(finish);
    this.#room.end();
    finish();
  }
}

interface CollectedResponse extends UpstreamResponse {
  readonly received: number;
  drain(): Promise<void>;
}

const DRAIN_MAX = 65_536;

const tooLong = (limit: number) =>
  `The node's response is longer than ${formatSize(limit)}; "forward.limit" sets the maximum`;

function whyUnread({ status, headers }: NodeResponse, limit: number, left: number) {
  if (status >= 300 && status < 400) {
    return "The node responded with a redirect, which is not followed";
  }
  const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding !== "identity") return "The node compressed its response without being asked to";
  const length = headers.get("content-length") ?? "";
  return /^\d+$/.test(length) && Number(length) > left ? tooLong(limit) : undefined;
}

const WAITING_MAX = 64, WAIT_MAX_MS = 5000;

interface Semaphore {
  take(hasToken: boolean, isHeavy: boolean, signal: Signal): Promise<() => void>;
  readonly waiting: number;
  close(): void;
}

const noSlot = () => new UpstreamError(503, "Too many calls are waiting for the node", true);

interface Waiting {
  readonly isHeavy: boolean;
  give(): void;
  fail(): void;
}

/** Callers with the token have an extra slot and go first in the queue. */
export function createSemaphore(count: number): Semaphore {
  let taken = 0;
  let isHeavyTaken = false;
  let isClosed = false;
  const withToken = new Set<Waiting>();
  const others = new Set<Waiting>();
  const isFree = (hasToken: boolean, isHeavy: boolean) =>
    taken < (hasToken ? count + 1 : count) && !(isHeavy && isHeavyTaken);
  const occupy = (isHeavy: boolean): () => void => {
    taken++;
    if (isHeavy) isHeavyTaken = true;
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      taken--;
      if (isHeavy) isHeavyTaken = false;
      giveFree();
    };
  };
  /** A heavy call that must wait does not block the calls behind it. */
  const giveFree = () => {
    for (const queue of [withToken, others]) {
      for (const waiting of queue) if (isFree(queue === withToken, waiting.isHeavy)) waiting.give();
    }
  };
  return {
    get waiting() {
      return withToken.size + others.size;
    },
    async take(hasToken, isHeavy, signal) {
      if (isClosed || signal.aborted) throw noSlot();
      const queue = hasToken ? withToken : others;
      const isNext = [...queue].every((other) => other.isHeavy !== isHeavy);
      if (isNext && isFree(hasToken, isHeavy)) return occupy(isHeavy);
      if (queue.size >= WAITING_MAX) throw noSlot();
      return await new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", waiting.fail);
          queue.delete(waiting);
        };
        const waiting: Waiting = {
          isHeavy,
          give() {
            end();
            resolve(occupy(isHeavy));
          },
          fail() {
            end();
            reject(noSlot());
          },
        };
        const timer = setTimeout(waiting.fail, WAIT_MAX_MS);
        signal.addEventListener("abort", waiting.fail);
        queue.add(waiting);
      });
    },
    close() {
      isClosed = true;
      for (const waiting of [...withToken, ...others]) waiting.fail();
    },
  };
}

const BYTES_MAX = 128 * 1024 * 1024;

/**
 * The number of bytes that are reserved for a response before its length is known. Contents of up to this size may use
 * the share `SHARE_OF_SMALL`.
 */
const SMALL = 16_384;

/** Fractions of `BYTES_MAX`. The budget never limits the response to a write call. */
const SHARES: Readonly<Record<Purpose, number>> = {
  body: 0.25,
  response: 0.625,
  token: 1,
  write: Infinity,
};
const SHARE_OF_SMALL = 0.75;

type Purpose = "body" | "response" | "token" | "write";

interface Room {
  /** `bytes` is the new total, not an increase. Returns false if an increase would exceed the budget. */
  set(bytes: number, purpose: Purpose): boolean;
  end(): void;
}

function createBudget(): () => Room {
  let taken = 0;
  return () => {
    let held = 0;
    let hasEnded = false;
    return {
      set(bytes, purpose) {
        if (hasEnded) return true;
        const more = bytes - held;
        const share = Math.max(SHARES[purpose], bytes <= SMALL ? SHARE_OF_SMALL : 0);
        if (more > 0 && taken + more > BYTES_MAX * share) return false;
        taken += more;
        held += more;
        return true;
      },
      end() {
        hasEnded = true;
        taken -= held;
        held = 0;
      },
    };
  };
}
