/**
 * The lease of a call: its slot at the node, time limit, bytes, and the connection with the node's response. The slot is
 * free when the node is: most nodes do not notice that a client has disconnected.
 *
 * @module
 */
import { type Bytes, createCollector } from "../bytes.ts";
import type { Credentials } from "../node/credentials.ts";
import type { Client, NodeResponse, RequestContent } from "../node/client.ts";
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
  /** Reads the next bytes; `undefined` at the end. Rejects where the response breaks off or is too long. */
  next(): Promise<Bytes | undefined>;
}

export interface LeaseOptions extends Pick<ResolvedForward, "timeout" | "limit" | "concurrency"> {
  readonly client: Client;
  /** Gives the node's secret to calls of an operation, or none. */
  readonly credentials: (operation: NodeOperation) => Promise<Credentials>;
}

/** How long calls go on when the service ends, in milliseconds. */
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

  /** Sends away who waits, and breaks off what still runs after some seconds; at once where nobody waits for it. */
  close(): void {
    this.slots.close();
    const [all, breakOff] = [this.underWay, (lease: Lease) => lease.breakOff()];
    [...all].filter(({ isLeft }) => isLeft).forEach(breakOff);
    if (all.size > 0) this.closing ??= setTimeout(() => [...all].forEach(breakOff), GRACE_MS);
  }
}

/**
 * The lease of one call, or of all calls of a batch: the time and the longest response are for all of them. Whoever
 * opens it disposes of it.
 */
export class Lease {
  readonly #pool: Leases;
  readonly #gone: Signal;
  /** The room of the call's own body, and that of the responses. */
  readonly #body: Room;
  readonly #room: Room;
  /** Is aborted when nobody waits for the response: the client has left, or the time is over. None before `begin`. */
  #clientGone: LightSignal | undefined;
  readonly #nodeStop = new LightSignal();
  #priority: Priority = "open";
  #isHeavy = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #giveBack = () => {};
  #called: Promise<CollectedResponse> | undefined;
  /** Bytes left of the longest response, and bytes that earlier responses of a batch hold. */
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

  /** Takes room for the call's own body; returns whether there is any. */
  holdBody(bytes: number, purpose: Purpose): boolean {
    return this.#body.set(bytes, purpose);
  }

  /** Waits for a slot at the node, or throws a `NoSlot`; the time of the call begins. */
  async begin(priority: Priority, isHeavy: boolean): Promise<void> {
    // It is aborted where the other is, or by this lease.
    const clientGone = this.#clientGone = following(this.#gone);
    this.#priority = priority;
    this.#isHeavy = isHeavy;
    this.#timer = setTimeout(() => this.#late(), this.#pool.options.timeout);
    this.#pool.underWay.add(this);
    this.#giveBack = await this.#pool.slots.take(priority, isHeavy, clientGone);
    clientGone.addEventListener("abort", () => this.#end());
  }

  /** Sends a call; `collect` bytes are read before this resolves. Rejects with `UpstreamError` or `TimeoutError`. */
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
      throw new UpstreamError(503, "Too many bytes are under way", true);
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
      // A response that goes on is still the node's; so is one that nobody waited for. What failed by itself is over.
      const hasNodeEnded = response ? response.isWhole : !clientGone.aborted;
      if (hasNodeEnded) this.#called = undefined;
    }
    this.#left -= response.size;
    if (response.isWhole) this.#room.set(this.#held += response.received, purpose);
    const { next } = response;
    return { ...response, next: () => withSignal(next(), clientGone) };
  }

  /** Hands over the bytes, and the slot where the node has not said all, to who calls what this returns, maybe again. */
  handOver(): () => void {
    this.#isHandedOver = true;
    return () => this.#end();
  }

  dispose(): void {
    this.#body.end();
    if (!this.#isHandedOver) this.#end();
    // A node that has said all is free for the next call.
    else if (!this.#called) this.#free();
  }

  breakOff(): void {
    const reason = new UpstreamError(503, "The service ends");
    this.#clientGone?.abort(reason);
    this.#nodeStop.abort(reason);
  }

  /** Sends a call and reads the response: what is short is collected, the rest streams. */
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
      // A node without a secret says itself who may do what.
      if (!refusal || response.status === 403) return response;
      response.cancel();
      throw new UpstreamError(502, "The node wants another secret", true);
    });
    const { status, headers } = response;
    let size = 0;
    const next = async () => {
      const part = await response.next();
      size += part?.byteLength ?? 0;
      // What stands around chunks counts where there is more of it than of any that are worth it.
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
        // It has ended as well.
      }
    };
    try {
      const reason = whyUnread(response, limit, left);
      if (reason !== undefined) throw new UpstreamError(502, reason);
      const come = createCollector();
      let isWhole = false;
      while (!isWhole && size <= Math.min(collect, left)) {
        const part = await next();
        // Nothing is kept that nobody waits for.
        if (this.isLeft) break;
        const bytes = this.#held + Math.max(response.received(), SMALL);
        if (!part) isWhole = true;
        else if (this.#room.set(bytes, purpose)) come.push(part);
        else throw new UpstreamError(503, "Too many bytes are under way");
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
    // Who was given a response may have dropped it without a word.
    if (this.#isFree) return this.#room.end();
    const reason = new DOMException("The call takes too long", "TimeoutError");
    const stop = () => this.#nodeStop.abort(reason);
    // What is heavy goes on at most nodes, whoever has left.
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

  /** Lets go of the responses, and gives back the slot when the node has said all. */
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
  /** Number of bytes that have come on the wire. */
  readonly received: number;
  /** Reads the rest, up to the limit, and keeps nothing of it; resolves when the node has said all. */
  drain(): Promise<void>;
}

const tooLong = (limit: number) =>
  `The response of the node is longer than ${
    sizeText(limit)
  }; "forward.limit" sets how long it may be`;

function whyUnread(
  { status, headers }: NodeResponse,
  limit: number,
  left: number,
): string | undefined {
  if (status >= 300 && status < 400) return "The node redirects, which is not followed";
  const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding !== "identity") return "The node encodes its response, though nobody asked for that";
  const length = headers.get("content-length") ?? "";
  return /^\d+$/.test(length) && Number(length) > left ? tooLong(limit) : undefined;
}
