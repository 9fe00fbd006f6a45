/**
 * The responses and notifications for a client: their order, and the wait for a client that reads
 * slowly.
 *
 * @module
 */
import type { Peer } from "../http/socket.ts";
import { type Speed, Throughput } from "../throughput.ts";
import type { Subscription } from "./subscription.ts";

/** With more bytes that wait for the client, nothing is read from the node. */
const FULL_MAX = 65_536;
const CHARACTER_BYTES_MAX = 3;

/** A client for which so much waits must read at least so much. */
const MIN_READ_RATE: Speed = { bytes: 1, timeMs: 25_000 };
const DRAIN_INTERVAL_MS = 64;

interface OutboxEvents {
  onSend(): void;
  /** More waits than before. */
  onGrowth(): void;
  /** The client reads nothing. */
  onStuck(): void;
}

/**
 * A response waits in `#readyLength` until most of those before have been read, a notification in
 * `#deferredLength` until our response has been sent, and both then in `unsentBytes` of the peer.
 * What the client has read of them is `#queuedBytes` without `unsentBytes`.
 */
export class Outbox {
  readonly #peer: Peer;
  readonly #events: OutboxEvents;
  /** The number of characters of responses that wait until those before have been read. */
  #readyLength = 0;
  /** The largest number of bytes that the response which was sent last may have. */
  #responseBytes = 0;
  /** The number of characters of notifications that wait for our response. */
  #deferredLength = 0;
  /** The number of bytes that had to wait, whether the client has read them or not. */
  #queuedBytes = 0;
  /** The highest number of those bytes that the client had read at a check. */
  #readBefore = 0;
  /** Resolves when the responses so far have been sent. */
  sending: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(peer: Peer, events: OutboxEvents) {
    this.#peer = peer;
    this.#events = events;
  }

  /** The number of bytes that the client has not read, and of characters that are not sent yet. */
  get waiting(): number {
    return this.#peer.unsentBytes + this.#readyLength + this.#deferredLength;
  }

  /** The number of bytes that had to wait, and that the client has read. */
  get #readBytes(): number {
    return this.#queuedBytes - this.#peer.unsentBytes;
  }

  /** Tells whether the client has to read before more is sent. */
  get isFull(): boolean {
    return this.#peer.unsentBytes > FULL_MAX;
  }

  /** Tells whether the client has read since the last call of this method. */
  noteProgress(): boolean {
    const read = this.#readBytes, before = this.#readBefore;
    this.#readBefore = Math.max(read, before);
    return read > before;
  }

  /** Returns how much of what waits may belong to responses. */
  takeResponseLength(): number {
    if (!this.isFull) this.#responseBytes = 0;
    return this.#readyLength + this.#responseBytes;
  }

  /** Sends a response when the client has read most of those before. */
  respond(text: string): void {
    this.#readyLength += text.length;
    const send = () => {
      this.#readyLength -= text.length;
      this.#responseBytes = CHARACTER_BYTES_MAX * text.length;
      this.#send(text);
      // No further message may follow, which would find out that the client reads nothing.
      if (!this.#peer.hidesProgress) void this.drain();
    };
    if (this.#readyLength === text.length && !this.isFull) return send();
    this.#events.onGrowth();
    this.sending = this.sending.then(() => this.drain()).then(send);
  }

  /** Sends a notification. Resolves when the client can take the next one. */
  notify(text: string): Promise<void> {
    this.#send(text);
    return this.drain();
  }

  /** Keeps a notification that has to wait for a response. Returns false if it need not wait. */
  keep(text: string, subscription: Subscription): boolean {
    if (!subscription.keep(text)) return false;
    this.#deferredLength += text.length;
    this.#events.onGrowth();
    return true;
  }

  /** Sends the notifications that have waited for a response. */
  release(deferred: readonly Subscription[]): void {
    for (const subscription of deferred) {
      for (const text of subscription.release()) {
        this.#deferredLength -= text.length;
        this.#send(text);
      }
    }
  }

  /** Waits until at most `most` bytes wait for the client. */
  async drain(most: number = FULL_MAX): Promise<void> {
    let throughput: Throughput | undefined;
    let interval = 1;
    while (!this.#isClosed && this.#peer.unsentBytes > most) {
      const now = performance.now();
      const read = this.#readBytes;
      throughput ??= new Throughput(MIN_READ_RATE, read, now);
      if (throughput.isTooLow(read, now)) return this.#events.onStuck();
      await new Promise((resolve) => setTimeout(resolve, interval));
      interval = Math.min(2 * interval, DRAIN_INTERVAL_MS);
    }
  }

  close(): void {
    this.#isClosed = true;
  }

  #send(text: string): void {
    if (this.#isClosed) return;
    this.#events.onSend();
    const { unsentBytes } = this.#peer;
    this.#peer.send(text);
    this.#queuedBytes += this.#peer.unsentBytes - unsentBytes;
    this.#events.onGrowth();
  }
}
