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
  /** Takes up a request that has arrived whole or in part, until its answer is through. */
  begin(response: ServerResponse): void;
  /** The answer that is under way on a connection, the last one where there are several. */
  underWay(socket: Socket): ServerResponse | undefined;
  /**
   * Ends all connections: those that are idle or half-sent at once, others after their answer, or
   * when the grace period is over.
   */
  end(): Promise<void>;
}

/** What is known of a connection. */
interface Connection {
  /** The last answer, until it is seen to be through; those before it were through before. */
  last?: ServerResponse | undefined;
  /** When that was seen, in milliseconds; nothing before the first. */
  idleSince?: number;
}

/** How often it is looked whether answers are through, in milliseconds. */
const LOOK = 20;

/** Makes a server's connections. */
export function createConnections(): Connections {
  const connections = new Map<Socket, Connection>();

  // Blank lines between requests begin no request, but keep the server's own limits from running out;
  // and the server has no limit for a client that does not read its answer.
  const cutIdle = setInterval(() => {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      if (isBusy(connection)) {
        // Only here: a limit on every connection costs every request.
        if (socket.timeout !== LIMITS.silence) socket.setTimeout(LIMITS.silence);
      } else if (connection.last) {
        connection.last = undefined;
        connection.idleSince = now;
      } else if (now - (connection.idleSince ?? now) > LIMITS.head) socket.destroy();
    }
  }, LIMITS.check);
  cutIdle.unref();

  return {
    watch(socket) {
      connections.set(socket, {});
      socket.once("close", () => connections.delete(socket));
    },
    begin(response) {
      const connection = response.socket && connections.get(response.socket);
      if (connection) connection.last = response;
    },
    underWay(socket) {
      const connection = connections.get(socket);
      return connection && isBusy(connection) ? connection.last : undefined;
    },
    async end() {
      clearInterval(cutIdle);
      const until = performance.now() + LIMITS.grace;
      do {
        await new Promise((resolve) => setTimeout(resolve, LOOK));
        for (const [socket, connection] of connections) {
          if (!isBusy(connection) && socket.writableLength === 0) socket.destroy();
        }
      } while (connections.size > 0 && performance.now() < until);
      for (const socket of connections.keys()) socket.destroy();
    },
  };
}

/** Whether an answer is not through yet. */
function isBusy({ last }: Connection): boolean {
  return last !== undefined && !last.writableFinished;
}
