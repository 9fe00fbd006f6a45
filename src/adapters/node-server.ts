/**
 * Serves an app with `node:http`, which Node and Deno have: the server and its limits, the way of a request, what
 * is refused, and the connections.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createServer, IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  NodeRequest as SrvxRequest,
  type NodeResponse as SrvxResponse,
  sendNodeResponse,
} from "srvx/node";
import { type Bytes, isInTinyParts, PART_LENGTH } from "../bytes.ts";
import { SECURITY_HEADERS } from "../http/common-headers.ts";
import type { ServedRequest } from "../http/request.ts";
import { problemText } from "../http/problem-details.ts";
import {
  type NodeForm,
  nodeFormOf,
  REASONS,
  ResponseInParts,
  shortPartsOf,
  type Status,
} from "../http/response.ts";
import { LightSignal, type Signal } from "../with-timeout.ts";
import {
  type Address,
  beginEntry,
  type Callbacks,
  type EndEntry,
  failure,
  refusal,
  report,
  type Servable,
  TIMEOUTS,
  urlAt,
  watched,
} from "./shared.ts";

const IS_DENO = "Deno" in globalThis;

/** Makes a server that does not listen yet. */
export function createNodeServer(
  app: Servable,
  callbacks: Callbacks,
  slowest: Slowest = SLOWEST,
): { readonly http: Server; close(): Promise<void> } {
  const connections = new Connections(slowest);
  const settings = {
    headersTimeout: TIMEOUTS.head,
    requestTimeout: TIMEOUTS.head + TIMEOUTS.content,
    // `connections` closes idle ones.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: TIMEOUTS.check,
    // What comes in tiny chunks costs by the part: read little ahead, and keep no more parts than are taken.
    highWaterMark: 2048,
    IncomingMessage: Message,
    // `ownResponse` refuses them, with problem details.
    requireHostHeader: false,
    // Saves an eighth of the time of a request (Node 26.10); Node before 24.12 ignores it.
    optimizeEmptyRequests: true,
  };
  const http = createServer(settings, (message, response) => {
    connections.addResponse(response);
    if (hasContent(message)) limitContent(message, response);
    // The parser drops the rest of a packet after an Upgrade, so the connection must be closed
    // (RFC 9112, section 9.6).
    if (message.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    void respond(app, callbacks, message, response);
  });
  // `node:http` drops headers past `maxHeadersCount`, by default 2000, even `Host`.
  http.maxHeadersCount = 0;
  // The built-in method closes connections whose response is still being sent; `connections` does not.
  http.closeIdleConnections = () => {};
  http.on("connection", (socket) => connections.add(socket));
  // An unknown expectation may be ignored (RFC 9110, section 10.1.1).
  http.on("checkExpectation", (message, response) => http.emit("request", message, response));

  const refuseAfterResponses = (socket: Socket, code?: string, message?: IncomingMessage) => {
    const endEntry = beginEntry(callbacks, message && logHeadOf(message));
    const earlier = connections.pendingResponse(socket);
    if (earlier) earlier.once("finish", () => refuseUnparsed(socket, code, endEntry));
    else refuseUnparsed(socket, code, endEntry);
  };
  http.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const last = connections.pendingResponse(socket);
    // Bytes behind a broken request have broken the parser of another connection, whose request was 400 (Deno 2.9).
    if (IS_DENO) socket.removeAllListeners("data").resume();
    if (error.code === "ECONNRESET") socket.destroy();
    // Whoever reads the content would wait for the rest of it.
    else if (last && !last.req.complete) {
      const refuseUnlessSaid = () => {
        if (last.statusCode === 400) socket.end();
        else refuseUnparsed(socket, error.code, beginEntry(callbacks));
      };
      if (!last.req.destroyed) last.once("finish", refuseUnlessSaid);
      (last.req as Message).breakOff();
    } // Bytes after a request with `Connection: close` are ignored (RFC 9112, section 9.6).
    else if (!connections.isClosing(socket)) refuseAfterResponses(socket, error.code);
  });
  http.on("connect", (message, stream) => {
    const socket = stream as Socket;
    // The server has detached this socket and its timeouts.
    socket.on("error", () => {}).resume().setTimeout(TIMEOUTS.head, () => socket.destroy());
    refuseAfterResponses(socket, undefined, message);
  });
  return {
    http,
    close() {
      http.close();
      return connections.end();
    },
  };
}

/**
 * A message that keeps no more tiny parts of a content than its reader takes: the parser makes one of each chunk, 10,000 of
 * what a socket gives at a time. The reader sees the part that is too many and refuses the content; what comes behind is
 * dropped, its end too.
 */
