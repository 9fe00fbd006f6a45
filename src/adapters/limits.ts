/**
 * How long a client may take, the same on every runtime whose server can be told, in milliseconds.
 * Every client that does nothing is cut within 30 seconds.
 *
 * @module
 */
export const LIMITS = {
  /** From the opening of a connection, or the last answer's end, to the end of a request's head. */
  head: 10_000,
  /** From a request's head to the end of its content, which nothing here reads. */
  content: 10_000,
  /** Between the bytes of a connection; `node:http` cuts one that does not read after twice that. */
  silence: 13_000,
  /** How often the first of these is looked at. */
  check: 2_000,
  /** From the word to stop to the end of the last answer. */
  grace: 5_000,
} as const;
