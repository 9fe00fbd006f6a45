/**
 * Requests and answers as plain data, without the cost of `Request` and `Response` objects.
 *
 * @module
 */
import type { Status } from "./status.ts";

/** The head of a request (RFC 9112, section 2.1). A `Request` is one. */
export interface RequestHead {
  readonly method: string;
  /** An absolute URL, or the path and query of a request target. */
  readonly url: string;
  /** Called with names in lower case only. */
  readonly headers: Pick<Headers, "get" | "has">;
}

/** A response as plain data. `finish` removes the body for HEAD. */
export interface Answer {
  readonly status: Status;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | null;
  /**
   * Present on an answer that is sent many times. `finish` caches here the answer with the common
   * headers, by {@linkcode CorsHeaders.index}.
   */
  readonly completed?: Answer[];
  /** `toResponse` caches the parameter of `Response` here. */
  init?: ResponseInit;
  /** The adapter of `node:http` caches the body as Latin-1 here. */
  text?: string;
}

/** A value or a promise of one. */
export type Awaitable<T> = T | Promise<T>;