class Message extends IncomingMessage {
  #parts = 0;
  #length = 0;
  #isRefused = false;
  #breaksOff = false;

  override push(part: Uint8Array | null, encoding?: BufferEncoding): boolean {
    if (this.#isRefused) return false;
    if (part) {
      this.#length += part.byteLength;
      this.#isRefused = isInTinyParts(++this.#parts, this.#length);
    }
    return super.push(part, encoding);
  }

  /** Fails its reader, and leaves the connection to the response. */
  breakOff(): void {
    this.#breaksOff = true;
    this.destroy(new Error("The content of the request cannot be read"));
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#breaksOff) super._destroy(error, callback);
    // Without a listener an error would end the process.
    else callback(this.listenerCount("error") > 0 ? error : null);
  }
}

/** Connections that may wait to be accepted; the system may allow fewer. */
const BACKLOG = 4096;

export function listen(http: Server, { hostname, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", reject).listen({ port, host: hostname, backlog: BACKLOG }, () => {
      http.off("error", reject);
      resolve();
    });
  });
}

export function urlOf(http: Server): string {
  const { address, port } = http.address() as AddressInfo;
  return urlAt(address, port);
}

/**
 * Lets the app (`createApp` of `../app.ts` makes its `fetch`) respond to a message, of our own server or of a host's. Never
 * rejects.
 */
export async function respond(
  app: Servable,
  callbacks: Callbacks,
  message: IncomingMessage,
  response: ServerResponse,
  makeRequest: typeof requestOf = requestOf,
  ...context: unknown[]
): Promise<void> {
  const endEntry = beginEntry(callbacks, logHeadOf(message));
  if (endEntry) endWith(response, endEntry);
  if (!response.socket) closeWithSocket(response);
  try {
    await send(
      response,
      ownResponse(message) ?? await app.fetch(makeRequest(message, response), ...context),
    );
    // What srvx does where the body's stream fails. Who has left may make it fail, which leaves no error here.
    if (response.errored) report(response.errored, app, callbacks);
  } catch (error) {
    report(error, app, callbacks);
    if (response.headersSent) response.destroy();
    else void send(response, failure());
  }
}

export function requestOf(message: IncomingMessage, response: ServerResponse): Request {
  if (!hasContent(message)) {
    // With `optimizeEmptyRequests` it has ended before it is complete. srvx 1.0 would say that its client has
    // left, and that its body was read.
    message.complete = true;
    if (message.readableEnded && !("rawBody" in message)) {
      Object.assign(message, { rawBody: EMPTY_BODY });
    }
  }
  return new MessageRequest(message, response);
}

class MessageRequest extends SrvxRequest implements ServedRequest {
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  #gone: LightSignal | undefined;

  constructor(message: IncomingMessage, response: ServerResponse) {
    super({ req: message, res: response });
    this.#message = message;
    this.#response = response;
  }

  get gone(): Signal {
    return this.#gone ??= this.#watch();
  }

  get readChunks(): ServedRequest["readChunks"] {
    const message = this.#message;
    // srvx knows these.
    if (/^(?:GET|HEAD)$/.test(this.method) || "rawBody" in message) return undefined;
    return (take, stop) =>
      new Promise((resolve, reject) => {
        const settle = (act: (reason?: unknown) => void) => (reason?: unknown) => {
          message.off("data", onData).off("end", onEnd).off("close", onFailure)
            .off("error", onFailure).pause();
          stop.removeEventListener("abort", onEnd);
          act(reason);
        };
        const onData = (part: Buffer<ArrayBuffer>) => {
          if (!take(part)) onEnd();
        };
        const onEnd = settle(() => resolve());
        const onFailure = settle(reject);
        if (message.readableEnded || message.destroyed) return onFailure();
        stop.addEventListener("abort", onEnd);
        message.on("data", onData).on("end", onEnd).on("close", onFailure).on("error", onFailure);
      });
  }

  #watch(): LightSignal {
    const [message, response, gone] = [this.#message, this.#response, new LightSignal()];
    const onClose = () => {
      if (response.writableEnded && !message.errored) return;
      gone.abort(message.errored ?? new DOMException("The client has left", "AbortError"));
    };
    response.once("close", onClose);
    if (response.destroyed || message.destroyed && !message.complete) onClose();
    return gone;
  }
}

const EMPTY_BODY = Buffer.alloc(0);

export const hasContent = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** Longer bodies, in bytes, are no texts. */
const SHORT_MAX = 16_384;

