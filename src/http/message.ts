/**
 * Requests and answers as plain data, without the cost of `Request` and `Response` objects.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import type { Status } from "./status.ts";

/** The head of a request (RFC 9112, section 2.1). A `Request` is one. */
export interface RequestHead {
  readonly method: string;
  /** An absolute URL, or the path and query of a request target. */
  readonly url: string;
  /** The path and query that the visitor asked for, if a host's router has shortened `url`. */
  readonly originalUrl?: string | undefined;
  /** Called with names in lower case only. */
  readonly headers: Pick<Headers, "get" | "has">;
  /** Whether there is content; `undefined` where nobody knows before it is read, as with HTTP/2. */
  readonly hasContent?: boolean | undefined;
  /** Is aborted when the visitor leaves before the end of the answer. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A response as plain data. `finish` removes the body for HEAD.
 *
 * Its last three fields are caches, each filled by one module. They are fields since a `WeakMap` makes
 * answers that are sent once slower (a 404 by 6 % on Node 26.10, by 16 % on Bun 1.4).
 */
export interface Answer {
  readonly status: Status;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes | null;
  /** What follows the body, part by part: a long answer of the node is not copied. */
  readonly rest?: readonly Bytes[] | undefined;
  /**
   * Is called when the body is needed no longer: it was sent, or nobody waits for it. May be called again, and is not
   * called where a server has no word of that.
   */
  readonly sent?: (() => void) | undefined;
  /** Whether `finish` has been there. */
  readonly isFinished?: boolean;
  /** Gives the body where it is not kept. What leaves the service has its body. */
  readonly load?: (() => Promise<Bytes>) | undefined;
  /** `represent` makes it, `finish` fills it: the complete answers, by {@linkcode CorsHeaders.index}. */
  readonly completed?: Answer[];
  /** `toResponse` fills it: the second argument of `Response`. */
  init?: ResponseInit;
}

/** A value or a promise of one. */
export type Awaitable<T> = T | Promise<T>;
