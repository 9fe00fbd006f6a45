/**
 * Serves an app with `node:http`, which both Node and Deno have.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { SECURITY_HEADERS } from "../http/finish.ts";
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";
import { isResponse } from "../http/to-response.ts";
import { problem } from "../http/problem-details.ts";
import { REASONS } from "../http/status.ts";
import { answerOf, type App, type Listening, type ListenOptions, urlAt } from "./server.ts";
import { createConnections } from "./connections.ts";
import { hasContent, limitContent } from "./body-timeout.ts";
import { LIMITS } from "./limits.ts";
import { MessageHead } from "./message-head.ts";

/** Between `node:http` and `Request` and `Response`, which most requests have no need of. */
const bridge = () => import("srvx/node");

/**
 * Starts a server.
 *
 * @param app what answers
 * @param options where to listen
 * @returns the server, listening; rejects where it cannot listen there
 */
export async function serve(app: App, options: ListenOptions): Promise<Listening> {
  const { http, end } = await createHttpServer(app);
  await listen(http, options);
  return { url: urlOf(http), close: end };
}

/** Makes a server that does not listen yet, and what ends it and its connections. */
export async function createHttpServer(
  app: App,
): Promise<{ http: Server; end: () => Promise<void> }> {
  // A plain import would have newer Nodes load all of `fetch` as well, a third of the time to start.
  const { createServer } = process.getBuiltinModule?.("node:http") ?? await import("node:http");
  const connections = createConnections();
  const answer = createAnswering(app);
  const options = {
    headersTimeout: LIMITS.head,
    requestTimeout: LIMITS.head + LIMITS.content,
    // `connections` sees to it.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: LIMITS.check,
    // Refused by `invalid`, as every other error is.
    requireHostHeader: false,
    // On Node 24.12 and later, and on Deno: what has no content is no stream to be read to its end.
    optimizeEmptyRequests: true,
  };
  const http = createServer(options, (message, response) => {
    const head = new MessageHead(message);
    limitContent(message, response, head);
    // A connection of HTTP/1.1 persists without a word of it (RFC 9112, section 9.3).
    if (message.httpVersionMinor === 1 && response.shouldKeepAlive) {
      response.removeHeader("connection");
    }
    const sent = answer(message, response, head);
    // What waits behind another answer has no socket yet; what has one and is there is in its hands.
    if (sent instanceof Promise || !response.socket) connections.watchAnswer(response);
  });
  // Beyond its number of fields a server passes over them, be they the one that matters.
  http.maxHeadersCount = 0;
  // It takes an answer that is still being sent for idle; `connections` knows better.
  http.closeIdleConnections = () => {};
  http.on("connection", connections.watch);
  // An expectation that is not known may be passed over (RFC 9110, section 10.1.1).
  http.on("checkExpectation", (message, response) => http.emit("request", message, response));
  const refuseAfterAnswers = (socket: Socket, code?: string) => {
    const earlier = connections.underWay(socket);
    if (earlier) earlier.once("finish", () => refuse(socket, code));
    else refuse(socket, code);
  };
  http.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET") socket.destroy();
    else refuseAfterAnswers(socket as Socket, error.code);
  });
  http.on("connect", (_message, stream) => {
    const socket = stream as Socket;
    // The server has given this socket away, and its limits and listeners with it.
    socket.on("error", () => {}).resume().setTimeout(LIMITS.head, () => socket.destroy());
    refuseAfterAnswers(socket);
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
 */
export function listener(
  app: App,
): (message: IncomingMessage, response: ServerResponse) => void {
  const answer = createAnswering(app);
  return (message, response) => void answer(message, response, new MessageHead(message));
}

/** Answers a request, at once where no promise is given; neither throws nor rejects. */
type Answering = (
  message: IncomingMessage,
  response: ServerResponse,
  head: RequestHead,
) => Awaitable<void>;

function createAnswering(app: App): Answering {
  const send = (answer: Answer | Response, response: ServerResponse): Awaitable<void> =>
    isResponse(answer)
      ? bridge().then(({ sendNodeResponse }) => sendNodeResponse(response, answer))
      : write(response, answer);
  const fail = (error: unknown, response: ServerResponse) => {
    console.error(error);
    response.destroy();
  };
  return (message, response, head) => {
    const own = invalid(message, head) ?? ping(message);
    if (own) return write(response, { ...own, headers: { ...SECURITY_HEADERS, ...own.headers } });
    const whole = () => wholeRequest(message, response, head);
    try {
      const answered = answerOf(app, head, whole);
      const sent = "status" in answered
        ? send(answered, response)
        : answered.then((answer) => send(answer, response));
      return sent instanceof Promise ? sent.catch((error) => fail(error, response)) : sent;
    } catch (error) {
      fail(error, response);
    }
  };
}

const NO_CONTENT = Buffer.alloc(0);

/** All of a request, as a host's operation is given it. */
async function wholeRequest(
  message: IncomingMessage,
  response: ServerResponse,
  head: RequestHead,
): Promise<Request> {
  // A message that is no stream looks as if its client had gone, until the parser is through with it.
  const { NodeRequest } = await bridge();
  // srvx would have it that its content was used up; where it was, by a host's parser, that is so.
  if (message.readableEnded && !hasContent(head) && !("rawBody" in message)) {
    Object.assign(message, { rawBody: NO_CONTENT });
  }
  return new NodeRequest({ req: message, res: response });
}

/** How many connections may wait to be taken; the system has a limit of its own as well. */
const BACKLOG = 4096;

/** Listens; rejects with the system's own error where it cannot. */
export function listen(http: Server, { host, port }: ListenOptions): Promise<void> {
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

/** The problem with a message that the parser lets through though RFC 9112 does not. */
function invalid(
  { httpVersion, url = "" }: IncomingMessage,
  { headers }: RequestHead,
): Answer | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return problem(505, "This service speaks HTTP/1.1 and HTTP/1.0");
  }
  if (httpVersion === "1.1" && !headers.has("host")) {
    return problem(400, "A request of HTTP/1.1 has a Host header");
  }
  if (url.startsWith("/") || url === "*") return undefined;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    return problem(400, "A request target begins with a slash");
  }
}