/** Sends a response; resolves when it was written, or its stream has failed. Bytes are sent without one. */
async function send(response: ServerResponse, given: Response): Promise<void> {
  const held = given instanceof ResponseInParts ? given.held : undefined;
  if (held) response.once("close", held.release);
  const form = nodeFormOf(given);
  const { body } = form;
  const parts = held?.parts ?? (body instanceof Uint8Array ? [body] : []);
  if (!body || parts.length > 0) return await sendParts(response, form, parts);
  // A response of Deno's does not know the error of its stream.
  const fail = (errored: unknown) => response.destroyed || Object.assign(response, { errored });
  const sent = IS_DENO && body instanceof ReadableStream
    ? { ...form, body: watched(body, fail, PART_LENGTH) }
    : form;
  await sendNodeResponse(response, { _toNodeResponse: () => sent } as SrvxResponse);
}

/** Sends bytes: a short part as a `latin1` text, which keeps each as it is; others in one write, but on Deno. */
async function sendParts(
  response: ServerResponse,
  { status, statusText, headers }: NodeForm,
  parts: readonly Bytes[],
): Promise<void> {
  // Each write wakes its client, which may take the processor: those of one moment go out together.
  await new Promise((resolve) => setImmediate(resolve));
  response.writeHead(status, statusText || undefined, headers);
  if (parts.length === 1 && parts[0]!.byteLength <= SHORT_MAX) {
    // A text goes out in one piece with the head, bytes do not: two pieces take twice as long (Node 26.10).
    return void response.end(Buffer.from(parts[0]!).toString("latin1"), "latin1");
  }
  // Deno 2.9 says of a write that it has ended, and nothing before: the reader of a long one would look stuck.
  if (!IS_DENO) response.cork();
  for (const part of IS_DENO ? shortPartsOf(parts) : parts) response.write(part);
  response.end();
}

/** The head of a message, for the access log. Bun and workerd give the target `*` as this path. */
const logHeadOf = ({ method = "GET", url = "/" }: IncomingMessage) => ({
  method,
  url: url === "*" ? "/*" : url,
});

function endWith(response: ServerResponse, endEntry: EndEntry): void {
  const { socket } = response.req;
  const end = () => {
    // `finish` is emitted even if the connection was closed with unwritten bytes.
    const isSent = response.writableFinished && !socket.destroyed && !socket.errored;
    const outcome = response.errored ? "failed" : isSent ? "sent" : "aborted";
    endEntry(outcome, response.headersSent ? response.statusCode : undefined);
  };
  response.once("finish", end).once("close", end);
}

/** Responses that wait for an earlier one on their connection. */
const queued = new WeakMap<Socket, Set<ServerResponse>>();

/** Closes a response with its connection. One that waits for another has no socket, and would not be told. */
function closeWithSocket(response: ServerResponse): void {
  const { socket } = response.req;
  const waiting = queued.get(socket) ?? new Set();
  if (!queued.has(socket)) {
    queued.set(socket, waiting);
    socket.once("close", () => {
      for (const response of waiting) response.destroy().emit("close");
    });
  }
  waiting.add(response);
  response.once("close", () => waiting.delete(response));
}

/**
 * Closes the connection if the content takes too long. `requestTimeout` of `node:http` no longer applies
 * after the response, which may be sent before the content has arrived.
 */
function limitContent(message: IncomingMessage, response: ServerResponse): void {
  const timer = setTimeout(() => message.socket.destroy(), TIMEOUTS.content);
  timer.unref();
  const clear = () => clearTimeout(timer);
  message.once("end", clear).once("close", clear);
  // Discards unread content, for which Deno 2.9 would wait.
  response.once("finish", () => message.resume());
}

/** Responds to what the parser lets through and the app is not asked for. */
function ownResponse({ method, httpVersion, headers, url = "" }: IncomingMessage) {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return refusal(505, "This service speaks HTTP/1.1 and HTTP/1.0");
  }
  if (httpVersion === "1.1" && headers.host === undefined) {
    return refusal(400, "A request of HTTP/1.1 has a Host header");
  }
  // It tests the server as a whole (RFC 9110, section 9.3.7).
  if (method === "OPTIONS" && url === "*") {
    return new Response(null, { status: 204, headers: SECURITY_HEADERS });
  }
  if (url.startsWith("/") || url === "*") return undefined;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    return refusal(400, "A request target begins with a slash");
  }
  return undefined;
}

/** Status and detail by the code of the parser's error; others are 400. */
const REFUSALS: Readonly<Record<string, readonly [Status, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The request line and the header fields are longer than is read here"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time"],
};

