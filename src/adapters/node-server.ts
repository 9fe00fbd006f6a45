/**
 * Serves an app with `node:http`, on Node and Deno.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import { FastResponse, type NodeResponse as SrvxResponse, sendNodeResponse } from "srvx/node";
import { type Bytes, PART_LENGTH, partsOf } from "../bytes.ts";
import type { ServedRequest } from "../http/request.ts";
import { type HeldBytes, ResponseInParts, useResponseClass } from "../http/response.ts";
import { Connections, hasContent, type MinimumRate } from "./connections.ts";
import { IS_DENO } from "../platform.ts";
import { limitContent, logHeadOf, Message } from "./message.ts";
import { requestOfMessage } from "./message-request.ts";
import { handleInOrder } from "./pipelining.ts";
import { ownResponse, refuseUnreadable, TIMED_OUT } from "./refusals.ts";
import {
  type Address,
  beginEntry,
  type Callbacks,
  checkApp,
  checkServeOptions,
  type EndEntry,
  failure,
  type Listening,
  notifyError,
  refuseLate,
  report,
  runningServer,
  type Servable,
  type ServeOptions,
  TIMEOUTS,
  urlAt,
  watchBody,
} from "./shared.ts";
import { serveUpgrades } from "./websocket.ts";

useResponseClass(FastResponse);

export interface HttpServer {
  readonly http: Server;
  /** Resolves when all connections have ended. */
  close(): Promise<void>;
}

export function createHttpServer(
  app: Servable,
  callbacks: Callbacks,
  slowest?: MinimumRate,
): HttpServer {
  const refuseOn = (socket: Socket, code?: string) => refuseUnreadable(socket, code, callbacks);
  const connections = new Connections((socket) => refuseOn(socket, TIMED_OUT), slowest);
  const onRequest = (message: IncomingMessage, response: ServerResponse) => {
    // The rest of refused content is read after the last response of a connection. Requests behind
    // it are ignored (RFC 9112, section 9.6).
    if (message.socket.writableEnded) return;
    connections.addResponse(response);
    // The parser drops bytes after such a request, so the connection is closed (RFC 9112, section
    // 9.6).
    const isLast = message.headers.upgrade !== undefined || message.method === "CONNECT";
    if (isLast) response.shouldKeepAlive = false;
    handleInOrder(message, response, (refuse) => {
      if (hasContent(message)) limitContent(message, response);
      void respond(app, callbacks, message, response, { refuse });
    });
  };
  const http = createServer(SETTINGS, onRequest);
  // By default, `node:http` drops all headers after the first 2000, even `Host`.
  http.maxHeadersCount = 0;
  // Node's own method would also close connections whose response is still being sent.
  http.closeIdleConnections = () => {};
  http.on("connection", (socket) => connections.add(socket));
  // A server may ignore unknown expectations (RFC 9110, section 10.1.1).
  http.on("checkExpectation", onRequest);
  http.on("clientError", ({ code }: NodeJS.ErrnoException, stream) => {
    refuseOn(stream as Socket, code);
  });
  serveUpgrades(
    http,
    connections,
    (message, response) => void respond(app, callbacks, message, response),
  );
  return {
    http,
    close() {
      http.close();
      return connections.end();
    },
  };
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
  const { http, close } = createHttpServer(app, options);
  await listen(http, wanted);
  // Without a listener, an error of `accept`, such as ENFILE, would end the process.
  http.once("error", (error) => notifyError(error, "accept", app, options)).on("error", () => {});
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
  { refuse, originalUrl, context = [] }: Handling = {},
): Promise<void> {
  const endEntry = beginEntry(callbacks, logHeadOf(message, originalUrl));
  let request: ServedRequest | undefined;
  if (endEntry) endWith(message.socket, response, endEntry, () => request?.clientName);
  try {
    const refused = ownResponse(message) ?? refuse?.();
    if (!refused) request = requestOfMessage(message, response, originalUrl);
    const given = refused ?? await app.fetch(request!, ...context);
    const upgrade = given.status === 101 ? request?.upgrade : undefined;
    if (upgrade && await (message as Message).takeOver!(upgrade)) {
      return endEntry?.("sent", 101, request!.clientName);
    }
    await send(response, upgrade ? refuseLate() : given);
    // srvx sets `errored` if the body's stream fails, but not if the client disconnects.
    if (response.errored) report(response.errored, message, app, callbacks);
  } catch (error) {
    report(error, message, app, callbacks);
    if (response.headersSent) response.destroy();
    else void send(response, failure());
  } finally {
    request?.upgrade?.drop();
  }
}

