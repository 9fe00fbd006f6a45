/**
 * A request as `node:http` reads it. Its content is limited in parts and in time.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { isInTinyParts } from "../bytes.ts";
import { UNREADABLE_CONTENT } from "../http/request.ts";
import type { CountedMessage } from "./connections.ts";
import { TIMEOUTS } from "./shared.ts";
import { UpgradableMessage } from "./websocket.ts";

/**
 * The parser pushes a part for each HTTP chunk. A single read from the socket may contain 10,000
 * chunks. The part that exceeds the limit is still pushed, so that the reader notices the excess
 * and refuses the content.
 */
export class Message extends UpgradableMessage implements CountedMessage {
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

/**
 * Limits the time for content that arrives after the response. Until the response, `Connections`
 * checks its speed, and gives the app the time to refuse slow content with a response of its own.
 */
export function limitContent(message: IncomingMessage, response: ServerResponse): void {
  response.prependOnceListener("finish", () => closeAfterContent(message));
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

/**
 * Before a connection closes, its content is read to the end: `node:http` would close at once,
 * which resets a client that still sends, and may lose it the response (RFC 9112, section 9.6).
 */
function closeAfterContent(message: IncomingMessage): void {
  if (message.complete || message.destroyed) return;
  const { socket } = message;
  const { destroySoon } = socket;
  let isClosing = false;
  socket.destroySoon = () => {
    isClosing = true;
    socket.end();
  };
  message.once("close", () => {
    socket.destroySoon = destroySoon;
    if (isClosing) socket.destroySoon();
  });
}

/** The target `*` becomes `/*` in the access log, as on Bun and workerd. */
export function logHeadOf(
  { method = "GET", url: own = "/" }: IncomingMessage,
  url: string = own,
): { readonly method: string; readonly url: string } {
  return { method, url: url === "*" ? "/*" : url };
}