/** Refuses what the parser cannot read, and closes the connection. */
function refuseUnparsed(socket: Socket, code = "", endEntry?: EndEntry): void {
  // It has been refused already. To close it while its client sends would reset it, and what the client has not read
  // would be lost (RFC 9112, section 9.6): it is idle now, and closed as such.
  if (!socket.writable) return;
  const [status, detail] = REFUSALS[code] ?? [400, "The request is not valid HTTP"];
  const body = Buffer.from(problemText(status, detail));
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status]}`,
    ...Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
    "content-type: application/problem+json",
    `content-length: ${body.byteLength}`,
    "cache-control: no-store",
    "connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(body, (error) => endEntry?.(error ? "aborted" : "sent", status));
  socket.end();
}

/** The slowest client: what it has to read, in bytes, within a time in milliseconds. */
export interface Slowest {
  readonly bytes: number;
  readonly time: number;
  /** The interval at which that is checked, in milliseconds. */
  readonly check: number;
}

const SLOWEST: Slowest = { bytes: 10_000, time: 10_000, check: TIMEOUTS.check };

interface Connection {
  lastResponse?: ServerResponse;
  bytesWrittenBefore: number;
  /** The time of the last activity by `performance.now()`; `Infinity` before the first response. */
  idleSince: number;
  /** The bytes that the system had taken when the client was last seen to read, and the time of that. */
  read?: { readonly bytes: number; readonly at: number } | undefined;
}

const DRAIN_INTERVAL_MS = 20;

/** The connections of a server: closes idle and slow ones, and drains all of them at the end. */
class Connections {
  readonly #connections = new Map<Socket, Connection>();
  readonly #slowest: Slowest;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(slowest: Slowest) {
    this.#slowest = slowest;
    // `keepAliveTimeout` is not enough: a client that sends blank lines resets it.
    this.#timer = setInterval(() => this.#check(performance.now()), slowest.check);
    this.#timer.unref();
  }

  add(socket: Socket): void {
    // Before the first response, `headersTimeout` applies, which answers with 408.
    this.#connections.set(socket, { bytesWrittenBefore: 0, idleSince: Infinity });
    socket.once("close", () => this.#connections.delete(socket));
  }

  addResponse(response: ServerResponse): void {
    const connection = this.#connections.get(response.req.socket);
    if (connection) connection.lastResponse = response;
  }

  /** Returns the last response on a connection, if it has not been sent. */
  pendingResponse(socket: Socket): ServerResponse | undefined {
    const last = this.#connections.get(socket)?.lastResponse;
    return last?.writableFinished ? undefined : last;
  }

  /** Tells whether the connection will be closed after its last response. */
  isClosing(socket: Socket): boolean {
    return this.#connections.get(socket)?.lastResponse?.shouldKeepAlive === false;
  }

  /** Closes each connection after its response, but no later than `TIMEOUTS.grace`. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    const until = performance.now() + TIMEOUTS.grace;
    const sockets = this.#connections;
    do {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_INTERVAL_MS));
      for (const socket of sockets.keys()) if (!this.#isResponding(socket)) socket.destroy();
    } while (sockets.size > 0 && performance.now() < until);
    for (const socket of sockets.keys()) socket.destroy();
  }

  #isResponding(socket: Socket): boolean {
    return socket.writableLength > 0 || this.pendingResponse(socket) !== undefined;
  }

  #check(now: number): void {
    for (const [socket, connection] of this.#connections) {
      // The timeout is for a client that does not read. One that waits for the app is not idle.
      const timeout = socket.writableLength > 0 ? TIMEOUTS.silence : 0;
      if ((socket.timeout ?? 0) !== timeout) socket.setTimeout(timeout);
      const bytes = bytesTaken(socket);
      const { read } = connection;
      if (bytes === undefined) connection.read = undefined;
      else if (!read || bytes - read.bytes >= this.#slowest.bytes) {
        connection.read = { bytes, at: now };
      } else if (now - read.at > this.#slowest.time) socket.destroy();
      if (this.#isResponding(socket) || socket.bytesWritten !== connection.bytesWrittenBefore) {
        connection.bytesWrittenBefore = socket.bytesWritten;
        connection.idleSince = now;
      } else if (now - connection.idleSince > TIMEOUTS.head) socket.destroy();
    }
  }
}

/** Counts what the system has taken of the bytes that were written; `undefined` if it has all. */
function bytesTaken(socket: Socket): number | undefined {
  type Handle = { readonly bytesWritten: number; readonly writeQueueSize: number };
  const { _handle: handle } = socket as { _handle?: Handle | null };
  if (!handle || socket.writableLength === 0) return undefined;
  return "writeQueueSize" in handle
    ? handle.bytesWritten - handle.writeQueueSize
    : socket.bytesWritten - socket.writableLength;
}