const SHORT_MAX = 16_384;

function send(response: ServerResponse, given: Response): Promise<void> {
  const form = serverFormOf(given);
  const { body } = form;
  if (!body) return sendBytes(response, form);
  if (body instanceof Uint8Array) return sendBytes(response, form, body);
  if (given instanceof ResponseInParts && !IS_DENO) return sendHeld(response, form, given.held);
  if (isEventStream(form)) response.shouldKeepAlive = false;
  // Deno's `ServerResponse` does not report the error of a body stream.
  const onFailure = (errored: unknown) =>
    response.destroyed || Object.assign(response, { errored });
  const sent = {
    ...form,
    headers: headersLeft(response, form),
    body: IS_DENO && body instanceof ReadableStream
      ? watchBody(body, { onFailure, partMax: PART_LENGTH })
      : body,
  };
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

/** Without a text, middleware such as `compression` would take `undefined` for the headers. */
function writeHead(response: ServerResponse, form: ServerForm): void {
  const { status, statusText } = form;
  const headers = headersLeft(response, form);
  if (statusText) response.writeHead(status, statusText, headers);
  else response.writeHead(status, headers);
}

/**
 * Middleware such as `morgan` replaces `writeHead`. Serverless hosts override it, or give the
 * response a socket of their own.
 */
const isNative = ({ writeHead, socket }: ServerResponse): boolean =>
  writeHead === ServerResponse.prototype.writeHead && socket instanceof Socket;

/** Fields that are added to those of the host, which each have a meaning of their own. */
const ADDED = ["set-cookie", "vary"];

/**
 * Returns the headers for `writeHead`, as a list of names and values. A replaced `writeHead` may
 * misread such a list (on-headers 1.0). If the host has set headers, Node 20 sends only one of
 * several cookies in the list. In both cases, the headers are set here, and none are left.
 */
function headersLeft(response: ServerResponse, { headers }: ServerForm): ServerForm["headers"] {
  // A host may have responded already, after a time of its own.
  if (response.headersSent) return headers;
  if (isNative(response) && response.getHeaderNames().length === 0) return headers;
  const values = new Map<string, string[]>();
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    values.set(name, [...values.get(name) ?? [], headers[at + 1]!]);
  }
  for (const [name, all] of values) {
    if (ADDED.includes(name.toLowerCase())) response.appendHeader(name, all);
    else response.setHeader(name, all.length > 1 ? all : all[0]!);
  }
  return [];
}

async function sendBytes(
  response: ServerResponse,
  form: ServerForm,
  body?: Uint8Array,
): Promise<void> {
  // Writes the responses of one tick together, since each write may cause a context switch.
  await new Promise((resolve) => setImmediate(resolve));
  writeHead(response, form);
  if (!body) return void response.end();
  if (body.byteLength <= SHORT_MAX && isNative(response)) {
    // `node:http` sends the head and a string in one packet, but the head and a buffer in two
    // packets. Two packets take twice the time (Node 26.10). Serverless hosts read any string as
    // UTF-8.
    return void response.end(Buffer.from(body).toString("latin1"), "latin1");
  }
  // Deno 2.9 reports no progress during a write, so a long write would look like a client that has
  // stopped reading.
  if (!IS_DENO) return void response.end(body);
  for (const part of partsOf(body as Bytes)) response.write(part);
  response.end();
}

/** A stream of the parts would take a third more time (1 MB, Node 26.10). */
async function sendHeld(
  response: ServerResponse,
  form: ServerForm,
  held: HeldBytes,
): Promise<void> {
  if (response.destroyed) return held.release();
  held.takeOver((reason) => {
    response.destroy(reason as Error);
    held.release();
  });
  const closed = new Promise((resolve) => {
    response.once("close", resolve);
    // The sockets of serverless hosts do not close.
    if (!isNative(response)) response.once("finish", resolve);
  });
  try {
    writeHead(response, form);
    for (const part of held.parts) response.write(part);
    response.end();
    await closed;
  } finally {
    held.release();
  }
}

function endWith(
  socket: Socket,
  response: ServerResponse,
  endEntry: EndEntry,
  client: () => string | undefined,
): void {
  const end = () => {
    // `finish` is emitted even if the connection closed before all bytes were written.
    const isSent = response.writableFinished && !socket.destroyed && !socket.errored;
    const outcome = response.errored ? "failed" : isSent ? "sent" : "aborted";
    const status = response.headersSent ? response.statusCode : undefined;
    endEntry(outcome, status, client());
  };
  response.once("finish", end).once("close", end);
}
