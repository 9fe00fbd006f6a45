/**
 * The lease of a call: its slot at the node, time limit, byte budget, and the connection with the node's response. The
 * slot is held until the node has finished, since most nodes do not notice that a client has disconnected.
 *
 * @module
 */
import { type Bytes, createCollector } from "../bytes.ts";
import type { Credentials } from "../node/credentials.ts";
import type { Client, NodeResponse, RequestContent } from "../node/http1.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { following, LightSignal, type Signal, withSignal } from "../with-timeout.ts";
import {
  type Budget,
  createBudget,
  createSemaphore,
  type Priority,
  type Purpose,
  type Room,
  type Semaphore,
  SMALL,
} from "./limits.ts";
import { type ResolvedForward, sizeText } from "./policy.ts";
import { UpstreamError } from "./response.ts";

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly parts: readonly Bytes[];
  readonly isWhole: boolean;
  readonly size: number;
  /** Reads the next bytes; `undefined` at the end. Rejects if the response breaks off or is too long. */
  next(): Promise<Bytes | undefined>;
}

export interface LeaseOptions extends Pick<ResolvedForward, "timeout" | "limit" | "concurrency"> {
  readonly client: Client;
  /** Returns the credentials for calls of an operation. */
  readonly credentials: (operation: NodeOperation) => Promise<Credentials>;
}

/** How long calls may continue after the service begins to stop, in milliseconds. */
const GRACE_MS = 4000;

export class Leases {
  readonly options: LeaseOptions;
  readonly slots: Semaphore;
  readonly budget: Budget = createBudget();
  readonly underWay: Set<Lease> = new Set();
  closing: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LeaseOptions) {
    this.options = options;
    this.slots = createSemaphore(options.concurrency);
  }

  open(gone: Signal): Lease {
    return new Lease(this, gone);
  }

  /** Rejects waiting calls and aborts running ones: at once if the client has left, otherwise after a grace period. */
  close(): void {
    this.slots.close();
    const [all, breakOff] = [this.underWay, (lease: Lease) => lease.breakOff()];
    [...all].filter(({ isLeft }) => isLeft).forEach(breakOff);
    if (all.size > 0) this.closing ??= setTimeout(() => [...all].forEach(breakOff), GRACE_MS);
  }
}

/**
 * The lease of one call or one batch. A batch shares one time limit and one response limit. The code that opens a lease
 * must dispose of it.
 */
export class Lease {
  readonly #pool: Leases;
  readonly #gone: Signal;
  /** The bytes reserved for the call's own body and for its responses. */
  readonly #body: Room;
  readonly #room: Room;
  /** Aborted when the client has left or the time is over; unset before `begin`. */
  #clientGone: LightSignal | undefined;
  readonly #nodeStop = new LightSignal();
  #priority: Priority = "open";
  #isHeavy = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #giveBack = () => {};
  #called: Promise<CollectedResponse> | undefined;
  /** Bytes that the response may still have, and bytes held by earlier responses of a batch. */
  #left: number;
  #held = 0;
  #isHandedOver = false;
  #isFree = false;
  #hasEnded = false;

  constructor(pool: Leases, gone: Signal) {
    this.#pool = pool;
    this.#gone = gone;
    this.#body = pool.budget();
    this.#room = pool.budget();
    this.#left = pool.options.limit;
  }

  get isLeft(): boolean {
    return this.#clientGone?.aborted ?? this.#gone.aborted;
  }

  /** Reserves room for the call's own body; returns false if there is none. */
  holdBody(bytes: number, purpose: Purpose): boolean {
    return this.#body.set(bytes, purpose);
  }

  /** Waits for a slot at the node, or throws `NoSlot`; the time limit starts here. */
  async begin(priority: Priority, isHeavy: boolean): Promise<void> {
    // Aborted together with `#gone`, or by this lease.
    const clientGone = this.#clientGone = following(this.#gone);
    this.#priority = priority;
    this.#isHeavy = isHeavy;
    this.#timer = setTimeout(() => this.#late(), this.#pool.options.timeout);
    this.#pool.underWay.add(this);
    this.#giveBack = await this.#pool.slots.take(priority, isHeavy, clientGone);
    clientGone.addEventListener("abort", () => this.#end());
  }

  /**
   * Sends a call, and reads up to `collect` bytes before it resolves. Rejects with `UpstreamError` or `TimeoutError`.
   */
  async send(
    request: RequestContent,
    operation: NodeOperation,
    collect: number,
  ): Promise<UpstreamResponse> {
    const { options } = this.#pool;
    const clientGone = this.#clientGone!;
    const isRead = operation.access === "read";
    const credentials = await options.credentials(operation);
    if (clientGone.aborted) throw clientGone.reason;
    const isOpen = this.#priority === "open";
    const purpose = isOpen ? "response" : isRead ? "token" : "write";
    if (!this.#room.set(this.#held + SMALL, isOpen ? "response" : "token")) {
      throw new UpstreamError(503, "Too much data is in transit; try again later", true);
    }
    const called = this.#called = this.#sendAndCollect(
      request,
      credentials,
      isRead,
      collect,
      purpose,
    );
    let response: CollectedResponse | undefined;
    try {
      response = await withSignal(called, clientGone);
    } finally {
      // A streaming or abandoned response still occupies the node; a call that failed does not.
      const hasNodeEnded = response ? response.isWhole : !clientGone.aborted;
      if (hasNodeEnded) this.#called = undefined;
    }
    this.#left -= response.size;
    if (response.isWhole) this.#room.set(this.#held += response.received, purpose);
    const { next } = response;
    return { ...response, next: () => withSignal(next(), clientGone) };
  }

