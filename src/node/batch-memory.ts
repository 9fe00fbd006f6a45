/**
 * What the node's JSON-RPC endpoint at one path has done with batches so far.
 *
 * @module
 */

/** A batch that is as long as a refused one is not tried again for this time. */
const REFUSED_MS = 600_000;
/** For this time, no batch is tried, or none causes single calls: see `Lateness`. */
const LATE_MS = 60_000;

/** How the service sends its own calls after a batch of them has had no response in time. */
export class Lateness {
  /**
   * `singly`: one call may hang and delay the others. `together`: single calls have no responses
   * either, so that batches are sent, which ask less of a node that is away.
   */
  readonly send: "singly" | "together";
  readonly #until = performance.now() + LATE_MS;
  /** When a single call last got a response. */
  #respondedAt = -Infinity;
  constructor(send: "singly" | "together") {
    this.send = send;
  }

  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  noteResponse(): void {
    this.#respondedAt = performance.now();
  }

  hasResponseSince(time: number): boolean {
    return this.#respondedAt >= time;
  }
}

export class BatchMemory {
  /** The number of calls of the largest batch that the endpoint has taken. */
  #taken = 0;
  /** The number of calls of the batch that the endpoint has refused, and until when. */
  #refused: { readonly length: number; readonly until: number } | undefined;
  #lateness: Lateness | undefined;

  /** Tells whether the endpoint has taken a batch of at least so many calls. */
  hasTaken(length: number): boolean {
    return length <= this.#taken;
  }

  /** Tells whether a batch of so many calls may be sent. */
  mayBatch(length: number): boolean {
    const refused = this.#refused;
    return !refused || length < refused.length || performance.now() >= refused.until;
  }

  /** `undefined` if the endpoint was not late with a batch of the service. */
  get lateness(): Lateness | undefined {
    return this.#lateness;
  }

  noteTaken(length: number): void {
    this.#taken = Math.max(length, this.#taken);
  }

  /** A node that has taken batches may be restarted without them. */
  noteRefused(length: number): void {
    this.#taken = 0;
    this.#refused = { length, until: performance.now() + REFUSED_MS };
  }

  /** A batch to a node that is away shows nothing new. */
  noteLateBatch(): void {
    const isAway = this.#lateness?.send === "together" && !this.#lateness.isOver;
    if (!isAway) this.noteLate("singly");
  }

  noteLate(send: "singly" | "together"): void {
    this.#lateness = new Lateness(send);
  }

  forgetLateness(): void {
    this.#lateness = undefined;
  }
}
