/**
 * The connections of a server of `node:http`: cuts those on which nothing moves, and ends all of them
 * without cutting an answer short.
 *
 * @module
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { LIMITS } from "./limits.ts";

/** The connections a server has. */
export interface Connections {
  /** Takes up a new connection. */
  add(socket: Socket): void;
  /** Takes up the answer to a request on one of them. */
  addAnswer(response: ServerResponse): void;
  /** The last answer that is still to be sent on a connection. */
  pendingAnswer(socket: Socket): ServerResponse | undefined;
  /** Whether a connection is closed after the last answer on it. */
  isClosing(socket: Socket): boolean;
  /**
   * Ends all connections: those that are idle or half-sent at once, others after their answer, or
   * when the grace period is over.
   */
  end(): Promise<void>;
}

/** What is known of a connection. */
interface Connection {
  /** The answer to the last request on it. */
  last?: ServerResponse;
  /** How much had been written when it was last looked at, in bytes. */
  written: number;
  /** When that had last changed, by the monotonic clock in milliseconds; never for a new connection. */
  idleSince: number;
}

/** How often connections are looked at while they are ended, in milliseconds. */
const DRAIN_INTERVAL = 20;

/** Makes a server's connections. */
export function createConnections(): Connections {
  const connections = new Map<Socket, Connection>();

  const pendingAnswer = (socket: Socket) => {
    const last = connections.get(socket)?.last;
    return last?.writableFinished ? undefined : last;
  };
  const isAnswering = (socket: Socket) =>
    socket.writableLength > 0 || pendingAnswer(socket) !== undefined;

  // Blank lines keep the server's own `keepAliveTimeout` from running out.
  const cutIdle = setInterval(() => {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      // A client that does not read is cut, one that waits for the app is not.
      const timeout = socket.writableLength > 0 ? LIMITS.silence : 0;
      if ((socket.timeout ?? 0) !== timeout) socket.setTimeout(timeout);
      if (isAnswering(socket) || socket.bytesWritten !== connection.written) {
        connection.written = socket.bytesWritten;
        connection.idleSince = now;
      } else if (now - connection.idleSince > LIMITS.head) socket.destroy();
    }
  }, LIMITS.check);
  cutIdle.unref();

  return {
    add(socket) {
      // Until it has had an answer, `headersTimeout` cuts it, with one.
      connections.set(socket, { written: 0, idleSince: Infinity });
      socket.once("close", () => connections.delete(socket));
    },
    addAnswer(response) {
      const connection = connections.get(response.req.socket);
      if (connection) connection.last = response;
    },
    pendingAnswer,
    isClosing: (socket) => connections.get(socket)?.last?.shouldKeepAlive === false,
    async end() {
      clearInterval(cutIdle);
      const until = performance.now() + LIMITS.grace;
      do {
        await new Promise((resolve) => setTimeout(resolve, DRAIN_INTERVAL));
        for (const socket of connections.keys()) {
          if (!isAnswering(socket)) socket.destroy();
        }
      } while (connections.size > 0 && performance.now() < until);
      for (const socket of connections.keys()) socket.destroy();
    },
  };
}
