/**
 * The code that all adapters share.
 *
 * @module
 */
import * as v from "valibot";
import type { Closeable } from "../closeable.ts";
import { parseTarget } from "../http/target.ts";
import { SECURITY_HEADERS } from "../http/common-headers.ts";
import { problemResponse } from "../http/problem.ts";
import type { HttpStatus } from "../http/response.ts";
import { object, readValue, refuseOptions, text, wholeNumber } from "../settings/schema.ts";

/**
 * An app that an adapter can serve, such as a `Nodeface`: see [Embedding](../docs/embedding.md).
 */
export interface Servable {
  /**
   * @param context extra arguments for the app's own handlers; `listener` passes the
   * `IncomingMessage`
   */
  fetch(request: Request, ...context: unknown[]): Response | Promise<Response>;
  /** Tells whether a request is for this app. @default true for every request */
  matches?(request: { readonly url: string; readonly originalUrl?: string | undefined }): boolean;
  /** Tells whether a path may be below the app's prefix. @default true for every request */
  isBelowPrefix?(
    request: { readonly url: string; readonly originalUrl?: string | undefined },
  ): boolean;
}

/**
 * The options of a server. Unknown options are refused. See
 * [Embedding](../docs/embedding.md#the-exports).
 */
export interface ServeOptions extends Callbacks {
  /**
   * A host name or IP literal: `"0.0.0.0"` for all IPv4 addresses, `"::"` for all addresses.
   *
   * @default "127.0.0.1"
   */
  hostname?: string | undefined;
  /** The port, from 0 to 65535. 0 picks a free port. @default 8080 */
  port?: number | undefined;
}

/** The callbacks of a server. An error that a callback throws does not change the response. */
export interface Callbacks {
  /**
   * Called once per request, when its response has ended. May be replaced while the server runs.
   */
  onResponse?: ((record: ResponseRecord) => void) | undefined;
  /**
   * Called if the app throws, or if a response's stream fails. `request` is the method and path,
   * such as `GET /v1/peers`, or `accept` if connections cannot be accepted.
   *
   * @default the log of a `Nodeface`, or console.error
   */
  onError?: ((error: unknown, request: string) => void) | undefined;
}

/** The access log entry for a request, which {@linkcode Callbacks.onResponse} receives. */
export interface ResponseRecord {
  /** Absent if the parser refused the request. */
  readonly method?: string | undefined;
  /** An absolute URL, or a path and query. Absent if the parser refused the request. */
  readonly url?: string | undefined;
  /** Absent if the client disconnected before the response. */
  readonly status?: number | undefined;
  /**
   * The name of the client that made a call, or `anonymous`. Absent if no clients are named
   * (`forward.clients`).
   */
  readonly client?: string | undefined;
  readonly outcome: SendingEnd;
  readonly milliseconds: number;
}

/**
 * How a response ended:
 *
 * - `sent`: the operating system has taken all bytes; on Bun, Bun has taken the response, or the
 *   end of a stream, except for a long response of the node in one part
 * - `aborted`: the connection closed too early
 * - `failed`: the body's stream ended with an error
 */
export type SendingEnd = "sent" | "aborted" | "failed";

/**
 * A listening server; close it with `close` or `await using`.
 *
 * @example
 * ```ts
 * await using server = await serve(createNodeface());
 * ```
 */
export interface Listening extends Closeable {
  /**
   * The URL of the server, such as `http://127.0.0.1:8080/`. The URL contains an IP address even if
   * `hostname` is a name.
   */
  readonly url: string;
  /**
   * Stops listening, and ends the event streams of a `Nodeface`. Resolves when the last response
   * has been sent; after 5 seconds, the remaining connections are closed. May be called more than
   * once.
   */
  close(): Promise<void>;
}

/** Timeouts in milliseconds. */
export const TIMEOUTS = {
  /**
   * The time limit for a request's head, counted from the start of the connection or, for a further
   * request, from its first byte.
   */
  head: 10_000,
  /**
   * The time for which a connection is kept after a response: longer than load balancers and
   * clients keep theirs (at most two minutes), since a call on a connection that ends meanwhile
   * would be lost.
   */
  idle: 125_000,
  /**
   * The time limit for 64 KiB of a request's content, or for its end. Calls of the node are refused
   * after this time (see `MIN_CALL_RATE`); content that a host's operation reads gets the time for
   * the head, too. After the response, it is the time limit for the rest of the content.
   */
  content: 10_000,
  /**
   * The maximum time without a byte sent or received. For a client that does not read its response,
   * `node:http` waits for twice this time.
   */
  silence: 13_000,
  check: 2_000,
  /**
   * The maximum time from `close` to the end of the last response. Forwarded calls must end one
   * second earlier (see `CLOSING_GRACE_MS`).
   */
  grace: 5_000,
} as const;

export interface Address {
  /** A host name, or an IP literal without brackets. */
  readonly hostname: string;
  readonly port: number;
}

