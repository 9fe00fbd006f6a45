/**
 * The head of a request (RFC 9112, section 2.1), all that a prepared answer depends on: a server that
 * has it need not make a whole `Request` for every request.
 *
 * @module
 */

/** What is read of a request; every `Request` is one. */
export interface RequestHead {
  readonly method: string;
  /** An absolute URL, or the path and query of a request target. */
  readonly url: string;
  /** Asked by names in lower case only. */
  readonly headers: Pick<Headers, "get" | "has">;
}
