/**
 * Serves an app with `Bun.serve`, which closes idle connections itself.
 *
 * @module
 */
import { declaresContent, type ServedRequest } from "../http/request.ts";
import { type HeldBytes, isStreamed, nativeOf, ResponseInParts } from "../http/response.ts";
import { MESSAGE_MAX, type Peer, type PeerEvents, Upgrade } from "../http/socket.ts";
import { waitAtMost } from "../with-timeout.ts";
import {
  beginEntry,
  type Callbacks,
  checkApp,
  checkServeOptions,
  type EndEntry,
  failure,
  type Listening,
  refusal,
  refuseLate,
  report,
  runningServer,
  type SendingEnd,
  type Servable,
  type ServeOptions,
  TIMEOUTS,
  urlAt,
  watchBody,
} from "./shared.ts";
import { connect } from "./websocket.ts";

export type { Listening, ResponseRecord, Servable, ServeOptions } from "./shared.ts";

interface BunServer {
  readonly address: { readonly address: string };
  readonly port: number;
  requestIP(request: Request): { readonly address: string } | null;
  /** `seconds` is the idle timeout of the connection; 0 means no timeout. */
  timeout(request: Request, seconds: number): void;
  /** Returns false if the request is not a valid handshake. */
  upgrade(
    request: Request,
    options: { data: BunPeer; headers: Readonly<Record<string, string>> },
  ): boolean;
  stop(closeActiveConnections: boolean): Promise<void>;
}

interface BunSocket {
  readonly data: BunPeer;
  getBufferedAmount(): number;
  send(text: string): number;
  ping(): number;
  close(code: number, reason: string): void;
  terminate(): void;
}

declare const Bun: {
  serve(options: {
    fetch(
      request: Request,
      server: BunServer,
    ): Response | undefined | Promise<Response | undefined>;
    websocket: {
      open(socket: BunSocket): void;
      message(socket: BunSocket, data: string | Uint8Array): void;
      ping(socket: BunSocket): void;
      pong(socket: BunSocket): void;
      close(socket: BunSocket): void;
      maxPayloadLength: number;
      backpressureLimit: number;
      idleTimeout: number;
      sendPings: boolean;
      perMessageDeflate: boolean;
    };
    hostname: string;
    port: number;
    reusePort: boolean;
    development: boolean;
    idleTimeout: number;
  }): BunServer;
};

const SILENCE_SECONDS = TIMEOUTS.silence / 1000, IDLE_SECONDS = TIMEOUTS.idle / 1000;

/**
 * Starts a server. Rejects with a `TypeError` if an option is invalid, and with another error if
 * the server cannot listen.
 *
 * @example
 * ```ts
 * import { createNodeface } from "nodeface";
 * import { serve } from "nodeface/bun";
 *
 * const server = await serve(createNodeface(), { port: 8080 });
 * ```
 */
// deno-lint-ignore require-await -- an exception must become a rejection
export async function serve(app: Servable, options: ServeOptions = {}): Promise<Listening> {
  checkApp(app);
  const { hostname, port } = checkServeOptions(options);
  let isClosing = false;
  const server = Bun.serve({
    fetch: (request, server) => respond(app, options, request, server, () => isClosing),
    hostname,
    port,
    // With `development: false`, Bun 1.4 lets two processes share a port by default.
    reusePort: false,
    // In development, Bun responds to an error with a page that shows the source.
    development: false,
    idleTimeout: SILENCE_SECONDS,
    websocket: WEBSOCKET,
  });
  return runningServer(app, urlAt(server.address.address, server.port), async () => {
    isClosing = true;
    await waitAtMost(server.stop(false), TIMEOUTS.grace);
    await server.stop(true);
  });
}

/** A client. Bun 1.4 cannot stop reading. */
class BunPeer implements Peer {
  readonly #open: (peer: Peer) => PeerEvents;
  #socket: BunSocket | undefined;
  events: PeerEvents | undefined;
  constructor(open: (peer: Peer) => PeerEvents) {
    this.#open = open;
  }

  open(socket: BunSocket): void {
    this.#socket = socket;
    this.events = this.#open(this);
  }

  get unsentBytes(): number {
    return this.#socket!.getBufferedAmount();
  }

  send(text: string): void {
    this.#socket!.send(text);
  }

  ping(): void {
    this.#socket!.ping();
  }

