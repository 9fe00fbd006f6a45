/**
 * The HTTP/1.1 client on sockets. The library's public types must not use types of `node:` modules,
 * so that hosts need not install `@types/node`.
 *
 * @module
 */
import type { LookupFunction, Socket } from "node:net";
import { type Bytes, createCollector, partsOf } from "../bytes.ts";
import { builtin, IS_DENO } from "../platform.ts";
import { nextTurn } from "../slices.ts";
import { AddressBook, LIFETIME_MS, type ServerAddress } from "./address-book.ts";
import { NO_ROUTE } from "./failures.ts";
import {
  type NodeRequest,
  type NodeResponse,
  type ResponseEvents,
  type ResponseHead,
  ResponseReader,
  STALE,
  writeHead,
} from "./http1.ts";

const NO_SOCKETS = "this runtime has no sockets";

/**
 * By default, Node gives each address of a name but the last one 250 ms, in which a distant node
 * does not accept. More would leave too little of `node.timeout` for the other addresses.
 */
export const FAMILIES: { readonly autoSelectFamilyAttemptTimeout: number } = {
  autoSelectFamilyAttemptTimeout: 500,
};

/**
 * Looks each name up only once at a time, for all who wait for it: Node can end no lookup, and does
 * few at once, so those of a slow resolver would pile up.
 */
export function shareLookups(lookup: LookupFunction): LookupFunction {
  const running = new Map<string, Parameters<LookupFunction>[2][]>();
  return (name, options, callback) => {
    const key = JSON.stringify([name, options]);
    const known = running.get(key);
    if (known) return void known.push(callback);
    const waiting = [callback];
    running.set(key, waiting);
    try {
      lookup(name, options, (...found) => {
        running.delete(key);
        for (const each of waiting) each(...found);
      });
    } catch (error) {
      running.delete(key);
      throw error;
    }
  };
}

let shared: LookupFunction | undefined;

/**
 * Options for `net.connect` and the like. Only with a lookup of its own, Deno lets a right to
 * connect to a name hold for its addresses.
 */
export function sharedLookup(): { readonly lookup?: LookupFunction } {
  if (IS_DENO) return {};
  const { lookup } = builtin("node:dns", NO_SOCKETS);
  return { lookup: shared ??= shareLookups(lookup as LookupFunction) };
}

/** @param address the address to connect to. @default one of the server's name */
export type OpenSocket = (url: URL, address?: string) => Socket;

export function createConnector(ca: string | undefined): OpenSocket {
  const [net, tls] = [builtin("node:net", NO_SOCKETS), builtin("node:tls", NO_SOCKETS)];
  const trust = ca === undefined ? {} : trustOf(ca);
  return ({ protocol, hostname, port }, address) => {
    // A URL keeps the brackets of an IPv6 address.
    const name = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    const host = address ?? name;
    const options = { host, ...FAMILIES, ...sharedLookup() };
    if (protocol !== "https:") return net.connect({ ...options, port: Number(port || 80) });
    const servername = net.isIP(name) === 0 ? name : "";
    return tls.connect({ ...options, port: Number(port || 443), servername, ...trust });
  };
}

interface TrustOptions {
  readonly ca: string[];
  readonly secureContext: ReturnType<typeof import("node:tls").createSecureContext>;
}

let trusted: { readonly by: string; readonly options: TrustOptions } | undefined;

/**
 * Trusts a certificate authority besides those of the runtime. Parsing the certificates takes 40 ms
 * (Node 20), so the result is kept for further connections.
 */
export function trustOf(ca: string): TrustOptions {
  if (trusted?.by !== ca) trusted = { by: ca, options: makeTrust(ca) };
  return trusted.options;
}

function makeTrust(ca: string): TrustOptions {
  const tls = builtin("node:tls", NO_SOCKETS);
  // Node 22.15 and later tell those of the system and of `NODE_EXTRA_CA_CERTS`, too.
  const { getCACertificates } = tls as { getCACertificates?: (type: "default") => string[] };
  const all = [...getCACertificates?.("default") ?? tls.rootCertificates, ca];
  return { ca: all, secureContext: tls.createSecureContext({ ca: all }) };
}

