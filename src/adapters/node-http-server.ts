/**
 * Serves an app with `node:http`, on Node and Deno: the server and its connections. `node-listener.ts`
 * answers each request.
 *
 * @module
 */
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { beginRecord } from "./answer-record.ts";
import { type Address, checkServeOptions } from "./check-serve-options.ts";
import { isInTinyParts } from "../bytes.ts";
import { createConnections } from "./node-connections.ts";
import { type RequestLine, requestLine, respond } from "./node-listener.ts";
import { refuse } from "./node-protocol-errors.ts";
import {
  type App,
  type Callbacks,
  type Listening,
  listening,
  type ServeOptions,
  urlAt,
} from "./shared.ts";
import { TIMEOUTS } from "./timeouts.ts";

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
  const http1 = process.getBuiltinModule?.("node:http") ?? await import("node:http");
  const connections = createConnections();
  const settings = {
    headersTimeout: TIMEOUTS.head,
    requestTimeout: TIMEOUTS.head + TIMEOUTS.content,
    // `connections` closes idle ones.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: TIMEOUTS.check,
    // What comes in tiny chunks costs by the part: read little ahead, and keep no more parts than are taken.
    highWaterMark: 2048,
    IncomingMessage: droppingTinyParts(http1),
    // `refusalOf` answers these.
    requireHostHeader: false,
    // Saves an eighth of the time of a request (Node 26.10); Node before 24.12 ignores it.
    optimizeEmptyRequests: true,
  };
  const http = http1.createServer(settings, (message, response) => {
    connections.addAnswer(response);
    // The parser drops the rest of a packet after an Upgrade, so the connection must be closed
    // (RFC 9112, section 9.6).
    if (message.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    void respond(app, callbacks, message, response, true);
  });
  // `node:http` drops headers past `maxHeadersCount`, by default 2000, even `Host`.
  http.maxHeadersCount = 0;
  // The built-in method closes connections whose answer is still being sent; `connections` does not.
  http.closeIdleConnections = () => {};
  http.on("connection", connections.add);
  // An unknown expectation may be ignored (RFC 9110, section 10.1.1).
  http.on("checkExpectation", (message, response) => http.emit("request", message, response));

  const refuseAfterAnswers = (socket: Socket, code?: string, request?: RequestLine) => {
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
    refuseAfterAnswers(socket, undefined, requestLine(message));
  });
  const end = async () => {
    http.close();
    await connections.end();
  };
  return { http, end };
}

/**
 * A message that keeps no more tiny parts of a content than its reader takes: the parser makes one of each chunk, 10,000 of
 * what a socket gives at a time. The reader sees the part that is too many and refuses the content; what comes behind is
 * dropped, its end too.
 */
function droppingTinyParts(http: typeof import("node:http")): typeof IncomingMessage {
  return class extends http.IncomingMessage {
    #parts = 0;
    #length = 0;
    #isRefused = false;
    override push(part: Uint8Array | null, encoding?: BufferEncoding): boolean {
      if (this.#isRefused) return false;
      if (part) {
        this.#length += part.byteLength;
        this.#isRefused = isInTinyParts(++this.#parts, this.#length);
      }
      return super.push(part, encoding);
    }
  };
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