  pause(): void {}

  resume(): void {}

  close(code: number, reason: string): void {
    this.#socket!.close(code, reason);
  }

  terminate(): void {
    this.#socket!.terminate();
  }
}

const WEBSOCKET: Parameters<typeof Bun.serve>[0]["websocket"] = {
  open: (socket) => socket.data.open(socket),
  message({ data: peer }, data) {
    if (typeof data === "string") peer.events?.onText(data);
    else peer.events?.onBinary(data as Uint8Array);
  },
  ping: ({ data: peer }) => peer.events?.onControl(),
  pong: ({ data: peer }) => peer.events?.onControl(),
  close: ({ data: peer }) => peer.events?.onClose(),
  maxPayloadLength: MESSAGE_MAX,
  // The service itself limits the bytes that wait, and finds dead clients.
  backpressureLimit: 1 << 30,
  idleTimeout: 0,
  sendPings: false,
  perMessageDeflate: false,
};

const isHandshake = (request: Request): boolean =>
  request.headers.get("upgrade")?.toLowerCase() === "websocket" && request.method === "GET" &&
  !declaresContent(request);

type Writable = { -readonly [Name in keyof ServedRequest]: ServedRequest[Name] };

async function respond(
  app: Servable,
  callbacks: Callbacks,
  request: Request,
  server: BunServer,
  isClosing: () => boolean,
): Promise<Response | undefined> {
  const turn = takeTurn();
  if (turn) await turn;
  const exchange = new Exchange(app, callbacks, request, server);
  const upgrade = prepare(request, server);
  try {
    // A client that is waiting for the app must not be disconnected.
    server.timeout(request, 0);
    const given = await app.fetch(request);
    exchange.status = given.status;
    const response = given.status === 101
      ? finishUpgrade(given, upgrade, exchange, isClosing())
      : given;
    return response && send(response, exchange);
  } catch (error) {
    return exchange.sendFailure(error);
  } finally {
    upgrade?.drop();
  }
}

/**
 * Bun 1.4 handles all requests that a client has sent on a connection before it looks at another
 * connection. If a response waits for the next turn of the event loop, others come first, and a
 * connection that has sent a further request is closed.
 */
const IN_TURN_MAX = 64;
let inTurn = 0;

/** Returns `undefined` if the request may be handled in this turn of the event loop. */
function takeTurn(): Promise<void> | undefined {
  if (inTurn++ === 0) setImmediate(() => inTurn = 0);
  return inTurn > IN_TURN_MAX ? new Promise((resolve) => setImmediate(resolve)) : undefined;
}

/** A request and its entry of the access log, which ends with the response. */
class Exchange {
  readonly request: ServedRequest;
  readonly server: BunServer;
  /** The status of the response; `undefined` before there is one. */
  status: number | undefined;
  readonly #app: Servable;
  readonly #callbacks: Callbacks;
  readonly #endEntry: EndEntry | undefined;
  constructor(app: Servable, callbacks: Callbacks, request: ServedRequest, server: BunServer) {
    this.request = request;
    this.server = server;
    this.#app = app;
    this.#callbacks = callbacks;
    this.#endEntry = beginEntry(callbacks, request);
    if (this.#endEntry) request.signal.addEventListener("abort", () => this.#end("aborted"));
  }

  #end(outcome: SendingEnd): void {
    this.#endEntry?.(outcome, this.status, this.request.clientName);
  }

