/**
 * Closes the idle and slow connections of a `node:http` server, and drains all connections at
 * shutdown.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Speed, Throughput } from "../throughput.ts";
import { TIMEOUTS } from "./shared.ts";

/** The minimum speed of a client, checked every `checkMs` milliseconds. */
export interface MinimumRate extends Speed {
  readonly checkMs: number;
}

interface ClientConnection {
  bytesWritten: number;
  bytesRead: number;
  /** The time of the last check at which the client had sent nothing after its last request. */
  lastQuietAt: number;
  /** The time of the last check at which a response was being sent. */
  lastRespondingAt: number;
  /** The speed at which the client takes what is queued for it. */
  readSpeed?: Throughput | undefined;
  /** The speed at which the content of the last request arrives. */
  uploadSpeed?: Throughput | undefined;
}

/** The content of a request, of which `received` bytes have arrived. */
export interface CountedMessage extends IncomingMessage {
  readonly received: number;
}

const DRAIN_INTERVAL_MS = 20;

const lastResponses = new WeakMap<Socket, ServerResponse>();

/** The response to the last request of a connection, until it is sent. */
export function pendingResponse(socket: Socket): ServerResponse | undefined {
  const last = lastResponses.get(socket);
  return last?.writableFinished ? undefined : last;
}

/** Tells whether the connection closes after the response to its last request. */
export const isClosing = (socket: Socket): boolean =>
  lastResponses.get(socket)?.shouldKeepAlive === false;

/** The minimum speed of the content of a request until it has arrived whole. */
const MIN_UPLOAD_RATE: Speed = { bytes: 65_536, timeMs: TIMEOUTS.head + TIMEOUTS.content };

export class Connections {
  readonly #connections = new Map<Socket, ClientConnection>();
  /** The connections with another protocol, whose ends the server waits for. */
  readonly #released = new Set<Socket>();
  readonly #onLate: (socket: Socket) => void;
  readonly #slowest: MinimumRate;
  readonly #timer: ReturnType<typeof setInterval>;
  isEnding = false;
  /** @param onLate called if the content of a request arrives too slowly */
  constructor(
    onLate: (socket: Socket) => void,
    slowest: MinimumRate = { bytes: 10_000, timeMs: 10_000, checkMs: TIMEOUTS.check },
  ) {
    this.#onLate = onLate;
    this.#slowest = slowest;
    // Blank lines from a client reset `keepAliveTimeout`, so a timer checks the connections
    // instead. They count as the start of a head.
    this.#timer = setInterval(() => this.#check(performance.now()), slowest.checkMs);
    this.#timer.unref();
  }

  add(socket: Socket): void {
    // Before the first response, `headersTimeout` applies, which sends a 408 response.
    this.#connections.set(socket, {
      bytesWritten: 0,
      bytesRead: 0,
      lastQuietAt: Infinity,
      lastRespondingAt: Infinity,
    });
    socket.once("close", () => this.#connections.delete(socket));
  }

  /** Hands the connection over to another protocol. */
  release(socket: Socket): void {
    this.#connections.delete(socket);
    // It may have been lost while the service looked at the handshake.
    if (socket.destroyed) return;
    this.#released.add(socket);
    socket.once("close", () => this.#released.delete(socket));
  }

  addResponse(response: ServerResponse): void {
    const { socket } = response.req;
    const connection = this.#connections.get(socket);
    if (!connection) return;
    lastResponses.set(socket, response);
    connection.uploadSpeed = hasContent(response.req)
      ? new Throughput(MIN_UPLOAD_RATE, 0, performance.now())
      : undefined;
    if (this.isEnding) response.shouldKeepAlive = false;
  }

  /** The responses that are not begun yet announce the end (RFC 9112, section 9.6). */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.isEnding = true;
    for (const socket of this.#connections.keys()) {
      const last = lastResponses.get(socket);
      if (last && !last.headersSent) last.shouldKeepAlive = false;
    }
    const until = performance.now() + TIMEOUTS.grace;
    const sockets = this.#connections;
    do {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_INTERVAL_MS));
      for (const socket of sockets.keys()) if (!this.#isResponding(socket)) socket.destroy();
    } while (sockets.size + this.#released.size > 0 && performance.now() < until);
    for (const socket of [...sockets.keys(), ...this.#released]) socket.destroy();
  }

  #isResponding(socket: Socket): boolean {
    return socket.writableLength > 0 || pendingResponse(socket) !== undefined;
  }

  #check(now: number): void {
    for (const [socket, connection] of this.#connections) {
      limitSilence(socket);
      this.#checkReading(socket, connection, now);
      this.#checkContent(socket, connection, now);
      this.#checkIdle(socket, connection, now);
    }
  }

  #checkReading(socket: Socket, connection: ClientConnection, now: number): void {
    const bytes = bytesTaken(socket);
    if (bytes === undefined) {
      connection.readSpeed = undefined;
      return;
    }
    connection.readSpeed ??= new Throughput(this.#slowest, bytes, now);
    if (connection.readSpeed.isTooLow(bytes, now)) socket.destroy();
  }

  #checkIdle(socket: Socket, connection: ClientConnection, now: number): void {
    const { bytesWritten, bytesRead } = socket;
    if (this.#isResponding(socket) || bytesWritten !== connection.bytesWritten) {
      connection.bytesWritten = bytesWritten;
      connection.bytesRead = bytesRead;
      connection.lastQuietAt = now;
      connection.lastRespondingAt = now;
    } else if (bytesRead === connection.bytesRead) connection.lastQuietAt = now;
    if (now - connection.lastQuietAt > TIMEOUTS.head) socket.destroy();
    if (now - connection.lastRespondingAt > TIMEOUTS.idle) socket.destroy();
  }

  /** After the response, `limitContent` applies. */
  #checkContent(socket: Socket, connection: ClientConnection, now: number): void {
    const { uploadSpeed } = connection;
    const pending = pendingResponse(socket);
    if (!uploadSpeed || !pending) return;
    const message = pending.req as CountedMessage;
    if (message.complete || message.destroyed) return;
    // An app that does not read stops the client.
    if (message.readableLength > 0) {
      connection.uploadSpeed = new Throughput(MIN_UPLOAD_RATE, message.received, now);
    } else if (uploadSpeed.isTooLow(message.received, now)) {
      connection.uploadSpeed = undefined;
      this.#onLate(socket);
    }
  }
}

/**
 * A client may wait for a slow response, so the timeout applies only while bytes are queued for
 * the client.
 */
function limitSilence(socket: Socket): void {
  const timeout = socket.writableLength > 0 ? TIMEOUTS.silence : 0;
  if ((socket.timeout ?? 0) !== timeout) socket.setTimeout(timeout);
}

function bytesTaken(socket: Socket): number | undefined {
  type Handle = { readonly bytesWritten: number; readonly writeQueueSize: number };
  const { _handle: handle } = socket as { _handle?: Handle | null };
  if (!handle || socket.writableLength === 0) return undefined;
  return "writeQueueSize" in handle
    ? handle.bytesWritten - handle.writeQueueSize
    : socket.bytesWritten - socket.writableLength;
}

export const hasContent = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
