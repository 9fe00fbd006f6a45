/**
 * The connections of a server of `node:http`: cuts those on which nothing is asked, and ends all of
 * them without cutting an answer short.
 *
 * @module
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { LIMITS } from "./limits.ts";

/** The connections a server has. */
export interface Connections {
  /** Takes up a new connection. */
  watch(socket: Socket): void;
  /** Takes up an answer that is not there yet, or waits behind another, until it is through. */
  watchAnswer(response: ServerResponse): void;
  /** The answer that is waited for on a connection, the last one where there are several. */
  underWay(socket: Socket): ServerResponse | undefined;
  /**
   * Ends all connections: those that are idle or half-sent at once, others after their answer, or
   * when the grace period is over.
   */
  end(): Promise<void>;
}

/** What is known of a connection. */
interface Connection {
  /** Answers that are waited for. */
  open: number;
  /** The last of them; one that is through is let go of, or it would grow old in memory. */
  last?: ServerResponse | undefined;
  /** How much had been written when it was last looked, in bytes. */
  written: number;
  /** When that was last seen to have grown, in milliseconds; nothing where it never was. */
  idleSince?: number;
}

/** How often it is looked whether answers are through, in milliseconds. */
const LOOK = 20;

/** Whether an answer is waited for on a connection, or still to be written. */
const isAnswering = (socket: Socket, { open }: Connection): boolean =>
  open > 0 || socket.writableLength > 0;

/** Makes a server's connections. */
export function createConnections(): Connections {
  const connections = new Map<Socket, Connection>();

  // The server's own limit between requests would set a timer for each of them, and blank lines keep
  // it from running out; for a client that does not read its answer it has none.
  const cutIdle = setInterval(() => {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      if (isAnswering(socket, connection)) {
        // Only here: a limit on every connection costs every request.
        if (socket.timeout !== LIMITS.silence) socket.setTimeout(LIMITS.silence);
      } else if (socket.bytesWritten !== connection.written) {
        connection.written = socket.bytesWritten;
        connection.idleSince = now;
      } else if (now - (connection.idleSince ?? now) > LIMITS.head) socket.destroy();
    }
  }, LIMITS.check);
  cutIdle.unref();

  function through(this: ServerResponse) {
    const connection = connections.get(this.req.socket);
    if (connection && --connection.open === 0) connection.last = undefined;
  }

  return {
    watch(socket) {
      connections.set(socket, { open: 0, written: 0 });
      socket.once("close", () => connections.delete(socket));
    },
    watchAnswer(response) {
      const connection = connections.get(response.req.socket);
      if (!connection) return;
      connection.open++;
      connection.last = response;
      response.on("finish", through);
    },
    underWay: (socket) => connections.get(socket)?.last,
    async end() {
      clearInterval(cutIdle);
      const until = performance.now() + LIMITS.grace;
      do {
        await new Promise((resolve) => setTimeout(resolve, LOOK));
        for (const [socket, connection] of connections) {
          if (!isAnswering(socket, connection)) socket.destroy();
        }
      } while (connections.size > 0 && performance.now() < until);
      for (const socket of connections.keys()) socket.destroy();
    },
  };
}
