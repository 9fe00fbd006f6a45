/**
 * Serves an app with `node:http`, which both Node and Deno have.
 *
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { NodeRequest, sendNodeResponse } from "srvx/node";
import type { Answer } from "../http/answer.ts";
import { SECURITY } from "../http/finish.ts";
import { problem } from "../http/problem.ts";
import { REASONS } from "../http/status.ts";
import type { App, Listening, ListenOptions } from "./adapter.ts";
import { createDrain } from "./drain.ts";
import { LIMITS } from "./limits.ts";

/**
 * Starts a server.
 *
 * @param app what answers
 * @param options where to listen
 * @returns the server, listening; rejects where it cannot listen there
 */
export async function serve(app: App, options: ListenOptions): Promise<Listening> {
  const { http, end } = createHttpServer(app);
  await listen(http, options);
  return { url: urlOf(http), close: end };
}

/** Makes a server that does not listen yet, and what ends it and its connections. */
export function createHttpServer(app: App): { http: Server; end: () => Promise<void> } {
  const drain = createDrain(LIMITS.grace);
  const limits = {
    headersTimeout: LIMITS.head,
    requestTimeout: LIMITS.head + LIMITS.content,
    keepAliveTimeout: LIMITS.idle,
    connectionsCheckingInterval: LIMITS.check,
    // Refused by `invalid`, as every other error is.
    requireHostHeader: false,
  };
  const counted = { fetch: (request: Request) => drain.count(app.fetch(request)) };
  const http = createServer(limits, listener(counted));
  http.timeout = LIMITS.silence;
  http.on("connection", drain.watch);
  http.on("clientError", (error: NodeJS.ErrnoException, socket) => refuse(socket, error.code));
  http.on("connect", (_message, socket) => refuse(socket));
  const end = async () => {
    http.close();
    await drain.end();
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
  return (message, response) => {
    limitContent(message);
    const refusal = invalid(message);
    if (refusal) return write(response, refusal);
    const answer = app.fetch(new NodeRequest({ req: message, res: response }));
    if (!(answer instanceof Promise)) return void sendNodeResponse(response, answer);
    answer.then((answer) => sendNodeResponse(response, answer)).catch(() => response.destroy());
  };
}

/** Listens; rejects with the system's own error where it cannot. */
export function listen(http: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", reject).listen(port, host, () => {
      http.off("error", reject);
      resolve();
    });
  });
}

/** The address of a server that listens. */
export function urlOf(http: Server): string {
  const { address, family, port } = http.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}/`;
}

/** The problem with a message that the parser lets through though RFC 9112 does not. */
function invalid({ httpVersion, headers, url = "" }: IncomingMessage): Answer | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return problem(505, "This service speaks HTTP/1.1 and HTTP/1.0");
  }
  if (httpVersion === "1.1" && headers.host === undefined) {
    return problem(400, "A request of HTTP/1.1 has a Host header");
  }
  if (!/^(\/|\*$|https?:\/\/)/i.test(url)) {
    return problem(400, "A request target begins with a slash");
  }
}

/** Answers what never reaches the app. */
function write(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, REASONS[status], { ...SECURITY, ...headers }).end(body);
}

/** Answers what the parser refuses as every other error is answered, and closes the connection. */
function refuse(socket: Duplex, code = ""): void {
  if (!socket.writable || code === "ECONNRESET") return void socket.destroy();
  const { status, headers, body } = refusal(code);
  const fields = Object.entries({ ...SECURITY, ...headers, connection: "close" });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${REASONS[status]}\r\n${lines.join("")}\r\n`);
  socket.end(body);
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

/**
 * Cuts a client that takes too long over a content that nothing here reads: the server's own limit
 * ends with the answer, which does not wait for it.
 */
function limitContent(message: IncomingMessage): void {
  const { headers } = message;
  if (!("content-length" in headers) && !("transfer-encoding" in headers)) return;
  const timer = setTimeout(() => message.socket.destroy(), LIMITS.content);
  timer.unref();
  message.once("close", () => clearTimeout(timer));
}
