/**
 * Ends a server's connections without cutting an answer short.
 *
 * @module
 */
import type { Socket } from "node:net";

/** What a server does to be able to stop. */
export interface Drain {
  /** Counts an answer as long as it is being made. */
  count<T>(answer: T | Promise<T>): T | Promise<T>;
  /** Remembers a connection as long as it is open. */
  watch(socket: Socket): void;
  /** Ends all connections: those that are idle or half-sent at once, others after their answer. */
  end(): Promise<void>;
}

/** How often it is looked whether answers are through, in milliseconds. */
const LOOK = 20;

/**
 * Makes a drain.
 *
 * @param grace how long answers may take to get through, in milliseconds
 */
export function createDrain(grace: number): Drain {
  const sockets = new Set<Socket>();
  let answering = 0;
  return {
    count(answer) {
      if (!(answer instanceof Promise)) return answer;
      answering++;
      return answer.finally(() => answering--);
    },
    watch(socket) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    },
    async end() {
      const until = performance.now() + grace;
      do {
        await new Promise((resolve) => setTimeout(resolve, LOOK));
        if (answering > 0) continue;
        for (const socket of sockets) if (socket.writableLength === 0) socket.destroy();
      } while (sockets.size > 0 && performance.now() < until);
      for (const socket of sockets) socket.destroy();
    },
  };
}