const CALLBACKS = {
  onResponse: v.optional(v.function("a function")),
  onError: v.optional(v.function("a function")),
};

const SERVE_OPTIONS = object({
  hostname: v.optional(
    text(
      'a host name or an IP address such as "127.0.0.1"',
      /^([^\s/:[\]]+|\[?[\da-f:.]+(%[\w.-]+)?\]?)$/i,
    ),
  ),
  port: v.optional(wholeNumber(0, 65_535)),
  ...CALLBACKS,
});

/** @throws {TypeError} if a program in JavaScript has passed something else */
export function checkApp(app: Servable): void {
  if (typeof (app as Partial<Servable> | undefined)?.fetch === "function") return;
  throw new TypeError("serve and listener expect a Nodeface, or another object with fetch");
}

export function checkCallbacks(callbacks: Callbacks): void {
  refuseOptions(readValue(callbacks, object(CALLBACKS)).diagnostics);
}

export function checkServeOptions(options: ServeOptions): Address {
  const { value, diagnostics } = readValue(options, SERVE_OPTIONS);
  refuseOptions(diagnostics);
  const { hostname = "127.0.0.1", port = 8080 } = value;
  return { hostname: hostname.replace(/^\[|\]$/g, ""), port };
}

export function runningServer(app: Servable, url: string, close: () => Promise<void>): Listening {
  let closed: Promise<void> | undefined;
  const closeOnce = () => {
    // Without this call, the server would wait for the event streams, which never end.
    (app as { endStreams?(): void }).endStreams?.();
    return closed ??= close();
  };
  return { url, close: closeOnce, [Symbol.asyncDispose]: closeOnce };
}

/** An IPv6 address may be given with or without brackets. */
export function urlAt(address: string, port: number): string {
  const host = /^[^[].*:/.test(address) ? `[${address}]` : address;
  return `http://${host}:${port}/`;
}

/** Only the first call of this function has an effect. */
export type EndEntry = (outcome: SendingEnd, status?: number, client?: string) => void;

/** @param request `undefined` if the parser refused the request */
export function beginEntry(
  { onResponse }: Callbacks,
  request?: { readonly method: string; readonly url: string },
): EndEntry | undefined {
  if (!onResponse) return undefined;
  const began = performance.now();
  let hasEnded = false;
  return (outcome, status, client) => {
    if (hasEnded) return;
    hasEnded = true;
    void notify(onResponse, {
      ...request && { method: request.method, url: request.url },
      ...status !== undefined && { status },
      ...client !== undefined && { client },
      outcome,
      milliseconds: performance.now() - began,
    });
  };
}

/** Reports the error of a request, without its query, which may contain secrets. */
export function report(
  error: unknown,
  { method = "GET", url = "/" }: Partial<{ method: string | undefined; url: string | undefined }>,
  app: Servable,
  callbacks: Callbacks,
): void {
  notifyError(error, `${method} ${parseTarget(url).pathname || "/"}`, app, callbacks);
}

export function notifyError(
  error: unknown,
  request: string,
  app: Servable,
  { onError }: Callbacks,
): void {
  const { onError: log } = app as { onError?: Callbacks["onError"] };
  void notify(onError ?? log ?? console.error, error, request);
}

async function notify<Args extends readonly unknown[]>(
  callback: (...args: Args) => unknown,
  ...args: Args
): Promise<void> {
  try {
    await callback(...args);
  } catch {
    // An error of a callback must not change the response.
  }
}

interface BodyWatch {
  readonly onFailure: (error: unknown) => void;
  readonly onEnd?: () => void;
  /** Called before and after each wait for a part of the body. */
  readonly onWait?: (isWaiting: boolean) => void;
  /** The longest part that is passed on, in bytes. */
  readonly partMax?: number;
}

/**
 * Calls `onFailure` if the body fails, and `onEnd` when it has ended, but neither if it is
 * cancelled.
 */
export function watchBody(
  body: ReadableStream<Uint8Array>,
  { onFailure, onEnd, onWait, partMax = Infinity }: BodyWatch,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let rest: Uint8Array | undefined;
  return new ReadableStream({
    async pull(controller) {
      if (!rest) onWait?.(true);
      rest ??= await reader.read().then(({ value }) => value, (error) => {
        onFailure(error);
        throw error;
      });
      onWait?.(false);
      if (!rest) {
        onEnd?.();
        return controller.close();
      }
      controller.enqueue(rest.byteLength > partMax ? rest.subarray(0, partMax) : rest);
      rest = rest.byteLength > partMax ? rest.subarray(partMax) : undefined;
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

export function refusal(
  status: HttpStatus,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return problemResponse(status, detail, { ...SECURITY_HEADERS, ...headers });
}

/** For a handshake that the app accepts while the server closes: nothing would end its session. */
export const refuseLate = (): Response =>
  refusal(503, "The server is closing", { "retry-after": "5" });

export const failure = (): Response => refusal(500, "Internal error");
