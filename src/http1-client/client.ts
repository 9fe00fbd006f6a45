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

/** How a request is sent. */
export interface SendOptions {
  /** Whether it must not arrive twice: it is not sent again where a kept connection turns out to be closed. */
  readonly isOnce: boolean;
  /** Those with the same one share connections, which no others use. */
  readonly owner?: object | undefined;
}

/** Sends a request. */
export type Send = (request: ClientRequest, options: SendOptions) => Promise<ClientAnswer>;

/** How long a connection is kept for the next request, and for the next of what is sent once, in milliseconds. */
const IDLE_TIMEOUT = 4000, ONCE_TIMEOUT = 500;

/** Makes a client. */
export function createClient(open: OpenSocket): Send {
  /** Those that wait for a request, by origin and by owner; the last one that was used is used again first. */
  const idle = new Map<string, Connection[]>();
  const owned = new WeakMap<object, Connection[]>();

  const keptFor = ({ origin }: URL, owner: object | undefined): Connection[] => {
    const kept = (owner ? owned.get(owner) : idle.get(origin)) ?? [];
    if (owner) owned.set(owner, kept);
    else idle.set(origin, kept);
    return kept;
  };

  return async (request, { isOnce, owner }) => {
    const kept = keptFor(request.url, owner);
    const sendOn = (connection: Connection) =>
      connection.exchange(request, () => kept.push(connection));
    const sendFresh = () =>
      sendOn(createConnection(open(request.url), isOnce ? ONCE_TIMEOUT : IDLE_TIMEOUT));
    let connection = kept.pop();
    while (connection && !(await connection.isFree())) connection = kept.pop();
    if (!connection) return await sendFresh();
    try {
      return await sendOn(connection);
    } catch (error) {
      if (!(error instanceof StaleError)) throw error;
      if (isOnce) throw error.cause;
      return await sendFresh();
    }
  };
}
