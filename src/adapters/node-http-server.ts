/**
 * Serves an app with `node:http`, on Node and Deno.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";
import { SECURITY_HEADERS } from "../http/finish.ts";
import { isAnswer, isResponse } from "../http/to-response.ts";
import { beginRecord, type EndRecord } from "./answer-record.ts";
import { hasBody, limitBody } from "./body-timeout.ts";
import { createConnections } from "./connections.ts";
import { TIMEOUTS } from "./timeouts.ts";
import { type Address, checkServeOptions } from "./check-serve-options.ts";
import { whenAnswered } from "./when-answered.ts";
import { MessageHead } from "./node-request-head.ts";
import { withParsedBody } from "./parsed-body.ts";
import { refusalOf, refuse } from "./protocol-errors.ts";
import {
  answerOf,
  type App,
  type Callbacks,
  type Listening,
  listening,
  notify,
  type OnError,
  onErrorOf,
  type ServeOptions,
  unanswered,
  urlAt,
} from "./shared.ts";

/** Starts a server; rejects if it cannot listen, or with a `TypeError` if an option is wrong. */
export async function serve(app: App, options: ServeOptions = {}): Promise<Listening> {
  const address = await checkServeOptions(options);
  const { http, end } = await createHttpServer(app, options);
  await listen(http, address);
  return listening(urlOf(http), end);
}

/** Makes a server that does not listen yet, and the function that closes it and its connections. */
export async function createHttpServer(
  app: App,
  callbacks: Callbacks,
): Promise<{ http: Server; end: () => Promise<void> }> {
  // In newer Nodes, `import("node:http")` also loads `fetch`: a third of the time to start.
  const { createServer } = process.getBuiltinModule?.("node:http") ?? await import("node:http");
  const connections = createConnections();
  const settings = {
    headersTimeout: TIMEOUTS.head,
    requestTimeout: TIMEOUTS.head + TIMEOUTS.content,
    // `connections` closes idle ones.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: TIMEOUTS.check,
    // `refusalOf` answers these.
    requireHostHeader: false,
    // Saves an eighth of the time of a request (Node 26.10); Node before 24.12 ignores it.
    optimizeEmptyRequests: true,
  };
  const http = createServer(settings, (message, response) => {
    connections.addAnswer(response);
    const head = new MessageHead(message, response);
    limitBody(message, response, head);
    // The parser drops the rest of a packet after an Upgrade, so the connection must be closed
    // (RFC 9112, section 9.6).
    if (head.has("upgrade")) response.shouldKeepAlive = false;
    answerMessage(app, callbacks, message, response, head);
  });
  // `node:http` drops headers past `maxHeadersCount`, by default 2000, even `Host`.
  http.maxHeadersCount = 0;
  // The built-in method closes connections whose answer is still being sent; `connections` does not.
  http.closeIdleConnections = () => {};
  http.on("connection", connections.add);
  // An unknown expectation may be ignored (RFC 9110, section 10.1.1).
  http.on("checkExpectation", (message, response) => http.emit("request", message, response));

  const refuseAfterAnswers = (socket: Socket, code?: string, request?: RequestHead) => {
    const { onAnswer } = callbacks;
    const endRecord = onAnswer && beginRecord(onAnswer, request);
    const earlier = connections.pendingAnswer(socket);
    if (earlier) earlier.once("finish", () => refuse(socket, code, endRecord));
    else refuse(socket, code, endRecord);
  };
  http.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET") socket.destroy();
    // Bytes after a request with `Connection: close` are ignored (RFC 9112, section 9.6).
    else if (!connections.isClosing(socket as Socket)) {
      refuseAfterAnswers(socket as Socket, error.code);
    }
  });
  http.on("connect", (message, stream) => {
    const socket = stream as Socket;
    // The server has detached this socket and its timeouts.
    socket.on("error", () => {}).resume().setTimeout(TIMEOUTS.head, () => socket.destroy());
    refuseAfterAnswers(socket, undefined, new MessageHead(message));
  });
  const end = async () => {
    http.close();
    await connections.end();
  };
  return { http, end };
}

/**
 * Makes the request listener for a server of `node:http`, which is a middleware of Express and its like as
 * well. A router that takes the path of the mount off says so in `originalUrl`. The handlers of a host's
 * operations are given the `IncomingMessage` as their context.
 *
 * The limits that `serve` sets for slow clients are not set here: they belong to the host's server.
 *
 * @returns answers a request; where there is a `next`, it is called for a path that the app does not serve,
 * and nothing is written
 */
export function listener(app: App, callbacks: Callbacks = {}): Listener {
  return (message, response, next) => {
    const { originalUrl } = message as { originalUrl?: unknown };
    const original = typeof originalUrl === "string" ? originalUrl : undefined;
    const head = new MessageHead(message, response, original);
    if (next && app.matches?.(head) === false) return next();
    answerMessage(app, callbacks, message, response, head, [message]);
  };
}

/** A request listener of `node:http`, or a middleware. */
export type Listener = (
  message: IncomingMessage,
  response: ServerResponse,
  next?: () => void,
) => void;

