/**
 * Why a source gave nothing.
 *
 * @module
 */

/** A failure whose message is for the operator: it holds no secret and nothing of a stack. */
export class SourceError extends Error {
  override name = "SourceError";
  /** Whether the node answered and said no, as opposed to failing. */
  readonly isRefusal: boolean;

  constructor(message: string, isRefusal = false) {
    super(message);
    this.isRefusal = isRefusal;
  }
}

/** How much of an answer is read, decoded, in bytes. */
export const LIMIT: number = 1024 * 1024;

/** What is said of an answer above {@linkcode LIMIT}. */
export const TOO_LARGE = "gives more than 1 MiB";

/** What is said first of a node that refuses for want of a secret. */
export const SECRET = "asks for a secret";
