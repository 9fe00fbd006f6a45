/**
 * What every adapter takes and gives.
 *
 * @module
 */
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";
import type { AnswerRecord } from "./answer-record.ts";

/** Where to listen, and who is told what becomes of requests. */
export interface ServeOptions extends Callbacks {
  /** A host name or an IP literal without brackets. */
  host: string;
  /** 0 to 65535; 0 takes a free one. */
  port: number;
}

/** Who is told what becomes of requests. What these functions throw has no effect. */
export interface Callbacks {
  /**
   * Called once for every request, when its answer has been sent or has broken off. It may be replaced
   * while the server runs.
   */
  onAnswer?: ((record: AnswerRecord) => void) | undefined;
  /**
   * Called with the error of a response's stream that fails midway, and with what an app throws.
   *
   * @default console.error
   */
  onError?: ((error: unknown) => void) | undefined;
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

/**
 * What an app answers a request with. It is there at once where the app has `answer` and need not wait.
 *
 * @param whole makes all of the request
 */
export function answerOf(
  app: App,
  head: RequestHead,
  whole: () => Awaitable<Request>,
): Awaitable<Answer | Response> {
  return app.answer ? app.answer(head, whole) : fetchAnswer(app, whole);
}

/** Other apps may throw, or give promises of a class of their own. */
async function fetchAnswer(app: App, whole: () => Awaitable<Request>): Promise<Response> {
  return await app.fetch(await whole());
}

/** Calls one of the host's functions; an error that it throws, at once or later, has no effect. */
export async function notify<T>(callback: (value: T) => unknown, value: T): Promise<void> {
  try {
    await callback(value);
  } catch {
    // There is nobody left to tell.
  }
}

/** The URL of a server by the address that it is bound to, with brackets or without. */
export function urlAt(address: string, port: number): string {
  const host = /^[^[].*:/.test(address) ? `[${address}]` : address;
  return `http://${host}:${port}/`;
}