  /**
   * Hands over the bytes, and the slot if the node has not finished. The caller must call the returned function, which
   * may be called twice.
   */
  handOver(): () => void {
    this.#isHandedOver = true;
    return () => this.#end();
  }

  dispose(): void {
    this.#body.end();
    if (!this.#isHandedOver) this.#end();
    // The response is complete, so the node is free for the next call.
    else if (!this.#called) this.#free();
  }

  breakOff(): void {
    const reason = new UpstreamError(503, "The service is stopping");
    this.#clientGone?.abort(reason);
    this.#nodeStop.abort(reason);
  }

  /** Sends a call and reads the response: collects a short one, streams the rest of a long one. */
  async #sendAndCollect(
    request: RequestContent,
    credentials: Credentials,
    isRead: boolean,
    collect: number,
    purpose: Purpose,
  ): Promise<CollectedResponse> {
    const { client, limit } = this.#pool.options;
    const left = this.#left;
    const sent = { ...request, signal: this.#nodeStop, isOnce: !isRead };
    const response = await credentials.sendWith(client, sent, ({ response, refusal }) => {
      // Without credentials of ours, the node's own refusal is passed on.
      if (!refusal || response.status === 403) return response;
      response.cancel();
      throw new UpstreamError(502, "The node rejected the service's credentials", true);
    });
    const { status, headers } = response;
    let size = 0;
    const next = async () => {
      const part = await response.next();
      size += part?.byteLength ?? 0;
      // Chunk framing counts too when it exceeds what chunks of a sensible size need.
      if (size > left || response.received() > left * 1.125 + SMALL) {
        response.cancel();
        throw new UpstreamError(502, tooLong(limit));
      }
      return part;
    };
    const drain = async () => {
      try {
        while (await next());
      } catch {
        // The response has ended, if with an error.
      }
    };
    try {
      const reason = whyUnread(response, limit, left);
      if (reason !== undefined) throw new UpstreamError(502, reason);
      const come = createCollector();
      let isWhole = false;
      while (!isWhole && size <= Math.min(collect, left)) {
        const part = await next();
        // Nothing is collected once the client has left.
        if (this.isLeft) break;
        const bytes = this.#held + Math.max(response.received(), SMALL);
        if (!part) isWhole = true;
        else if (this.#room.set(bytes, purpose)) come.push(part);
        else throw new UpstreamError(503, "Too much data is in transit; try again later");
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
    // The client may have dropped its response without closing it.
    if (this.#isFree) return this.#room.end();
    const reason = new DOMException("The call took too long", "TimeoutError");
    const stop = () => this.#nodeStop.abort(reason);
    // Most nodes finish a heavy call even if its client has left.
    if (this.#isHeavy) this.#timer = setTimeout(stop, this.#pool.options.timeout);
    this.#clientGone?.abort(reason);
    if (!this.#isHeavy) stop();
  }

  #free(): void {
    this.#isFree = true;
    this.#giveBack();
    const { underWay, closing } = this.#pool;
    underWay.delete(this);
    if (underWay.size === 0) clearTimeout(closing);
  }

  /** Releases the responses, and returns the slot when the node has finished. */
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
  /** Number of bytes received on the wire. */
  readonly received: number;
  /** Reads and discards the rest, up to the limit; resolves when the node has finished. */
  drain(): Promise<void>;
}

const tooLong = (limit: number) =>
  `The node's response is longer than ${sizeText(limit)}; "forward.limit" sets the maximum`;

function whyUnread(
  { status, headers }: NodeResponse,
  limit: number,
  left: number,
): string | undefined {
  if (status >= 300 && status < 400) {
    return "The node responded with a redirect, which is not followed";
  }
  const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding !== "identity") return "The node compressed its response without being asked to";
  const length = headers.get("content-length") ?? "";
  return /^\d+$/.test(length) && Number(length) > left ? tooLong(limit) : undefined;
}
