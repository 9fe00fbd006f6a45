/**
 * A client that reads its notifications as Server-Sent Events.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { writeEvent, writeRetry } from "../http/event-stream.ts";
import type { Peer, PeerEvents } from "../http/socket.ts";

const encoder = new TextEncoder();

export class EventPeer implements Peer {
  #events: PeerEvents | undefined;
  #controller!: ReadableStreamDefaultController<Bytes>;
  /** What the client has not asked for yet. */
  #text: string = writeRetry();
  #isWanted = false;
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
    cancel: () => this.leave(),
  }, { highWaterMark: 0 });

  get waiting(): number {
    return this.#text.length;
  }

  tell(events: PeerEvents): void {
    this.#events = events;
  }

  /** The client has disconnected. */
  leave(): void {
    this.#hasEnded = true;
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
    this.#text += text;
    this.#flush();
  }

  #flush(): void {
    if (!this.#isWanted || this.#hasEnded || this.#text === "") return;
    this.#isWanted = false;
    this.#controller.enqueue(encoder.encode(this.#text));
    this.#text = "";
    if (this.#isClosing) this.terminate();
  }
}
