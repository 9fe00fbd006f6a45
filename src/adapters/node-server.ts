/**
 * Serves an app with `node:http`, on Node and Deno.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { FastResponse, type NodeResponse as SrvxResponse, sendNodeResponse } from "srvx/node";
import { type Bytes, isInTinyParts, PART_LENGTH, partsOf } from "../bytes.ts";
import { type ServedRequest, UNREADABLE_CONTENT } from "../http/request.ts";
import { SECURITY_HEADERS } from "../http/common-headers.ts";
import { problemText } from "../http/problem.ts";
import { type HttpStatus, REASONS, useResponseClass } from "../http/response.ts";
import { Connections, type CountedMessage, hasContent, type Slowest } from "./connections.ts";
import { requestOf } from "./message-request.ts";
import { handleInOrder } from "./pipelining.ts";
import {
  type Address,
  beginEntry,
  type Callbacks,
  checkApp,
  checkServeOptions,
  type EndEntry,
  failure,
  type Listening,
  refusal,
  report,
  runningServer,
  type Servable,
  type ServeOptions,
  TIMEOUTS,
  urlAt,
  watchBody,
} from "./shared.ts";
import { serveUpgrades, UpgradableMessage } from "./websocket.ts";

useResponseClass(FastResponse);

const IS_DENO = "Deno" in globalThis;

export class NodeServer {
  readonly http: Server;
  readonly #app: Servable;
  readonly #callbacks: Callbacks;
  readonly #connections: Connections;
  constructor(app: Servable, callbacks: Callbacks, slowest?: Slowest) {
    this.#app = app;
    this.#callbacks = callbacks;
    this.#connections = new Connections((socket) => this.#onError(TIMED_OUT, socket), slowest);
    const onRequest = (message: IncomingMessage, response: ServerResponse) =>
      this.#onRequest(message, response);
    const http = this.http = createServer(SETTINGS, onRequest);
    // By default, `node:http` drops all headers after the first 2000, even `Host`.
    http.maxHeadersCount = 0;
    // Node's own method would also close connections whose response is still being sent.
    http.closeIdleConnections = () => {};
    http.on("connection", (socket) => this.#connections.add(socket));
    // A server may ignore unknown expectations (RFC 9110, section 10.1.1).
    http.on("checkExpectation", onRequest);
    http.on("clientError", ({ code }: NodeJS.ErrnoException, stream) => {
      this.#onError(code, stream as Socket);
    });
    http.on("connect", (message, stream) => this.#onConnect(message, stream as Socket));
    serveUpgrades(
      http,
      this.#connections,
      (message, response) => void respond(app, callbacks, message, response, {}),
    );
  }

  readonly close = (): Promise<void> => {
    this.http.close();
    return this.#connections.end();
  };

  #onRequest(message: IncomingMessage, response: ServerResponse): void {
    this.#connections.addResponse(response);
    // The parser drops bytes after an upgrade request, so the connection is closed (RFC 9112,
    // section 9.6).
    if (message.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    handleInOrder(message, response, (refuse) => {
      if (hasContent(message)) limitContent(message, response);
      void respond(this.#app, this.#callbacks, message, response, { refuse });
    });
  }

  #onConnect(message: IncomingMessage, socket: Socket): void {
    // After CONNECT, `node:http` no longer applies its timeouts to the socket.
    socket.on("error", () => {}).resume().setTimeout(TIMEOUTS.head, () => socket.destroy());
    this.#refuseAfterResponses(socket, undefined, message);
  }

  /** @param code of the error by which the parser or a time limit ends the reading */
  #onError(code: string | undefined, socket: Socket): void {
    // On Deno 2.9, bytes after a malformed request would break the parser of another connection.
    if (IS_DENO) socket.removeAllListeners("data").resume();
    if (code === "ECONNRESET") return void socket.destroy();
    const last = this.#connections.pendingResponse(socket);
    if (last && !last.req.complete) return this.#breakOff(last, socket, code);
    // Bytes after a request with `Connection: close` are ignored (RFC 9112, section 9.6).
    this.#refuseAfterResponses(socket, code);
  }

  /** Ends a request whose content cannot be read. The app would wait for the rest of it. */
  #breakOff(last: ServerResponse, socket: Socket, code: string | undefined): void {
    const refuseOnce = () => {
      // The response was already the refusal, or the app's response to content that came too late.
      if (last.statusCode === 400 || code === TIMED_OUT) socket.end();
      else refuseUnparsed(socket, code, beginEntry(this.#callbacks));
    };
    if (!last.req.destroyed) last.once("finish", refuseOnce);
    (last.req as Message).breakOff();
  }

  #refuseAfterResponses(socket: Socket, code?: string, message?: IncomingMessage): void {
    const connections = this.#connections;
    // The parser fails again at each further read.
    if (connections.isClosing(socket)) return;
    connections.setClosing(socket);
    const endEntry = beginEntry(this.#callbacks, message && logHeadOf(message));
    const earlier = connections.pendingResponse(socket);
    if (earlier) earlier.once("finish", () => refuseUnparsed(socket, code, endEntry));
    else refuseUnparsed(socket, code, endEntry);
  }
}