/** Answers a request of `node:http`. */
function answerMessage(
  app: App,
  callbacks: Callbacks,
  message: IncomingMessage,
  response: ServerResponse,
  head: MessageHead,
  context: readonly unknown[] = [],
): void {
  const { onAnswer } = callbacks;
  const endRecord = onAnswer && beginRecord(onAnswer, head);
  if (endRecord) {
    const { socket } = message;
    // `finish` is emitted even if the connection was closed with unwritten bytes.
    const isSent = () => response.writableFinished && !socket.destroyed && !socket.errored;
    const end = () =>
      endRecord(
        isSent() ? "sent" : "aborted",
        response.headersSent ? response.statusCode : undefined,
      );
    response.once("finish", end).once("close", end);
  }
  const direct = refusalOf(message, head) ?? answerToStar(message);
  if (direct) return write(response, withSecurity(direct));
  const answer = answerOf(app, head, () => makeRequest(message, response, head), context);
  if (isAnswer(answer)) write(response, answer);
  else void send(response, answer, onErrorOf(app, callbacks), endRecord);
}

async function send(
  response: ServerResponse,
  answer: Awaitable<Answer | Response>,
  onError: OnError,
  endRecord?: EndRecord,
): Promise<void> {
  try {
    const given = await answer;
    if (isResponse(given)) return await sendResponse(response, given, onError, endRecord);
    // Each write wakes its client, which may take the processor: those of one moment go out together.
    await new Promise((resolve) => setImmediate(resolve));
    write(response, given);
  } catch (error) {
    void notify(onError, error);
    if (response.headersSent) response.destroy();
    else write(response, withSecurity(unanswered()));
  }
}

/** Sends a host's own response. If its stream fails, the connection is closed. */
async function sendResponse(
  response: ServerResponse,
  { status, statusText, headers, body }: Response,
  onError: OnError,
  endRecord?: EndRecord,
): Promise<void> {
  response.writeHead(status, statusText, [...headers].flat());
  if (!body || response.req.method === "HEAD") {
    response.end();
    return await body?.cancel();
  }
  const reader = body.getReader();
  whenAnswered(response, () => void reader.cancel().catch(() => {}));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (response.destroyed) return;
      if (done) return void response.end();
      if (!response.write(value)) await drained(response);
    }
  } catch (error) {
    // A disconnected client may make the stream fail.
    if (response.destroyed) return;
    endRecord?.("failed", status);
    void notify(onError, error);
    response.destroy();
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.on("drain", go).on("close", go);
  });
}

const withSecurity = (answer: Answer): Answer => ({
  ...answer,
  headers: { ...SECURITY_HEADERS, ...answer.headers },
});

function write(response: ServerResponse, answer: Answer): void {
  if (answer.sent) whenAnswered(response, answer.sent);
  response.writeHead(answer.status, answer.headers);
  if (!answer.rest?.length) return void response.end(bodyOf(answer), "latin1");
  response.cork();
  for (const part of [answer.body, ...answer.rest]) response.write(part);
  response.end();
  response.uncork();
}

/** Longer bodies, in bytes, are written without a copy. */
const TEXT_SIZE_MAX = 16_384;

/**
 * `node:http` writes a string together with the head, but bytes separately, which takes a fifth more time
 * (Node 26.10).
 */
function bodyOf(answer: Answer): string | Answer["body"] {
  const { body } = answer;
  if (!body || body.byteLength > TEXT_SIZE_MAX) return body;
  return answer.text ??= Buffer.from(body).toString("latin1");
}

const EMPTY_BODY = Buffer.alloc(0);

async function makeRequest(
  message: IncomingMessage,
  response: ServerResponse,
  head: RequestHead,
): Promise<Request> {
  // The `await` matters: with `optimizeEmptyRequests`, an empty request looks aborted until the parser
  // has returned.
  const { NodeRequest } = await import("srvx/node");
  // srvx 1.0 takes an ended message for one whose body was used. That is right if there was a body.
  if (message.readableEnded && !hasBody(head) && !("rawBody" in message)) {
    Object.assign(message, { rawBody: EMPTY_BODY });
  }
  return withParsedBody(message, head, new NodeRequest({ req: message, res: response }));
}

/** How many connections may wait to be accepted; the system may allow fewer. */
const BACKLOG = 4096;

/** Listens; rejects with the system's error if it cannot. */
export function listen(
  http: Server,
  { hostname, port }: Address,
): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", reject).listen({ port, host: hostname, backlog: BACKLOG }, () => {
      http.off("error", reject);
      resolve();
    });
  });
}

/** The URL of a listening server. */
export function urlOf(http: Server): string {
  const { address, port } = http.address() as AddressInfo;
  return urlAt(address, port);
}

/** `OPTIONS *` tests the server as a whole (RFC 9110, section 9.3.7). */
function answerToStar({ method, url }: IncomingMessage): Answer | undefined {
  return method === "OPTIONS" && url === "*" ? { status: 204, headers: {}, body: null } : undefined;
}
