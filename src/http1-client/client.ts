/**
 * A client of HTTP/1.1 on sockets. It sends a request once where that matters, reads an answer no faster than somebody
 * wants it, and follows, decodes and remembers nothing. The clients of the runtimes do not promise that: the `fetch`
 * of Deno 2.9 and that of Bun 1.4 send a request again that was read but not answered.
 *
 * @module
 */
import type { Socket } from "node:net";
import {
  type ClientAnswer,
  type ClientRequest,
  type Connection,
  createConnection,
  StaleError,
} from "./connection.ts";

/** Opens a socket to the origin of a URL. */
export type OpenSocket = (url: URL) => Socket;

/** Sends requests. */
export interface Client {
  /** Sends a request that may be sent again where a kept connection turns out to be closed. */
  send(request: ClientRequest): Promise<ClientAnswer>;
  /**
   * Sends a request that must not arrive twice, on a fresh connection.
   *
   * @param owner those with the same one share a connection, one after the other
   */
  sendOnce(request: ClientRequest, owner: object): Promise<ClientAnswer>;
}

/** How long a connection is kept for the next request, and for the next of its owner, in milliseconds. */
const IDLE_TIMEOUT = 4000, OWNED_TIMEOUT = 500;

/** Makes a client. */
export function createClient(open: OpenSocket): Client {
  /** Those that wait for a request, by origin; the last one that was used is used again first. */
  const idle = new Map<string, Connection[]>();
  const owned = new WeakMap<object, Connection>();

  const idleAt = ({ origin }: URL): Connection[] => {
    const kept = idle.get(origin) ?? [];
    if (!idle.has(origin)) idle.set(origin, kept);
    return kept;
  };

  const openFor = (request: ClientRequest): Promise<ClientAnswer> => {
    const connection = createConnection(open(request.url), IDLE_TIMEOUT);
    return sendOn(connection, request);
  };

  const sendOn = (connection: Connection, request: ClientRequest): Promise<ClientAnswer> =>
    connection.exchange(request, () => idleAt(request.url).push(connection));

  return {
    async send(request) {
      const kept = idleAt(request.url);
      let connection = kept.pop();
      while (connection && !(await connection.isFree())) connection = kept.pop();
      if (!connection) return await openFor(request);
      try {
        return await sendOn(connection, request);
      } catch (error) {
        if (!(error instanceof StaleError)) throw error;
        return await openFor(request);
      }
    },
    async sendOnce(request, owner) {
      const before = owned.get(owner);
      owned.delete(owner);
      const connection = before && await before.isFree()
        ? before
        : createConnection(open(request.url), OWNED_TIMEOUT);
      try {
        return await connection.exchange(request, () => owned.set(owner, connection));
      } catch (error) {
        throw error instanceof StaleError ? error.cause : error;
      }
    },
  };
}
