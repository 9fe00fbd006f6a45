/**
 * Limits the time for a request's content, which only a host's operation reads.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { namesContent } from "../http/request.ts";
import { TIMEOUTS } from "./timeouts.ts";

/**
 * Closes the connection if the content takes too long. `requestTimeout` of `node:http` no longer applies
 * after the answer, which may be sent before the content has arrived.
 */
export function limitBody(
  message: IncomingMessage,
  response: ServerResponse,
  request: Request,
): void {
  if (!namesContent(request)) return;
  const timer = setTimeout(() => message.socket.destroy(), TIMEOUTS.content);
  timer.unref();
  const clear = () => clearTimeout(timer);
  message.once("end", clear).once("close", clear);
  // Discards unread content, for which Deno 2.9 would wait.
  response.once("finish", () => message.resume());
}