  /** Called when the response has been sent. */
  endSent(): void {
    // `setImmediate` lets a late `abort` event of a disconnected client come first.
    if (this.#endEntry) setImmediate(() => this.#end("sent"));
  }

  /** Called when the stream of the response has failed. */
  endFailed(error: unknown): void {
    this.#end("failed");
    report(error, this.request, this.#app, this.#callbacks);
  }

  /** Returns the response to a request that the app has failed at. */
  sendFailure(error: unknown): Response {
    report(error, this.request, this.#app, this.#callbacks);
    const response = nativeOf(failure());
    this.status = response.status;
    this.endSent();
    return response;
  }
}

/** Adds to a request what the app may need of the server. */
function prepare(request: Writable, server: BunServer): Upgrade | undefined {
  // A getter named `ip`, as in srvx, would make short requests 10% slower (Bun 1.4).
  request.findIp = () => server.requestIP(request)?.address;
  const length = Number(request.headers.get("content-length"));
  if (length > 0 && length <= SHORT_MAX) readWhole(request);
  request.connect = connect;
  request.signalTellsDisconnect = true;
  return request.upgrade = isHandshake(request) ? new Upgrade() : undefined;
}

/**
 * Completes a handshake that the app has accepted, and returns `undefined`. If that fails, returns
 * the response.
 */
function finishUpgrade(
  response: Response,
  upgrade: Upgrade | undefined,
  exchange: Exchange,
  isClosing: boolean,
): Response | undefined {
  if (isClosing) return nativeOf(refuseLate());
  const accepted = upgrade?.take();
  if (!accepted) return response;
  const { protocol, open, drop } = accepted;
  const { request, server } = exchange;
  const headers = protocol === undefined ? {} : { "sec-websocket-protocol": protocol };
  if (server.upgrade(request, { data: new BunPeer(open), headers })) {
    exchange.endSent();
    return undefined;
  }
  drop();
  return nativeOf(refusal(400, "The handshake is not valid"));
}

/** Returns the response for Bun, which ends the entry of the access log when it has been sent. */
function send(response: Response, exchange: Exchange): Response {
  const { request, server } = exchange;
  exchange.status = response.status;
  server.timeout(request, isShort(request, response) ? IDLE_SECONDS : SILENCE_SECONDS);
  const held = response instanceof ResponseInParts ? response.held : undefined;
  if (held?.parts.length === 1) return sendInOnePart(held, response, exchange);
  // Reading `body` makes a stream of it, which takes a fifth of a short request's time (Bun 1.4).
  const isWhole = !held && !isStreamed(response) && response.headers.has("content-length");
  // Bun 1.4 never reads the body of a response to HEAD, and tells its length if it has one.
  const isRead = !isWhole && request.method !== "HEAD";
  if (isRead && response.body) return sendAsStream(response.body, response, exchange);
  exchange.endSent();
  return response;
}

/**
 * Tells whether the request has been read, and the response is sent at once. Bun 1.4 keeps a
 * timeout after the response, until the end of the next request's head.
 */
function isShort(request: Request, response: Response): boolean {
  const isRead = request.bodyUsed || (request.method !== "CONNECT" && !declaresContent(request));
  const size = response.headers.get("content-length") ?? (response.body ? Infinity : 0);
  return isRead && Number(size) <= SHORT_MAX;
}

/**
 * Bun 1.4 sends a stream without its length, which some clients of Bitcoin Core need. The several
 * parts of a node's long response would take twice their memory.
 */
function sendInOnePart(held: HeldBytes, response: Response, exchange: Exchange): Response {
  const { parts: [bytes], release } = held;
  const { request, server } = exchange;
  // Nothing else ends a response that Bun sends by itself.
  held.takeOver(() => server.timeout(request, 1));
  whenSent(request, server, () => {
    release();
    exchange.endSent();
  });
  return new Response(new Blob([bytes!]), response);
}

function sendAsStream(
  body: ReadableStream<Uint8Array>,
  response: Response,
  exchange: Exchange,
): Response {
  const { request, server } = exchange;
  const watched = watchBody(body, {
    // A stream also fails when its client disconnects, which is not an error.
    onFailure: (error) => request.signal.aborted || exchange.endFailed(error),
    onEnd: () => exchange.endSent(),
    // A client that waits for the app must not be disconnected, even if a stream pauses.
    onWait: (isWaiting) => server.timeout(request, isWaiting ? 0 : SILENCE_SECONDS),
  });
  return new Response(watched, response);
}

const SENT_INTERVAL_MS = 50;

/**
 * Calls `then` once the response has been sent, or the client has disconnected: a request has no
 * address any more (Bun 1.4). No event tells.
 */
function whenSent(request: Request, server: BunServer, then: () => void): void {
  const timer = setInterval(() => {
    if (server.requestIP(request)) return;
    clearInterval(timer);
    then();
  }, SENT_INTERVAL_MS);
}

/** In bytes. Bun 1.4 reads such content faster with `bytes`, and sends such responses at once. */
const SHORT_MAX = 16_384;

function readWhole(request: Writable): void {
  request.readChunks = async (accept, stop) => {
    const stopped = new Promise<void>((resolve) => stop.addEventListener("abort", resolve));
    await Promise.race([request.bytes().then(accept), stopped]);
  };
}