/** Answers the target `*`, which is no path: it only asks for an answer (RFC 9110, section 9.3.7). */
function ping({ method, url }: IncomingMessage): Answer | undefined {
  return method === "OPTIONS" && url === "*" ? { status: 204, headers: {}, body: null } : undefined;
}

/** Longer contents are written as bytes, which are copied nowhere. */
const TEXT_MAX = 16_384;

/**
 * What is written of an answer, faster than an object and bytes are: names and values in turn, and
 * a text, a byte in each character, which goes out with its headers in one piece.
 */
const writtenOf = ({ headers, body }: Answer) => ({
  fields: Object.entries(headers).flat(),
  content: body && body.byteLength <= TEXT_MAX ? Buffer.from(body).toString("latin1") : body,
});

/** Writes an answer as it is. */
function write(response: ServerResponse, answer: Answer): void {
  const { fields, content } = writtenOf(answer);
  response.writeHead(answer.status, fields).end(content, "latin1");
}

/** Answers what the parser refuses as every other error is answered, and closes the connection. */
function refuse(socket: Socket, code = ""): void {
  if (!socket.writable) {
    // It has been refused before; an answer may still be on its way.
    if (socket.writableLength === 0) socket.destroy();
    return;
  }
  const { status, headers, body } = refusal(code);
  const fields = Object.entries({ ...SECURITY_HEADERS, ...headers, connection: "close" });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${REASONS[status]}\r\n${lines.join("")}\r\n`);
  if (body) socket.write(body);
  socket.end();
}

/** What a refusal of the parser is in terms of HTTP, by its code. */
function refusal(code: string): Answer {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return problem(431, "The request line and the header fields are longer than is read here");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return problem(408, "The request did not arrive in time");
    default:
      return problem(400, "The request is not valid HTTP");
  }
}