const IDLE_TIMEOUT_MS = 4000, ONCE_TIMEOUT_MS = 500;

/** Keeps connections for further requests. */
export class SocketClient {
  readonly #open: OpenSocket;
  readonly #addresses: AddressBook;
  readonly #idle = new Map<string, Connection[]>();
  readonly #byKey = new WeakMap<object, Connection[]>();

  constructor(open: OpenSocket, addresses: AddressBook = new AddressBook()) {
    this.#open = open;
    this.#addresses = addresses;
  }

  /** A request without `isSentOnce` is sent again if a reused connection turns out to be closed. */
  async send(request: NodeRequest): Promise<NodeResponse> {
    const { url, signal, isSentOnce, closesConnection, connectionKey, isStale } = request;
    if (signal.aborted) throw signal.reason;
    const kept = closesConnection ? [] : this.#keptFor(url, connectionKey);
    for (let connection = kept.pop(); connection; connection = kept.pop()) {
      if (connection.isOld) connection.close();
      if (connection.isOpen) await connection.wake();
      if (!connection.isOpen) continue;
      if (isStale?.()) {
        kept.push(connection);
        throw STALE;
      }
      try {
        return await connection.exchange(request);
      } catch (error) {
        if (isSentOnce || connection.hasBegun || signal.aborted) throw error;
        break;
      }
    }
    if (isStale?.()) throw STALE;
    const { target } = this.#addresses.of(url);
    const connection = this.#connect(request, kept, target);
    try {
      return await connection.exchange(request);
    } catch (error) {
      const mayLeadElsewhere = target !== undefined && !connection.isConnected;
      if (!mayLeadElsewhere || signal.aborted) throw error;
    }
    if (isStale?.()) throw STALE;
    return await this.#connect(request, kept).exchange(request);
  }

  #connect({ url, isSentOnce }: NodeRequest, kept: Connection[], target?: string): Connection {
    const idleTimeout = isSentOnce ? ONCE_TIMEOUT_MS : IDLE_TIMEOUT_MS;
    const place = { server: this.#addresses.of(url), target };
    return new Connection(this.#open(url, target), idleTimeout, kept, place);
  }

  #keptFor({ origin }: URL, connectionKey: object | undefined): Connection[] {
    const kept = (connectionKey ? this.#byKey.get(connectionKey) : this.#idle.get(origin)) ?? [];
    if (connectionKey) this.#byKey.set(connectionKey, kept);
    else this.#idle.set(origin, kept);
    return kept;
  }
}

const WAITING_MAX = 65_536;

/**
 * Reading pauses after `TURN_MAX` bytes, since other tasks must run. Connections whose node sends
 * more than `CHUNKS_MAX` chunks at once, which take more time, read one after the other.
 */
const TURN_MAX = 524_288, CHUNKS_MAX = 256;

/** Where a connection leads. */
interface Place {
  readonly server: ServerAddress;
  /** `undefined` if the name is looked up. */
  readonly target?: string | undefined;
}

const resetOf = (): Error => Object.assign(new Error("closed"), { code: "ECONNRESET" });

/**
 * Tells whether an error of an open connection says that the node has got nothing, which is not
 * true. With TLS 1.3, a server refuses a client without a certificate after the handshake.
 */
function isMisleading(error: unknown, isSecured: boolean): boolean {
  const { code, message } = (error ?? {}) as Partial<Record<"code" | "message", unknown>>;
  if (NO_ROUTE.test(String(code))) return true;
  return isSecured && /^(?:EPROTO|ERR_SSL_)/.test(String(code)) &&
    !/certificate/i.test(`${code} ${message}`);
}

/** A socket, and the exchange that uses it now. */
export class Connection {
  /** Whether a byte of the latest response has arrived. */
  hasBegun = false;
  isOpen = true;
  isConnected = false;
  readonly #socket: Socket;
  readonly #kept: Connection[];
  readonly #place: Place;
  readonly #moves: number;
  readonly #openedAt = performance.now();
  #current: Exchange | undefined;
  #isResting = false;
  #turnBytes = 0;

