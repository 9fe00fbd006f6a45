/**
 * What a request is read as and what it is answered with, as plain data.
 *
 * @module
 */
import type { Status } from "./status.ts";

/** The head of a request (RFC 9112, section 2.1): all that a prepared answer depends on. */
export interface RequestHead {
  readonly method: string;
  /** An absolute URL, or the path and query of a request target. */
  readonly url: string;
  /** Asked by names in lower case only. */
  readonly headers: Pick<Headers, "get" | "has">;
}

/** An answer to GET; for HEAD the same is sent without the body. */
export interface Answer {
  readonly status: Status;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | null;
  /**
   * Of an answer that is prepared once and sent many times: the same with the headers that every
   * answer has, by the index of its CORS headers. `finish` fills it.
   */
  readonly completed?: Answer[];
  /** What servers make of the answer when they first send it. */
  init?: ResponseInit;
  text?: string;
}

/** A value, or the promise of one where it is not there yet. */
export type Awaitable<T> = T | Promise<T>;
