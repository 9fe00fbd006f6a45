/**
 * What every adapter takes and gives.
 *
 * @module
 */
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";

/** Where to listen. */
export interface ListenOptions {
  /** A host name or an IP literal without brackets. */
  host: string;
  /** 0 to 65535; 0 takes a free one. */
  port: number;
}

/** A server that is listening. */
export interface Listening {
  /** Its address, such as `http://127.0.0.1:8080/`. */
  url: string;
  /** Stops listening and resolves when the last answer has been sent. */
  close(): Promise<void>;
}

/** What an adapter serves; every `Nodeface` is one. */
export interface App {
  fetch(request: Request): Awaitable<Response>;
  /**
   * The same as plain data: a server that writes it itself copies no bytes for each request. Where it
   * is there, `fetch` is not called.
   */
  answer?(head: RequestHead, whole: () => Awaitable<Request>): Awaitable<Answer | Response>;
}

/** What an app answers a request with: plain data, where it can give that. */
export function answerOf(
  app: App,
  head: RequestHead,
  whole: () => Awaitable<Request>,
): Awaitable<Answer | Response> {
  if (app.answer) return app.answer(head, whole);
  return (async () => await app.fetch(await whole()))();
}

/** The URL of a server by the address that it is bound to, with brackets or without. */
export function urlAt(address: string, port: number): string {
  const host = /^[^[].*:/.test(address) ? `[${address}]` : address;
  return `http://${host}:${port}/`;
}