/**
 * The parser pushes a part for each HTTP chunk. A single read from the socket may contain 10,000
 * chunks. The part that exceeds the limit is still pushed, so that the reader notices the excess
 * and refuses the content.
 */
class Message extends UpgradableMessage implements CountedMessage {
  received = 0;
  #parts = 0;
  #isRefused = false;
  #breaksOff = false;

  override push(part: Uint8Array | null, encoding?: BufferEncoding): boolean {
    if (this.#isRefused) {
      this.breakOff();
      return false;
    }
    if (part) {
      this.received += part.byteLength;
      this.#isRefused = isInTinyParts(++this.#parts, this.received);
    }
    return super.push(part, encoding);
  }

  /** Stops the reading of the content, but leaves the connection open for the response. */
  breakOff(): void {
    this.#breaksOff = true;
    this.destroy(UNREADABLE_CONTENT);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#breaksOff) super._destroy(error, callback);
    // Without a listener, an error event would end the process.
    else callback(this.listenerCount("error") > 0 ? error : null);
  }
}

const SETTINGS = {
  headersTimeout: TIMEOUTS.head,
  // `Connections` closes connections that are idle, or send content too slowly. A time limit for
  // the whole request would end long uploads.
  requestTimeout: 0,
  keepAliveTimeout: 0,
  connectionsCheckingInterval: TIMEOUTS.check,
  // Many tiny parts need far more memory than their bytes, so the server reads only a little
  // ahead.
  highWaterMark: 2048,
  IncomingMessage: Message,
  // `ownResponse` refuses requests without `Host`.
  requireHostHeader: false,
  // `optimizeEmptyRequests` makes requests an eighth faster (Node 26.10). Node before 24.12
  // ignores this option.
  optimizeEmptyRequests: true,
};

const BACKLOG = 4096;

export async function listen(http: Server, { hostname, port }: Address): Promise<void> {
  await once(http.listen({ port, host: hostname, backlog: BACKLOG }), "listening");
}

export async function serveHttp(
  app: Servable,
  options: ServeOptions,
  watch: (http: Server, address: Address) => () => void = () => () => {},
): Promise<Listening> {
  checkApp(app);
  const wanted = checkServeOptions(options);
  const { http, close } = new NodeServer(app, options);
  await listen(http, wanted);
  const stop = watch(http, wanted);
  const { address, port } = http.address() as AddressInfo;
  return runningServer(app, urlAt(address, port), () => {
    stop();
    return close();
  });
}

interface Handling {
  /** Makes the response in place of the app. */
  readonly refuse?: (() => Response) | undefined;
  /** The path and query before a router has shortened them. */
  readonly originalUrl?: string | undefined;
  /** Further arguments for the app. */
  readonly context?: readonly unknown[];
}

/** Never rejects. */
export async function respond(
  app: Servable,
  callbacks: Callbacks,
  message: IncomingMessage,
  response: ServerResponse,
  { refuse, originalUrl, context = [] }: Handling,
): Promise<void> {
  const endEntry = beginEntry(callbacks, logHeadOf(message));
  let request: ServedRequest | undefined;
  if (endEntry) endWith(response, endEntry, () => request?.clientName);
  try {
    const refused = ownResponse(message) ?? refuse?.();
    if (!refused) request = requestOf(message, response, originalUrl);
    const given = refused ?? await app.fetch(request!, ...context);
    if (given.status === 101 && request?.upgrade) {
      await (message as Message).takeOver!(request.upgrade);
      return endEntry?.("sent", 101, request.clientName);
    }
    await send(response, given);
    // srvx sets `errored` if the body's stream fails, but not if the client disconnects.
    if (response.errored) report(response.errored, message, app, callbacks);
  } catch (error) {
    report(error, message, app, callbacks);
    if (response.headersSent) response.destroy();
    else void send(response, failure());
  }
}

const SHORT_MAX = 16_384;

