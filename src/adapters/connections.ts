/**
 * Closes the idle and slow connections of a `node:http` server, and drains all connections at
 * shutdown.
 *
 * @module
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TIMEOUTS } from "./shared.ts";

/**
 * The minimum speed of a client, in `bytes` per `time` milliseconds, checked every `check`
 * milliseconds.
 */
export interface Slowest {
  readonly bytes: number;
  readonly time: number;
  readonly check: number;
}

interface Connection {
  lastResponse?: ServerResponse;
  isRefused: boolean;
  bytesWrittenBefore: number;
  idleSince: number;
  /**
   * The number of bytes that the client had taken when it last made progress, and the time of that
   * progress.
   */
  read?: { readonly bytes: number; readonly at: number } | undefined;
}

const DRAIN_INTERVAL_MS = 20;

export class Connections {
  readonly #connections = new Map<Socket, Connection>();
  readonly #slowest: Slowest;
  readonly #timer: ReturnType<typeof setInterval>;
  constructor(slowest: Slowest = { bytes: 10_000, time: 10_000, check: TIMEOUTS.check }) {
    this.#slowest = slowest;
    // Blank lines from a client reset `keepAliveTimeout`, so a timer checks the connections
    // instead.
    this.#timer = setInterval(() => this.#check(performance.now()), slowest.check);
    this.#timer.unref();
  }

  add(socket: Socket): void {
    // Before the first response, `headersTimeout` applies, which sends a 408 response.
    this.#connections.set(socket, { isRefused: false, bytesWrittenBefore: 0, idleSince: Infinity });
    socket.once("close", () => this.#connections.delete(socket));
  }

  addResponse(response: ServerResponse): void {
    const connection = this.#connections.get(response.req.socket);
    if (connection) connection.lastResponse = response;
  }

  pendingResponse(socket: Socket): ServerResponse | undefined {
    const last = this.#connections.get(socket)?.lastResponse;
    return last?.writableFinished ? undefined : last;
  }

  /**
   * The connection closes after its last response, so no further request counts (RFC 9112, section
   * 9.6).
   */
  isClosing(socket: Socket): boolean {
    const connection = this.#connections.get(socket);
    return connection?.isRefused === true || connection?.lastResponse?.shouldKeepAlive === false;
  }

  setClosing(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection) connection.isRefused = true;
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    const until = performance.now() + TIMEOUTS.grace;
    const sockets = this.#connections;
    do {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_INTERVAL_MS));
      for (const socket of sockets.keys()) if (!this.#isResponding(socket)) socket.destroy();
    } while (sockets.size > 0 && performance.now() < until);
    for (const socket of sockets.keys()) socket.destroy();
  }

  #isResponding(socket: Socket): boolean {
    return socket.writableLength > 0 || this.pendingResponse(socket) !== undefined;
  }

  #check(now: number): void {
    for (const [socket, connection] of this.#connections) {
      // A client may wait for a slow response, so the timeout applies only while bytes are queued
      // for the client.
      const timeout = socket.writableLength > 0 ? TIMEOUTS.silence : 0;
      if ((socket.timeout ?? 0) !== timeout) socket.setTimeout(timeout);
      const bytes = bytesTaken(socket);
      const { read } = connection;
      if (bytes === undefined) connection.read = undefined;
      else if (!read || bytes - read.bytes >= this.#slowest.bytes) {
        connection.read = { bytes, at: now };
      } else if (now - read.at > this.#slowest.time) socket.destroy();
      if (this.#isResponding(socket) || socket.bytesWritten !== connection.bytesWrittenBefore) {
        connection.bytesWrittenBefore = socket.bytesWritten;
        connection.idleSince = now;
      } else if (now - connection.idleSince > TIMEOUTS.head) socket.destroy();
    }
  }
}

function bytesTaken(socket: Socket): number | undefined {
  type Handle = { readonly bytesWritten: number; readonly writeQueueSize: number };
  const { _handle: handle } = socket as { _handle?: Handle | null };
  if (!handle || socket.writableLength === 0) return undefined;
  return "writeQueueSize" in handle
    ? handle.bytesWritten - handle.writeQueueSize
    : socket.bytesWritten - socket.writableLength;
}
