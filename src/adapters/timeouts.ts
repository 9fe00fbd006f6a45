/**
 * The timeouts of the adapters.
 *
 * @module
 */

/** In milliseconds. Together they disconnect every idle client within 30 seconds. */
export const TIMEOUTS = {
  /** From the start of the connection, or the end of the last answer, to the end of a request's head. */
  head: 10_000,
  /** From the end of a request's head to the end of its content. */
  content: 10_000,
  /** Without a byte sent or received; `node:http` waits twice that for a client that does not read. */
  silence: 13_000,
  /** The interval at which `head` is checked. */
  check: 2_000,
  /** From the call of `close` to the end of the last answer. */
  grace: 5_000,
} as const;
