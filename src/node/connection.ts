/**
 * The HTTP/1.1 client on sockets. The library's public types must not use types of `node:` modules,
 * so that hosts need not install `@types/node`.
 *
 * @module
 */
import type { Socket } from "node:net";
import { type Bytes, createCollector } from "../bytes.ts";
import {
  type Client,
  type NodeRequest,
  type NodeResponse,
  ResponseReader,
  writeHead,
} from "./http1.ts";

export type OpenSocket = (url: URL) => Socket;

export async function openerOf(ca: string | undefined): Promise<OpenSocket> {
  const [net, tls] = await Promise.all([import("node:net"), import("node:tls")]);
  const trust = ca !== undefined && { ca: [...tls.rootCertificates, ca] };
  return ({ protocol, hostname, port }) => {
    // A URL keeps the brackets of an IPv6 address.
    const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    if (protocol !== "https:") return net.connect({ host, port: Number(port || 80) });
    const servername = net.isIP(host) === 0 ? host : "";
    return tls.connect({ host, port: Number(port || 443), servername, ...trust });
  };
}

const IDLE_TIMEOUT_MS = 4000, ONCE_TIMEOUT_MS = 500;

/** If a reused connection turns out to be closed, a request without `isOnce` is sent again. */
export function createSocketClient(open: OpenSocket): Client {
  const idle = new Map<string, Connection[]>();
  const owned = new WeakMap<object, Connection[]>();
  const keptFor = ({ origin }: URL, owner: object | undefined): Connection[] => {
    const kept = (owner ? owned.get(owner) : idle.get(origin)) ?? [];
    if (owner) owned.set(owner, kept);
    else idle.set(origin, kept);
    return kept;
  };
  return async (request) => {
    const { isOnce, owner } = request;
    if (request.signal.aborted) throw request.signal.reason;
    const kept = keptFor(request.url, owner);
    const sendOn = (connection: Connection) =>
      connection.exchange(request, () => kept.push(connection));
    const sendFresh = () =>
      sendOn(createConnection(open(request.url), isOnce ? ONCE_TIMEOUT_MS : IDLE_TIMEOUT_MS));
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

export interface Connection {
  /** The connection is closed if bytes arrive while no response is expected. */
  isFree(): Promise<boolean>;
  /**
   * Calls `free` when the connection can be reused. Rejects with a `StaleError` if a reused
   * connection turns out to be closed.
   */
  exchange(request: NodeRequest, free: () => void): Promise<NodeResponse>;
}

export class StaleError extends Error {
  override name = "StaleError";
}

const WAITING_MAX = 65_536;

/**
 * Reading pauses after `TURN_MAX` bytes, or if more than `CHUNKS_MAX` chunks arrive at once: other
 * tasks must run.
 */
const TURN_MAX = 524_288, CHUNKS_MAX = 256;

interface Exchange {
  readonly reader: ResponseReader;
  received: number;
  chunks: number;
  resume(): void;
  fail(reason: unknown): void;
}

export function createConnection(socket: Socket, idleTimeout: number): Connection {
  let current: Exchange | undefined;
  let isOpen = true;
  let isReused = false;
  let turnBytes = 0;
  const lose = (error?: unknown) => {
    isOpen = false;
    current?.fail(error ?? closed());
    socket.destroy();
  };
  socket.setNoDelay(true);
  socket.setTimeout(idleTimeout, () => current || lose());
  socket.on("data", (bytes: Bytes) => {
    try {
      if (!current) return lose();
      current.received += bytes.byteLength;
      current.chunks = 0;
      turnBytes += bytes.byteLength;
      current.reader.push(bytes);
      if (current && (current.chunks > CHUNKS_MAX || turnBytes > TURN_MAX)) rest();
    } catch (error) {
      lose(error);
    }
  });
  /**
   * The client pauses reading so that other tasks can run. Node 20 accepts only one client per turn
   * of the event loop.
   */
  let isResting = false;
  const rest = () => {
    isResting = true;
    turnBytes = 0;
    socket.pause();
    setImmediate(() => {
      isResting = false;
      current?.resume();
    });
  };
  socket.on("end", () => {
    if (current?.reader.close()) isOpen = false;
    lose();
  });
  socket.on("error", lose).on("close", () => lose());
  return {
    async isFree() {
      if (!isOpen) return false;
      // Deno does not read from an unreferenced socket.
      socket.ref();
      await new Promise((resolve) => setImmediate(resolve));
      return isOpen;
    },
    exchange: ({ method, url, headers, body, signal }, free) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const head = writeHead({ method, url, headers, body });
        const mayBeStale = isReused;
        isReused = true;
        socket.ref();
        const come = createCollector();
        let waiting: Bytes[] = [];
        let waitingBytes = 0;
        let failure: { readonly reason: unknown } | undefined;
        let hasEnded = false;
        let waiter = nobody;
        /** Resolves each promise only once, since Node records every further call of `resolve`. */
        const wake = () => {
          waiter();
          waiter = nobody;
        };
        const finish = () => {
          current = undefined;
          signal.removeEventListener("abort", stop);
        };
        const fail = (reason: unknown) => {
          if (hasEnded || failure) return;
          failure = { reason };
          finish();
          lose();
          const isStale = mayBeStale && !reader.hasBegun && !signal.aborted;
          reject(isStale ? new StaleError("closed", { cause: reason }) : reason);
          wake();
        };
        const stop = () => fail(signal.reason);
        const next = async (): Promise<Bytes | undefined> => {
          for (;;) {
            if (failure) throw failure.reason;
            if (waiting.length === 0) waiting = come.take();
            const part = waiting.shift();
            if (part) {
              waitingBytes -= part.byteLength;
              // Once a response has ended, the socket belongs to the next request.
              if (waitingBytes === 0 && !hasEnded) resume();
              return part;
            }
            if (hasEnded) return undefined;
            await new Promise<void>((resolve) => waiter = resolve);
          }
        };
        const cancel = () => fail(closed());
        const reader = new ResponseReader(method, {
          head: ({ status, headers }) => resolve({ status, headers, next, received, cancel }),
          part(bytes, chunks) {
            come.push(bytes);
            exchange.chunks += chunks;
            waitingBytes += bytes.byteLength;
            if (waitingBytes > WAITING_MAX) socket.pause();
            wake();
          },
          end(isKept) {
            hasEnded = true;
            finish();
            // The socket must not stay paused, because the next request uses it.
            if (socket.isPaused()) socket.resume();
            socket.unref();
            if (isKept && isOpen) free();
            else lose();
            wake();
          },
        });
        const resume = () => {
          if (!isResting && waitingBytes <= WAITING_MAX && socket.isPaused()) socket.resume();
        };
        const exchange: Exchange = { reader, received: 0, chunks: 0, resume, fail };
        const received = () => exchange.received;
        current = exchange;
        signal.addEventListener("abort", stop);
        // Writes the head and the body together, so that the node need not read twice.
        if (!body) return void socket.write(head, "latin1");
        socket.cork();
        socket.write(head, "latin1");
        socket.write(body);
        socket.uncork();
      }),
  };
}

const nobody = () => {};
const closed = () => Object.assign(new Error("closed"), { code: "ECONNRESET" });
