/**
 * The `Request` that an app receives for a message of `node:http`.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeRequest as SrvxRequest } from "srvx/node";
import { LightSignal, type Signal, toAbortSignal } from "../abort-signal.ts";
import type { ServedRequest } from "../http/request.ts";
import { Upgrade } from "../http/socket.ts";
import { hasContent } from "./connections.ts";
import { Message } from "./message.ts";
import { connect, type UpgradableMessage } from "./websocket.ts";

/** @param originalUrl the path and query before a router has shortened them */
export function requestOfMessage(
  message: IncomingMessage,
  response: ServerResponse,
  originalUrl: string | undefined,
): ServedRequest {
  if (!hasContent(message)) {
    // With `optimizeEmptyRequests`, a message without content has already ended at this point. srvx
    // 1.0 would mistake this for a disconnected client and a body that was already read.
    message.complete = true;
    if (message.readableEnded && !hasRawBody(message)) {
      Object.assign(message, { rawBody: EMPTY_BODY });
    }
  }
  const request = new MessageRequest({ req: message, res: response });
  if ((message as UpgradableMessage).takeOver) Object.assign(request, { upgrade: new Upgrade() });
  return originalUrl === undefined ? request : Object.assign(request, { originalUrl });
}

const EMPTY_BODY = Buffer.alloc(0);

/** Tells whether the host has left the content as bytes in `rawBody`. srvx takes no text. */
export const hasRawBody = (message: IncomingMessage): boolean =>
  Buffer.isBuffer((message as { readonly rawBody?: unknown }).rawBody);

class MessageRequest extends SrvxRequest implements ServedRequest {
  readonly takesFastResponse = true;
  readonly connect = connect;
  #lightSignal: LightSignal | undefined;
  #abortSignal: AbortSignal | undefined;

  get #node() {
    return this.runtime!.node as { readonly req: IncomingMessage; readonly res: ServerResponse };
  }

  /** srvx would take content whose reading the handler has cancelled for a client that has left. */
  override get signal(): AbortSignal {
    return this.#abortSignal ??= toAbortSignal(this.disconnectSignal);
  }

  get drainsContent(): boolean {
    return this.#node.req instanceof Message;
  }

  get rawUrl(): string | undefined {
    return this.#node.req.url;
  }

  get disconnectSignal(): Signal {
    return this.#lightSignal ??= this.#watch();
  }

  get readChunks(): ServedRequest["readChunks"] {
    const { req: message } = this.#node;
    // srvx itself handles content that is already in `rawBody`.
    if (!hasContent(message) || hasRawBody(message)) return undefined;
    return (accept, stop) =>
      new Promise((resolve, reject) => {
        const settle = (act: (reason?: unknown) => void) => (reason?: unknown) => {
          message.off("data", onData).off("end", onEnd).off("close", onFailure)
            .off("error", onFailure).pause();
          stop.removeEventListener("abort", onEnd);
          act(reason);
        };
        const onData = (part: Buffer<ArrayBuffer>) => {
          if (!accept(part)) onEnd();
        };
        const onEnd = settle(() => resolve());
        const onFailure = settle(reject);
        if (message.readableEnded || message.destroyed) return onFailure();
        stop.addEventListener("abort", onEnd);
        message.on("data", onData).on("end", onEnd).on("close", onFailure).on("error", onFailure)
          .resume();
      });
  }

  #watch(): LightSignal {
    const { req: message, res: response } = this.#node;
    const disconnectSignal = new LightSignal();
    const onClose = () => {
      if (response.writableEnded && !message.errored) return;
      disconnectSignal.abort(
        message.errored ?? new DOMException("The client has disconnected", "AbortError"),
      );
    };
    response.once("close", onClose);
    if (response.destroyed) onClose();
    return disconnectSignal;
  }
}
