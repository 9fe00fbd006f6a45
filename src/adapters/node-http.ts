/**
 * Serves an app with `node:http`, which both Node and Deno have.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";
import { SECURITY_HEADERS } from "../http/finish.ts";
import { problem } from "../http/problem-details.ts";
import { isAnswer, isResponse } from "../http/to-response.ts";
import { beginRecord, type EndRecord } from "./answer-record.ts";
import { hasBody, limitBody } from "./body-timeout.ts";
import { createConnections } from "./connections.ts";
import { LIMITS } from "./limits.ts";
import { MessageHead } from "./message-head.ts";
import { refusalOf, refuse } from "./refuse.ts";
import {
  answerOf,
  type App,
  type Callbacks,
  type Listening,
  notify,
  type ServeOptions,
  urlAt,
} from "./server.ts";

/**
 * Starts a server.
 *
 * @param app what answers
 * @param options where to listen, and who is told what becomes of requests
 * @returns the server, listening; rejects where it cannot listen there
 */
export async function serve(app: App, options: ServeOptions): Promise<Listening> {
  const { http, end } = await createHttpServer(app, options);
  await listen(http, options);
  return { url: urlOf(http), close: end };
}

/** Makes a server that does not listen yet, and what ends it and its connections. */
export async function createHttpServer(
  app: App,
  callbacks: Callbacks,
): Promise<{ http: Server; end: () => Promise<void> }> {
  // A plain import would have newer Nodes load all of `fetch` as well, a third of the time to start.
  const { createServer } = process.getBuiltinModule?.("node:http") ?? await import("node:http");
  const connections = createConnections();
  const answer = listener(app, callbacks);
  const settings = {
    headersTimeout: LIMITS.head,
    requestTimeout: LIMITS.head + LIMITS.content,
    // `connections` cuts idle ones.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: LIMITS.check,
    // `refusalOf` answers these.
    requireHostHeader: false,
    // What has no content is no stream to be read to its end: an eighth of a request's time on Node
    // 26.10; Nodes before 24.12 ignore it.
    optimizeEmptyRequests: true,
  };
  const http = createServer(settings, (message, response) => {
    connections.addAnswer(response);
    const head = new MessageHead(message);
    limitBody(message, response, head);
    // The parser drops what follows an Upgrade in a packet, so no answer to that is promised
    // (RFC 9112, section 9.6).
    if (head.has("upgrade")) response.shouldKeepAlive = false;
    answer(message, response);
  });
  // The default is 2000, and drops even `Host` where it comes later.
  http.maxHeadersCount = 0;
  // It takes an answer that is still being sent for idle; `connections` does not.
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
    // What follows a request with `Connection: close` is not read (RFC 9112, section 9.6).
    else if (!connections.isClosing(socket as Socket)) {
      refuseAfterAnswers(socket as Socket, error.code);
    }
  });
  http.on("connect", (message, stream) => {
    const socket = stream as Socket;
    // The server has given this socket away, and its limits and listeners with it.
    socket.on("error", () => {}).resume().setTimeout(LIMITS.head, () => socket.destroy());
    refuseAfterAnswers(socket, undefined, new MessageHead(message));
  });
  const end = async () => {
    http.close();
    await connections.end();
  };
  return { http, end };
}

/**
 * Makes the function that answers requests to a server of `node:http`.
 *
 * @param app what answers
 * @param callbacks who is told what becomes of requests
 */
export function listener(
  app: App,
  callbacks: Callbacks = {},
): (message: IncomingMessage, response: ServerResponse) => void {
  return (message, response) => {
    const { onAnswer, onError = console.error } = callbacks;
    const head = new MessageHead(message);
    const endRecord = onAnswer && beginRecord(onAnswer, head);
    if (endRecord) {
      const { socket } = message;
      // `finish` comes as well where the connection ends with a part still to be written.
      const isWhole = () => response.writableFinished && !socket.destroyed && !socket.errored;
      const end = () =>
        endRecord(
          isWhole() ? "sent" : "aborted",
          response.headersSent ? response.statusCode : undefined,
        );
      response.once("finish", end).once("close", end);
    }
    const own = refusalOf(message, head) ?? answerToStar(message);
    if (own) return write(response, withSecurity(own));
    const answer = answerOf(app, head, () => wholeRequest(message, response, head));
    if (isAnswer(answer)) write(response, answer);
    else void send(response, answer, onError, endRecord);
  };
}

type OnError = NonNullable<Callbacks["onError"]>;

/** Sends an answer that has to be waited for, or is a host's own response; never rejects. */
async function send(
  response: ServerResponse,
  answer: Awaitable<Answer | Response>,
  onError: OnError,
  endRecord?: EndRecord,
): Promise<void> {
  try {
    const given = await answer;
    if (isResponse(given)) await sendResponse(response, given, onError, endRecord);
    else write(response, given);
  } catch (error) {
    void notify(onError, error);
    if (response.headersSent) response.destroy();
    else write(response, withSecurity(problem(500, "This request could not be answered")));
  }
}

/** Sends a host's own response; where its stream fails, the connection is cut. */
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
  response.once("close", () => void reader.cancel().catch(() => {}));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      // The client has gone away.
      if (response.destroyed) return;
      if (done) return void response.end();
      if (!response.write(value)) await drained(response);
    }
  } catch (error) {
    // A stream may well fail because its client has gone away.
    if (response.destroyed) return;
    endRecord?.("failed", status);
    void notify(onError, error);
    response.destroy();
  }
}

/** Waits until more can be written, or the response is closed. */
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

/** Writes an answer as it is. */
function write(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, answer.headers).end(contentOf(answer), "latin1");
}

/** Longer contents are written as bytes, which are copied nowhere. */
const TEXT_MAX = 16_384;

/**
 * What is written of a content: `node:http` sends a text in one piece with the head, and bytes in a
 * second one, which took a fifth more of a request's time (Node 26.10).
 */
function contentOf(answer: Answer): string | Answer["body"] {
  const { body } = answer;
  if (!body || body.byteLength > TEXT_MAX) return body;
  return answer.text ??= Buffer.from(body).toString("latin1");
}

const NO_CONTENT = Buffer.alloc(0);

/** All of a request, as a host's operation is given it. */
async function wholeRequest(
  message: IncomingMessage,
  response: ServerResponse,
  head: RequestHead,
): Promise<Request> {
  // A message that is no stream looks as if its client had gone, until the parser is through with it.
  const { NodeRequest } = await import("srvx/node");
  // srvx would have it that its content was used up; where it was, by a host's parser, that is so.
  if (message.readableEnded && !hasBody(head) && !("rawBody" in message)) {
    Object.assign(message, { rawBody: NO_CONTENT });
  }
  return new NodeRequest({ req: message, res: response });
}

/** How many connections may wait to be accepted; the system has a limit of its own as well. */
const BACKLOG = 4096;

/** Listens; rejects with the system's own error where it cannot. */
export function listen(
  http: Server,
  { host, port }: Pick<ServeOptions, "host" | "port">,
): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", reject).listen({ port, host, backlog: BACKLOG }, () => {
      http.off("error", reject);
      resolve();
    });
  });
}

/** The address of a server that listens. */
export function urlOf(http: Server): string {
  const { address, port } = http.address() as AddressInfo;
  return urlAt(address, port);
}

/** Answers the target `*`, which is no path: it only asks for an answer (RFC 9110, section 9.3.7). */
function answerToStar({ method, url }: IncomingMessage): Answer | undefined {
  return method === "OPTIONS" && url === "*" ? { status: 204, headers: {}, body: null } : undefined;
}
