/**
 * The messages that a client has sent, and that wait for a response.
 *
 * @module
 */
import type { Peer } from "../http/socket.ts";

/** The number of messages of a client that are responded to at the same time. */
const PENDING_MAX = 16;

/** The number of characters of messages that wait for others of the same client. */
const UNREAD_MAX = 1_048_576;
/** While more waits, nothing is read from the client, not even a ping. */
const PAUSED_MIN = 262_144;
/** What a message takes besides its characters. */
const OVERHEAD = 64;

export class Inbox {
  readonly #peer: Peer;
  readonly #respond: (message: string) => Promise<void>;
  readonly #unread: string[] = [];
  /** The number of characters that wait, and what their messages take besides. */
  unreadLength = 0;
  readonly #pending = new Set<Promise<void>>();
  /** The number of characters of the messages that are responded to. */
  pendingLength = 0;
  #isClosed = false;

  /** @param respond never rejects */
  constructor(peer: Peer, respond: (message: string) => Promise<void>) {
    this.#peer = peer;
    this.#respond = respond;
  }

  get isPaused(): boolean {
    return this.unreadLength > PAUSED_MIN;
  }

  /** Returns false if too much waits. */
  add(message: string): boolean {
    if (this.#isClosed) return true;
    this.#unread.push(message);
    this.unreadLength += message.length + OVERHEAD;
    // A runtime that cannot stop reading reads on.
    if (this.unreadLength > UNREAD_MAX + message.length) return false;
    this.#next();
    if (this.isPaused) this.#peer.pause();
    return true;
  }

  /** Resolves when all messages have been responded to. */
  async drain(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Drops what waits, and all that comes. */
  close(): void {
    this.#isClosed = true;
    // What is not read would hide that the client leaves.
    if (this.isPaused) this.#peer.resume();
    this.#unread.length = 0;
    this.unreadLength = 0;
  }

  #next(): void {
    while (this.#pending.size < PENDING_MAX) {
      const message = this.#unread.shift();
      if (message === undefined) return;
      this.unreadLength -= message.length + OVERHEAD;
      const { length } = message;
      this.pendingLength += length;
      const responding = this.#respond(message).then(() => {
        this.#pending.delete(responding);
        this.pendingLength -= length;
        const wasPaused = this.isPaused;
        this.#next();
        if (wasPaused && !this.isPaused) this.#peer.resume();
      });
      this.#pending.add(responding);
    }
  }
}
