/**
 * Tracks the connections of a `node:http` server: closes idle ones, and drains all of them at the end.
 *
 * @module
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TIMEOUTS } from "./timeouts.ts";

/** The connections of a server. */
export interface Connections {
  add(socket: Socket): void;
  addAnswer(response: ServerResponse): void;
  /** The last answer on a connection, if it has not been sent. */
  pendingAnswer(socket: Socket): ServerResponse | undefined;
  /** Whether the connection will be closed after its last answer. */
  isClosing(socket: Socket): boolean;
  /** Closes each connection after its answer, but no later than `TIMEOUTS.grace`. */
  end(): Promise<void>;
}

interface Connection {
  lastAnswer?: ServerResponse;
  bytesWrittenBefore: number;
  /** The time of the last activity by `performance.now()`; `Infinity` before the first answer. */
  idleSince: number;
  /** What the system had taken of the answer when the client was last seen to read, and when that was. */
  read?: { readonly bytes: number; readonly at: number } | undefined;
}

/** How slow a client may be. */
export interface Slowest {
  /** What it has to read, in bytes, within a time in milliseconds. */
  readonly bytes: number;
  readonly time: number;
  /** How often that is looked at, in milliseconds. */
  readonly check: number;
}

const SLOWEST: Slowest = { bytes: 10_000, time: 10_000, check: TIMEOUTS.check };

/** What Node knows of a socket. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** How many bytes the system has taken; `undefined` if it has all. */
function bytesTaken(socket: Socket): number | undefined {
  const { _handle: handle } = socket as { _handle?: Handle | null };
  if (!handle || socket.writableLength === 0) return undefined;
  // Deno 2.9 tells when a write has ended, and nothing before.
  return "writeQueueSize" in handle
    ? handle.bytesWritten - handle.writeQueueSize
    : socket.bytesWritten - socket.writableLength;
}

const DRAIN_INTERVAL_MS = 20;

/** Starts to track the connections of a server. */
export function createConnections(slowest: Slowest = SLOWEST): Connections {
  const connections = new Map<Socket, Connection>();

  const pendingAnswer = (socket: Socket) => {
    const lastAnswer = connections.get(socket)?.lastAnswer;
    return lastAnswer?.writableFinished ? undefined : lastAnswer;
  };
  const isAnswering = (socket: Socket) =>
    socket.writableLength > 0 || pendingAnswer(socket) !== undefined;

  // `keepAliveTimeout` is not enough: a client that sends blank lines resets it.
  const idleTimer = setInterval(() => {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      // The timeout is for a client that does not read. One that waits for the app is not idle.
      const timeout = socket.writableLength > 0 ? TIMEOUTS.silence : 0;
      if ((socket.timeout ?? 0) !== timeout) socket.setTimeout(timeout);
      const bytes = bytesTaken(socket);
      const { read } = connection;
      if (bytes === undefined) connection.read = undefined;
      else if (!read || bytes - read.bytes >= slowest.bytes) connection.read = { bytes, at: now };
      else if (now - read.at > slowest.time) socket.destroy();
      if (isAnswering(socket) || socket.bytesWritten !== connection.bytesWrittenBefore) {
        connection.bytesWrittenBefore = socket.bytesWritten;
        connection.idleSince = now;
      } else if (now - connection.idleSince > TIMEOUTS.head) socket.destroy();
    }
  }, slowest.check);
  idleTimer.unref();

  return {
    add(socket) {
      // Before the first answer, `headersTimeout` applies, which answers with 408.
      connections.set(socket, { bytesWrittenBefore: 0, idleSince: Infinity });
      socket.once("close", () => connections.delete(socket));
    },
    addAnswer(response) {
      const connection = connections.get(response.req.socket);
      if (connection) connection.lastAnswer = response;
    },
    pendingAnswer,
    isClosing: (socket) => connections.get(socket)?.lastAnswer?.shouldKeepAlive === false,
    async end() {
      clearInterval(idleTimer);
      const until = performance.now() + TIMEOUTS.grace;
      do {
        await new Promise((resolve) => setTimeout(resolve, DRAIN_INTERVAL_MS));
        for (const socket of connections.keys()) {
          if (!isAnswering(socket)) socket.destroy();
        }
      } while (connections.size > 0 && performance.now() < until);
      for (const socket of connections.keys()) socket.destroy();
    },
  };
}