function send(response: ServerResponse, given: Response): Promise<void> {
  const form = serverFormOf(given);
  const { body } = form;
  if (!body) return sendBytes(response, form);
  if (body instanceof Uint8Array) return sendBytes(response, form, body);
  if (isEventStream(form)) response.shouldKeepAlive = false;
  // Deno's `ServerResponse` does not report the error of a body stream.
  const onFailure = (errored: unknown) =>
    response.destroyed || Object.assign(response, { errored });
  const sent = IS_DENO && body instanceof ReadableStream
    ? { ...form, body: watchBody(body, { onFailure, partMax: PART_LENGTH }) }
    : form;
  return sendNodeResponse(response, { _toNodeResponse: () => sent } as SrvxResponse);
}

type ServerForm = ReturnType<SrvxResponse["_toNodeResponse"]>;

/**
 * The connection of an event stream closes with it. A host's server that was closed before would
 * wait seconds for an idle connection.
 */
const isEventStream = ({ headers }: ServerForm): boolean =>
  headers.some((text) => String(text).startsWith("text/event-stream"));

/** A host's app may return a native response. */
function serverFormOf(response: Response): ServerForm {
  if ("_toNodeResponse" in response) return (response as SrvxResponse)._toNodeResponse();
  const { status, statusText, headers, body } = response;
  return { status, statusText, headers: [...headers].flat(), body };
}

async function sendBytes(
  response: ServerResponse,
  { status, statusText, headers }: ServerForm,
  body?: Uint8Array,
): Promise<void> {
  // Writes the responses of one tick together, since each write may cause a context switch.
  await new Promise((resolve) => setImmediate(resolve));
  response.writeHead(status, statusText || undefined, headers);
  if (!body) return void response.end();
  if (body.byteLength <= SHORT_MAX) {
    // `node:http` sends the head and a string in one packet, but the head and a buffer in two
    // packets. Two packets take twice the time (Node 26.10).
    return void response.end(Buffer.from(body).toString("latin1"), "latin1");
  }
  // Deno 2.9 reports no progress during a write, so a long write would look like a client that has
  // stopped reading.
  if (!IS_DENO) return void response.end(body);
  for (const part of partsOf(body as Bytes)) response.write(part);
  response.end();
}

/** The target `*` becomes `/*` in the access log, as on Bun and workerd. */
const logHeadOf = ({ method = "GET", url = "/" }: IncomingMessage) => ({
  method,
  url: url === "*" ? "/*" : url,
});

function endWith(
  response: ServerResponse,
  endEntry: EndEntry,
  client: () => string | undefined,
): void {
  const { socket } = response.req;
  const end = () => {
    // `finish` is emitted even if the connection closed before all bytes were written.
    const isSent = response.writableFinished && !socket.destroyed && !socket.errored;
    const outcome = response.errored ? "failed" : isSent ? "sent" : "aborted";
    const status = response.headersSent ? response.statusCode : undefined;
    endEntry(outcome, status, client());
  };
  response.once("finish", end).once("close", end);
}

/**
 * Limits the time for content that arrives after the response. Until the response, `Connections`
 * checks its speed, and gives the app the time to refuse slow content with a response of its own.
 */
function limitContent(message: IncomingMessage, response: ServerResponse): void {
  response.once("finish", () => {
    // Discards unread content, since Deno 2.9 would wait for it to be read.
    message.resume();
    if (message.complete) return;
    const timer = setTimeout(() => message.socket.destroy(), TIMEOUTS.content);
    timer.unref();
    const clear = () => clearTimeout(timer);
    message.once("end", clear).once("close", clear);
  });
}

/** Responds to requests that the parser accepts but the app must not see. */
function ownResponse({ method, httpVersion, headers, url = "" }: IncomingMessage) {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return refusal(505, "This service supports HTTP/1.1 and HTTP/1.0");
  }
  if (httpVersion === "1.1" && headers.host === undefined) {
    return refusal(400, "An HTTP/1.1 request must have a Host header");
  }
  // `OPTIONS *` concerns the server as a whole (RFC 9110, section 9.3.7).
  if (method === "OPTIONS" && url === "*") {
    return new Response(null, { status: 204, headers: SECURITY_HEADERS });
  }
  const isServed = url.startsWith("/") || url === "*" ||
    (/^https?:\/\//i.test(url) && URL.canParse(url));
  return isServed ? undefined : refusal(400, "The request target must begin with a slash");
}

const TIMED_OUT = "ERR_HTTP_REQUEST_TIMEOUT";

const REFUSALS: Readonly<Record<string, readonly [HttpStatus, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The request line and header fields are too long"],
  [TIMED_OUT]: [408, "The request did not arrive in time"],
};

function refuseUnparsed(socket: Socket, code = "", endEntry?: EndEntry): void {
  // A refusal was already sent. Closing the socket now could lose the refusal (RFC 9112, section
  // 9.6).
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
