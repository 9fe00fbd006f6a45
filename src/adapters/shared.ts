/**
 * The types and functions that all adapters share.
 *
 * @module
 */
import { problem } from "../http/problem-details.ts";
import type { Closeable } from "../closeable.ts";
import type { AnswerRecord } from "./answer-record.ts";

export type { AnswerRecord, Outcome } from "./answer-record.ts";
export type { Closeable } from "../closeable.ts";

/** The options of a server. Others are refused. */
export interface ServeOptions extends Callbacks {
  /** A host name or an IP literal: `"0.0.0.0"` for all of IPv4, `"::"` for all. @default "127.0.0.1" */
  hostname?: string | undefined;
  /** 0 to 65535; 0 takes a free port. @default 8080 */
  port?: number | undefined;
}

/** Functions that a server calls. An error that they throw must not change the answer. */
export interface Callbacks {
  /** Called once for each request, when its answer has ended. May be replaced while the server runs. */
  onAnswer?: ((record: AnswerRecord) => void) | undefined;
  /** Called with an error of a response's stream or of the app. @default the log of a `Nodeface`, or console.error */
  onError?: ((error: unknown) => void) | undefined;
}

/** A listening server. `await using` closes it. */
export interface Listening extends Closeable {
  /** The address that it listens on, such as `http://127.0.0.1:8080/`, even if its host was a name. */
  readonly url: string;
  /** Stops listening; resolves when the last answer has been sent. May be called again. */
  close(): Promise<void>;
}

/** Makes what `serve` returns. */
export function listening(url: string, close: () => Promise<void>): Listening {
  let closed: Promise<void> | undefined;
  const closeOnce = () => closed ??= close();
  return { url, close: closeOnce, [Symbol.asyncDispose]: closeOnce };
}

/** An app that can be served; every `Nodeface` is one. */
export interface App {
  fetch(request: Request, ...context: unknown[]): Response | Promise<Response>;
  /** Whether a request is for this app. @default all are */
  matches?(request: { readonly url: string; readonly originalUrl?: string | undefined }): boolean;
}

/** Takes an error; may throw or reject. */
export type OnError = NonNullable<Callbacks["onError"]>;

/** Who is told of an error. */
export function onErrorOf(app: App, { onError }: Callbacks): OnError {
  // A `Nodeface` has one, which its type does not show.
  return onError ?? (app as Pick<Callbacks, "onError">).onError ?? console.error;
}

/** Calls one of {@linkcode Callbacks}; ignores what it throws or rejects with. */
export async function notify<T>(callback: (value: T) => unknown, value: T): Promise<void> {
  try {
    await callback(value);
  } catch {
    // An error of a callback must not change the answer.
  }
}

/** Makes the response where an app throws, which a `Nodeface` does not. */
export function unanswered(): Response {
  return problem(500, "This request could not be answered");
}

/** The URL of a server; an IPv6 address may be with or without brackets. */
export function urlAt(address: string, port: number): string {
  const host = /^[^[].*:/.test(address) ? `[${address}]` : address;
  return `http://${host}:${port}/`;
}
