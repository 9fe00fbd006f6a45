/**
 * Limits the time for a request's content, which only a host's operation reads.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHead } from "../http/message.ts";
import { TIMEOUTS } from "./timeouts.ts";

/** Whether a request has content (RFC 9112, section 6). */
export function hasBody({ headers }: RequestHead): boolean {
  return headers.has("content-length") || headers.has("transfer-encoding");
}

/**
 * Closes the connection if the content takes too long. `requestTimeout` of `node:http` no longer applies
 * after the answer, which may be sent before the content has arrived.
 */
export function limitBody(
  message: IncomingMessage,
  response: ServerResponse,
  head: RequestHead,
): void {
  if (!hasBody(head)) return;
  const timer = setTimeout(() => message.socket.destroy(), TIMEOUTS.content);
  timer.unref();
  const clear = () => clearTimeout(timer);
  message.once("end", clear).once("close", clear);
  // Discards unread content, for which Deno 2.9 would wait.
  response.once("finish", () => message.resume());
}
