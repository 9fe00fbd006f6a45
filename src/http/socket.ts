/**
 * WebSocket connections (RFC 6455) as the service sees them. The adapters make them, since each
 * runtime has its own.
 *
 * @module
 */
import { ResponseClass } from "./response.ts";

/** The other end of a connection: a client, or the node. */
export interface Peer {
  /** The number of bytes that wait to be sent. */
  readonly unsentBytes: number;
  /** True if a message that is being sent counts whole until its last byte has left. */
  readonly hidesProgress?: boolean;
  /** The number of bytes of a message that is not whole yet, if the runtime tells it. */
  readonly unfinishedBytes?: number;
  send(text: string): void;
  ping(): void;
  /** Stops reading, if the runtime can. Messages that have been read already still arrive. */
  pause(): void;
  resume(): void;
  close(code: number, reason: string): void;
  /** Ends the connection without a closing handshake. */
  terminate(): void;
}

export interface PeerEvents {
  onText(text: string): void;
  /** A message has arrived that is not marked as text. */
  onBinary(bytes: Uint8Array): void;
  /** A ping or a pong has arrived. */
  onControl(): void;
  /** Called once, whoever ends the connection. */
  onClose(): void;
}

export interface ConnectOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** A certificate authority in PEM, in addition to those of the runtime. */
  readonly ca?: string | undefined;
  /** The address to connect to. @default one of the server's name */
  readonly address?: string | undefined;
}

/** Rejects if there is no connection within five seconds. */
export type Connect = (url: URL, options: ConnectOptions, events: PeerEvents) => Promise<Peer>;

export interface Accepted {
  readonly protocol: string | undefined;
  readonly open: (peer: Peer) => PeerEvents;
  /** Called instead of `open` if the handshake cannot be completed. */
  readonly drop: () => void;
}

/** The longest message of a client, and of the node, in bytes. */
export const MESSAGE_MAX = 1_048_576, NODE_MESSAGE_MAX = 8_388_608;

/** The number of frames of a message. */
export const FRAGMENTS_MAX = 1024;

/** The handshake of a request, which the adapter completes if a handler has accepted it. */
export class Upgrade {
  accepted: Accepted | undefined;
  #isOver = false;

  /**
   * `protocol` is the value of `Sec-WebSocket-Protocol` in the response, and `open` is called with
   * the client when the handshake is complete.
   */
  accept(accepted: Accepted): Response {
    if (this.#isOver) accepted.drop();
    else this.accepted = accepted;
    return new ResponseClass(null, { status: 101 });
  }

  /** Returns what was accepted, once: whoever takes it calls `open` or `drop`. */
  take(): Accepted | undefined {
    const { accepted } = this;
    this.accepted = undefined;
    return accepted;
  }

  /**
   * Drops what was accepted, or will be, unless it has been taken: the host has replaced the
   * response.
   */
  drop(): void {
    this.#isOver = true;
    this.take()?.drop();
  }
}
