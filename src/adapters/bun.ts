/**
 * Serves an app with `Bun.serve`, which closes idle connections itself.
 *
 * @module
 */
import { declaresContent, type ServedRequest } from "../http/request.ts";
import { type HeldBytes, isStreamed, nativeOf, ResponseInParts } from "../http/response.ts";
import { type Accepted, MESSAGE_MAX, type Peer, type PeerEvents, Upgrade } from "../http/socket.ts";
import { waitAtMost } from "../with-timeout.ts";
import {
  beginEntry,
  type Callbacks,
  checkApp,
  checkServeOptions,
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

/**
 * Bun 1.4 handles all requests that a client has sent on a connection before it looks at another
 * connection. If a response waits for the next turn of the event loop, others come first, and a
 * connection that has sent a further request is closed.
 */
const IN_TURN_MAX = 64;
let inTurn = 0;

/** A request whose response is about to be sent. */
interface Sending {
  readonly request: Request;
  readonly server: BunServer;
  /** Ends the entry of the access log once the response has been sent. */
  endLater(): void;
  /** Ends it for a response whose stream has failed. */
  fail(error: unknown): void;
}

async function respond(
  app: Servable,
  callbacks: Callbacks,
  request: Request,
  server: BunServer,
  isClosing: () => boolean,
) {
  if (inTurn++ === 0) setImmediate(() => inTurn = 0);
  if (inTurn > IN_TURN_MAX) await new Promise((resolve) => setImmediate(resolve));
  const endEntry = beginEntry(callbacks, request);
  let response: Response | undefined;
  const end = (outcome: SendingEnd) =>
    endEntry?.(outcome, response?.status, (request as ServedRequest).clientName);
  if (endEntry) request.signal.addEventListener("abort", () => end("aborted"));
  const sending: Sending = {
    request,
    server,
    // `setImmediate` lets a late `abort` event of a disconnected client come first.
    endLater: () => endEntry && setImmediate(() => end("sent")),
    fail(error) {
      end("failed");
      report(error, request, app, callbacks);
    },
  };
  const upgrade = prepare(request, server);
  try {
    // A client that is waiting for the app must not be disconnected.
    server.timeout(request, 0);
    response = await app.fetch(request);
    if (response.status === 101 && isClosing()) response = nativeOf(refuseLate());
    const accepted = response.status === 101 ? upgrade?.take() : undefined;
    if (accepted) {
      if (completeHandshake(accepted, sending)) return undefined;
      response = nativeOf(refusal(400, "The handshake is not valid"));
    }
    server.timeout(request, isShort(request, response) ? IDLE_SECONDS : SILENCE_SECONDS);
    response = watch(response, sending);
  } catch (error) {
    report(error, request, app, callbacks);
    response = nativeOf(failure());
    sending.endLater();
  } finally {
    upgrade?.drop();
  }
  return response;
}

/** Adds to a request what the app may need of the server. */
function prepare(request: Writable, server: BunServer): Upgrade | undefined {
  // A getter named `ip`, as in srvx, would make short requests 10% slower (Bun 1.4).
  request.findIp = () => server.requestIP(request)?.address;
  const length = Number(request.headers.get("content-length"));
  if (length > 0 && length <= SHORT_MAX) readWhole(request);
  request.connect = connect;
  request.tellsLeaving = true;
  return request.upgrade = isHandshake(request) ? new Upgrade() : undefined;
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

/** Ends the entry of the access log when the response has been sent. */
function watch(response: Response, sending: Sending): Response {
  const held = response instanceof ResponseInParts ? response.held : undefined;
  if (held?.parts.length === 1) return watchWhole(held, response, sending);
  // Reading `body` makes a stream of it, which takes a fifth of a short request's time (Bun 1.4).
  const isWhole = !held && !isStreamed(response) && response.headers.has("content-length");
  if (!isWhole && response.body) return watchStream(response.body, response, sending);
  sending.endLater();
  return response;
}

/** Returns false if Bun refuses the handshake. */
function completeHandshake(
  { protocol, open, drop }: Accepted,
  { request, server, endLater }: Sending,
): boolean {
  const headers = protocol === undefined ? {} : { "sec-websocket-protocol": protocol };
  const isDone = server.upgrade(request, { data: new BunPeer(open), headers });
  if (isDone) endLater();
  else drop();
  return isDone;
}

/**
 * Bun 1.4 sends a stream without its length, which some clients of Bitcoin Core need. The several
 * parts of a node's long response would take twice their memory.
 */
function watchWhole(
  held: HeldBytes,
  response: Response,
  { request, server, endLater }: Sending,
): Response {
  const { parts: [bytes], release } = held;
  // Nothing else ends a response that Bun sends by itself.
  held.takeOver(() => server.timeout(request, 1));
  onceSent(request, server, () => {
    release();
    endLater();
  });
  return new Response(new Blob([bytes!]), response);
}

function watchStream(
  body: ReadableStream<Uint8Array>,
  response: Response,
  { request, server, endLater, fail }: Sending,
): Response {
  const watched = watchBody(body, {
    // A stream also fails when its client disconnects, which is not an error.
    onFailure: (error) => request.signal.aborted || fail(error),
    onEnd: endLater,
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
function onceSent(request: Request, server: BunServer, then: () => void): void {
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
