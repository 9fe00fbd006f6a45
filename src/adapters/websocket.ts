/**
 * WebSocket with the package `ws`: servers on Node and Deno, and clients of the node everywhere.
 * The package is loaded at the first handshake.
 *
 * @module
 */
import { encodeText } from "../bytes.ts";
import { FAMILIES, sharedLookup, trustOf } from "../node/connection.ts";
import { OWN_NAME } from "../node/own-headers.ts";
import { IS_DENO } from "../platform.ts";
import { IncomingMessage, type Server, ServerResponse } from "node:http";
import type { LookupFunction, Socket } from "node:net";
import type WebSocket from "ws";
import {
  type Connect,
  FRAGMENTS_MAX,
  MESSAGE_MAX,
  NODE_MESSAGE_MAX,
  type Peer,
  type PeerEvents,
  type Upgrade,
} from "../http/socket.ts";
import { type Connections, hasContent, pendingResponse } from "./connections.ts";

const HANDSHAKE_MS = 5000;

/** No compression: a short message could become a very long one. */
const MESSAGE_LIMITS = { perMessageDeflate: false, maxFragments: FRAGMENTS_MAX };

export class UpgradableMessage extends IncomingMessage {
  /** Completes the handshake, unless the server closes; present if the request is one. */
  declare takeOver?: (upgrade: Upgrade) => Promise<boolean>;
  /** Whether the parser has found that the request asks for another protocol. */
  declare asksForOther: boolean;

  set upgrade(asksForOther: boolean) {
    this.asksForOther = asksForOther;
  }

  /**
   * `node:http` asks this before it hands the connection over. Java's HTTP client sends `h2c` with
   * its first request, which may have content. A response that is being sent would never end, since
   * its connection tells no more when it can take the next bytes.
   */
  get upgrade(): boolean {
    const { asksForOther, method, httpVersion, headers, socket } = this;
    return asksForOther && method === "GET" && httpVersion === "1.1" && !hasContent(this) &&
      headers.upgrade?.toLowerCase() === "websocket" && !pendingResponse(socket);
  }
}

/** Responds to handshakes. A handshake behind a pending response is an ordinary request. */
export function serveUpgrades(
  http: Server,
  connections: Connections,
  respond: (message: IncomingMessage, response: ServerResponse) => void,
): void {
  http.on("upgrade", (message: UpgradableMessage, stream, head) => {
    const socket = stream as Socket;
    socket.on("error", () => {});
    const response = new ServerResponse(message);
    // The parser has left the connection, so it ends with the response.
    response.shouldKeepAlive = false;
    connections.addResponse(response);
    message.takeOver = async (upgrade) => {
      // If this fails, the connection can still get a response.
      const { WebSocketServer } = await import("ws");
      if (connections.isEnding) return false;
      const { protocol, open, drop } = upgrade.take()!;
      let isOpen = false;
      try {
        const server = new WebSocketServer({
          ...MESSAGE_LIMITS,
          noServer: true,
          clientTracking: false,
          maxPayload: MESSAGE_MAX,
          handleProtocols: () => protocol ?? false,
        });
        connections.release(socket);
        response.detachSocket(socket);
        server.handleUpgrade(message, socket, head, (client: WebSocket) => {
          isOpen = true;
          const peer = new WsPeer(client);
          peer.attach(open(peer));
        });
      } finally {
        if (!isOpen) drop();
      }
      return true;
    };
    response.assignSocket(socket);
    response.once("finish", () => socket.destroySoon());
    respond(message, response);
  });
}

export const connect: Connect = async (url, options, events) => {
  const { default: WebSocket } = await import("ws");
  const client = new WebSocket(url, [], {
    ...MESSAGE_LIMITS,
    headers: { "user-agent": OWN_NAME, ...options.headers },
    ...trustFor(options.ca),
    ...FAMILIES,
    ...lookupOf(options.address),
    maxPayload: NODE_MESSAGE_MAX,
    handshakeTimeout: HANDSHAKE_MS,
  });
  const peer = new WsPeer(client);
  // Bun's own `ws` has neither this limit nor that of a message.
  const timer = setTimeout(() => client.terminate(), HANDSHAKE_MS);
  try {
    await new Promise((resolve, reject) => {
      client.once("open", resolve).once("error", reject)
        .once("close", () => reject(new Error("the connection has ended")));
    });
  } finally {
    clearTimeout(timer);
  }
  peer.attach(events);
  return peer;
};

/** Keeps the name for the header `Host` and for TLS. */
function lookupOf(address: string | undefined): object {
  if (address === undefined) return sharedLookup();
  const family = address.includes(":") ? 6 : 4;
  const lookup: LookupFunction = (_name, { all }, callback) =>
    all ? callback(null, [{ address, family }]) : callback(null, address, family);
  return { lookup };
}

/** Bun's own `ws` takes `tls`. */
function trustFor(ca: string | undefined): object {
  if (ca === undefined) return {};
  const trust = trustOf(ca);
  return { ...trust, tls: { ca: trust.ca } };
}

/** What Node's sockets know of the bytes that wait. Other sockets lack some of it. */
interface SocketParts {
  readonly _handle?: { readonly writeQueueSize: number } | null;
  /** `writelen` is the length of the write that is in progress. */
  readonly _writableState?: { readonly writelen: number };
  readonly encrypted?: boolean;
  readonly bytesRead?: number;
}

const internalsOf = (socket: WebSocket): SocketParts =>
  (socket as { readonly _socket?: SocketParts })._socket ?? {};

class WsPeer implements Peer {
  readonly hidesProgress = IS_DENO;
  readonly #socket: WebSocket;
  /** The number of bytes that had been read when the last message was whole. */
  #wholeAt = 0;
  constructor(socket: WebSocket) {
    this.#socket = socket;
    // Without a listener, an error would end the process. `close` follows each error.
    socket.on("error", () => {});
  }

  /**
   * `ws` counts a message until its last byte has left. Node tells what has left of it;
   * Deno 2.9 does not.
   */
  get unsentBytes(): number {
    const { bufferedAmount } = this.#socket;
    const { _handle: handle, _writableState: state, encrypted } = internalsOf(this.#socket);
    if (!handle || !state || encrypted || IS_DENO) return bufferedAmount;
    return bufferedAmount - state.writelen + handle.writeQueueSize;
  }

  get unfinishedBytes(): number {
    return Math.max(0, (internalsOf(this.#socket).bytesRead ?? 0) - this.#wholeAt);
  }

  attach(events: PeerEvents): void {
    this.#wholeAt = internalsOf(this.#socket).bytesRead ?? 0;
    this.#socket.on("message", (data: Uint8Array, isBinary: boolean) => {
      this.#wholeAt = internalsOf(this.#socket).bytesRead ?? 0;
      if (data.length > NODE_MESSAGE_MAX) this.terminate();
      else if (isBinary) events.onBinary(data);
      else events.onText(String(data));
    });
    for (const name of ["ping", "pong"]) {
      this.#socket.on(name, (data: Uint8Array) => {
        // A control frame is part of no message; its head and mask have six bytes.
        this.#wholeAt += data.length + 6;
        events.onControl();
      });
    }
    this.#socket.once("close", () => events.onClose());
  }

  /** Node reserves three bytes for each character of a string that waits. */
  send(text: string): void {
    this.#socket.send(encodeText(text), { binary: false });
  }

  ping(): void {
    this.#socket.ping();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