  /**
   * @param idleTimeout in milliseconds
   * @param kept the list to which the connection is added whenever it can be reused
   */
  constructor(
    socket: Socket,
    idleTimeout: number,
    kept: Connection[],
    place: Place,
  ) {
    const { server } = place;
    this.#place = place;
    this.#moves = server.moves;
    this.#socket = socket;
    this.#kept = kept;
    socket.setNoDelay(true);
    socket.setTimeout(idleTimeout);
    socket.on("timeout", () => this.#current || this.close());
    socket.on("data", (bytes: Bytes) => this.#receive(bytes));
    socket.on("connect", () => {
      this.isConnected = true;
      if (socket.remoteAddress) server.use(socket.remoteAddress);
    });
    const endByNode = (error?: unknown) => {
      if (this.isOpen) server.lose();
      this.close(this.isConnected && isMisleading(error, isSecured) ? resetOf() : error);
    };
    let isSecured = false;
    socket.on("secureConnect", () => isSecured = true);
    socket.on("end", () => {
      // A response without a length ends here, after which the connection is not open.
      this.#current?.reader.close();
      endByNode();
    });
    socket.on("error", endByNode).on("close", () => endByNode());
  }

  /** True if the connection may lead to another node than a new one. */
  get isOld(): boolean {
    const { server } = this.#place;
    return performance.now() - this.#openedAt >= LIFETIME_MS || this.#moves !== server.moves;
  }

  /** Reads again; the connection closes if bytes arrive while no response is expected. */
  async wake(): Promise<void> {
    // Deno does not read from an unreferenced socket.
    this.#socket.ref();
    await new Promise(setImmediate);
  }

  /** @throws if the request is malformed, or was aborted; the connection is closed then */
  exchange(request: NodeRequest): Promise<NodeResponse> {
    const { isStale } = request;
    const head = this.#headOf(request);
    const exchange = new Exchange(this, request);
    this.#current = exchange;
    this.hasBegun = false;
    const socket = this.#socket;
    socket.ref();
    // Whether another node is at the address is known once the connection is open.
    if (socket.connecting && isStale) {
      socket.once("connect", () => isStale() ? this.close(STALE) : this.#write(head, request));
    } else this.#write(head, request);
    return exchange.response;
  }

  #headOf(request: NodeRequest): string {
    try {
      if (request.signal.aborted) throw request.signal.reason;
      return writeHead(request);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #write(head: string, { body }: NodeRequest): void {
    const socket = this.#socket;
    // Writes the head and the body together, so that the node need not read twice.
    socket.cork();
    socket.write(head, "latin1");
    if (body) socket.write(body);
    socket.uncork();
  }

  /** Reads on, unless the connection rests or too many bytes wait. */
  resume(): void {
    if (this.#isResting || this.#current?.isFull || !this.#socket.isPaused()) return;
    this.#socket.resume();
  }

  /** Ends the current exchange after a complete response. */
  end(isKept: boolean): void {
    this.#current = undefined;
    // The socket must not stay paused, because the next request uses it.
    this.resume();
    this.#socket.unref();
    if (isKept && this.isOpen) this.#kept.push(this);
    else this.close();
  }

  /** Closes the connection, which fails the current exchange. */
  close(reason?: unknown): void {
    if (!this.isConnected) this.#place.server.fail(this.#place.target);
    this.isOpen = false;
    this.#socket.destroy();
    this.#current?.fail(reason ?? resetOf());
    this.#current = undefined;
  }

  #receive(bytes: Bytes): void {
    if (!this.#current) return this.close();
    this.hasBegun = true;
    this.#turnBytes += bytes.byteLength;
    try {
      const chunks = this.#current.receive(bytes);
      // The response may have ended.
      if (this.#current?.isFull) this.#socket.pause();
      if (!this.#current) return;
      if (chunks > CHUNKS_MAX) this.#rest(nextTurn());
      else if (this.#turnBytes > TURN_MAX) this.#rest(new Promise(setImmediate));
    } catch (error) {
      this.close(error);
    }
  }

  /**
   * Pauses reading so that other tasks can run. Node 20 accepts only one client per turn of the
   * event loop.
   */
  async #rest(turn: Promise<void>): Promise<void> {
    this.#isResting = true;
    this.#turnBytes = 0;
    this.#socket.pause();
    await turn;
    this.#isResting = false;
    this.resume();
  }
}

/** One request on a connection, and its response. */
class Exchange implements ResponseEvents {
  readonly reader: ResponseReader;
  /** Resolves when the head has arrived. */
  readonly response: Promise<NodeResponse>;
  readonly #connection: Connection;
  readonly #request: NodeRequest;
  readonly #stop = () => this.#connection.close(this.#request.signal.reason);
  readonly #collector = createCollector();
  #resolve!: (response: NodeResponse) => void;
  #reject!: (reason: unknown) => void;
  #status = 0;
  #received = 0;
  #waiting: Bytes[] = [];
  #waitingBytes = 0;
  #wake: (() => void) | undefined;
  #failure: { readonly reason: unknown } | undefined;
  #hasEnded = false;

  constructor(connection: Connection, request: NodeRequest) {
    const { method, signal } = request;
    this.#connection = connection;
    this.#request = request;
    this.reader = new ResponseReader(method, this);
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal.addEventListener("abort", this.#stop);
  }

  get isFull(): boolean {
    return this.#waitingBytes > WAITING_MAX;
  }

  /** Returns the number of chunks in `bytes`. Throws if the response is refused. */
  receive(bytes: Bytes): number {
    this.#received += bytes.byteLength;
    const before = this.reader.chunks;
    this.reader.push(bytes);
    return this.reader.chunks - before;
  }

  head(head: ResponseHead): void {
    this.#status = head.status;
    this.#resolve({
      ...head,
      next: () => this.#next(),
      received: () => this.#received,
      cancel: () => this.#hasEnded || this.#connection.close(),
    });
  }

  part(bytes: Bytes): void {
    this.#collector.push(bytes);
    this.#waitingBytes += bytes.byteLength;
    this.#notify();
  }

  end(isKept: boolean): void {
    this.#hasEnded = true;
    this.#finish();
    const { closesConnection = false, isSentOnce } = this.#request;
    // Only a request with other credentials uses the connection of a call that is sent once.
    const isLast = closesConnection || (isSentOnce && ![401, 403].includes(this.#status));
    this.#connection.end(isKept && !isLast);
  }

  fail(reason: unknown): void {
    this.#failure = { reason };
    this.#reject(reason);
    this.#finish();
  }

  #finish(): void {
    this.#request.signal.removeEventListener("abort", this.#stop);
    this.#notify();
  }

  #next(): Bytes | undefined | Promise<Bytes | undefined> {
    if (this.#failure) throw this.#failure.reason;
    // Bun reads 512 KiB at once, and copies a part that a client does not read.
    if (this.#waiting.length === 0 && this.#waitingBytes > 0) {
      this.#waiting = this.#collector.empty().flatMap((bytes) => [...partsOf(bytes)]);
    }
    const part = this.#waiting.shift();
    if (part) {
      this.#waitingBytes -= part.byteLength;
      // Once a response has ended, the socket belongs to the next request.
      if (this.#waitingBytes === 0 && !this.#hasEnded) this.#connection.resume();
    }
    if (part || this.#hasEnded) return part;
    return new Promise<void>((resolve) => this.#wake = resolve).then(() => this.#next());
  }

  /** Resolves each promise only once, since Node records every further call of `resolve`. */
  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
