/**
 * A client that reads its notifications as Server-Sent Events.
 *
 * @module
 */
import { type Bytes, encodeText } from "../bytes.ts";
import { COMMENT_INTERVAL_MS, writeEvent, writeRetry } from "../http/event-stream.ts";
import type { PeerEvents } from "../http/socket.ts";
import type { SessionPeer } from "./session.ts";

export class SsePeer implements SessionPeer {
  readonly hasOneSubscription: true = true;
  readonly pingInterval: number = COMMENT_INTERVAL_MS;
  #events: PeerEvents | undefined;
  #controller!: ReadableStreamDefaultController<Bytes>;
  /** What the client has not asked for yet, and its length in bytes. */
  readonly #parts: Bytes[] = [];
  unsentBytes: number = 0;
  #isWanted = false;
  #readAt = performance.now();
  #isClosing = false;
  #hasEnded = false;
  readonly body: ReadableStream<Bytes> = new ReadableStream<Bytes>({
    start: (controller) => {
      this.#controller = controller;
    },
    pull: () => {
      this.#isWanted = true;
      this.#flush();
    },
    cancel: () => {
      this.#hasEnded = true;
      this.leave();
    },
  }, { highWaterMark: 0 });

  constructor() {
    this.#write(writeRetry());
  }

  get readAt(): number {
    return this.unsentBytes === 0 ? performance.now() : this.#readAt;
  }

  attach(events: PeerEvents): void {
    this.#events = events;
  }

  /** The client has disconnected. */
  leave(): void {
    this.terminate();
    this.#events?.onClose();
  }

  send(json: string): void {
    this.#write(writeEvent(json));
  }

  ping(): void {
    this.#write(":\n\n");
  }

  /** The client sends nothing that could be read later. */
  pause(): void {}

  resume(): void {}

  close(_code: number, reason: string): void {
    this.#isClosing = true;
    this.#write(writeEvent(JSON.stringify({ reason }), "event: end\n"));
  }

  terminate(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#controller.close();
  }

  #write(text: string): void {
    const part = encodeText(text);
    this.#parts.push(part);
    this.unsentBytes += part.byteLength;
    this.#flush();
  }

  #flush(): void {
    const part = this.#isWanted && !this.#hasEnded ? this.#parts.shift() : undefined;
    if (!part) return;
    this.#isWanted = false;
    this.#readAt = performance.now();
    this.unsentBytes -= part.byteLength;
    this.#controller.enqueue(part);
    if (this.#isClosing && this.unsentBytes === 0) this.terminate();
  }
}
