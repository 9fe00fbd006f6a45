/**
 * Refuses requests that violate RFC 9112, whether or not the parser of `node:http` finds the error.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { SECURITY_HEADERS } from "../http/cors.ts";
import { problem, problemText, REASONS, type Status } from "../http/problem-details.ts";
import type { EndRecord } from "./answer-record.ts";

/** Makes the response to an invalid request that the parser accepts; `undefined` for a valid one. */
export function refusalOf(
  { httpVersion, url = "", headers }: IncomingMessage,
): Response | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return problem(505, "This service speaks HTTP/1.1 and HTTP/1.0");
  }
  if (httpVersion === "1.1" && headers.host === undefined) {
    return problem(400, "A request of HTTP/1.1 has a Host header");
  }
  if (url.startsWith("/") || url === "*") return undefined;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    return problem(400, "A request target begins with a slash");
  }
}

/** Status and detail by error code; other codes are answered with 400. */
const REFUSALS: Readonly<Record<string, readonly [Status, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The request line and the header fields are longer than is read here"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time"],
};

/**
 * Answers a request that the parser refuses, and closes the connection.
 *
 * @param code the code of the parser's error
 */
export function refuse(socket: Socket, code = "", endRecord?: EndRecord): void {
  if (!socket.writable) {
    // It has been refused already, and that answer may not have been sent.
    if (socket.writableLength === 0) socket.destroy();
    return;
  }
  const [status, detail]: readonly [Status, string] = REFUSALS[code] ??
    [400, "The request is not valid HTTP"];
  const body = problemText(status, detail);
  const lines = Object.entries({
    ...SECURITY_HEADERS,
    "content-type": "application/problem+json",
    "content-length": body.length,
    "cache-control": "no-store",
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${REASONS[status]}\r\n${lines.join("")}\r\n`);
  socket.write(body, (error) => endRecord?.(error ? "aborted" : "sent", status));
  socket.end();
}
