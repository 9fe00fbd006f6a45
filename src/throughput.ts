/**
 * Finds out whether bytes are sent or read too slowly.
 *
 * @module
 */

/** So many `bytes` in `timeMs` milliseconds. */
export interface Speed {
  readonly bytes: number;
  readonly timeMs: number;
}

export class Throughput {
  readonly #slowest: Speed;
  /** The number of bytes at the last progress, and its time. */
  #bytes: number;
  #at: number;

  /** @param bytes the number of bytes at the start */
  constructor(slowest: Speed, bytes: number, now: number) {
    this.#slowest = slowest;
    this.#bytes = bytes;
    this.#at = now;
  }

  /** @param bytes the number of bytes so far, with those at the start */
  isTooLow(bytes: number, now: number): boolean {
    if (bytes - this.#bytes >= this.#slowest.bytes) {
      this.#bytes = bytes;
      this.#at = now;
    }
    return now - this.#at > this.#slowest.timeMs;
  }
}
