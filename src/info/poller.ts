/**
 * Runs one poll of the node at a time, and the next one only when it is due.
 *
 * @module
 */
import { LightSignal } from "../abort-signal.ts";
import { waitAtMost } from "../with-timeout.ts";
import type { Poll, PollResult } from "./node-reader.ts";
import { RETRY_MS } from "./source-cache.ts";

/**
 * A poll is abandoned after this many milliseconds. On workerd, a poll may stop silently when the
 * request that started it ends.
 */
const POLL_MAX_MS = 60_000;

interface PollerOptions {
  /** The time after which a node that has responded is polled again, in milliseconds. */
  readonly ttl: number;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
}

export class Poller {
  readonly #poll: (poll: Poll) => Promise<PollResult>;
  readonly #options: PollerOptions;
  #running: { since: number; signal: LightSignal; done: Promise<void> } | undefined;
  /** Before this time, `startIfDue` does nothing. */
  dueAt: number = -Infinity;
  #hasFailed = false;
  #isClosed = false;

  /** @param poll never rejects */
  constructor(poll: (poll: Poll) => Promise<PollResult>, options: PollerOptions) {
    this.#poll = poll;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** True if the node did not respond to the last poll that has ended, or without a value. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Makes a poll due now, unless the last one has failed. */
  makeDueUnlessFailed(): void {
    if (!this.#hasFailed) this.dueAt = -Infinity;
  }

  startIfDue(isBackground = false): void {
    if (this.#isClosed) return;
    const since = this.#options.now();
    const running = this.#running;
    if (running && since - running.since <= POLL_MAX_MS) return;
    this.#running = undefined;
    if (running) running.signal.abort();
    else if (since < this.dueAt) return;
    const signal = new LightSignal();
    const done = this.#run({ since, isBackground, signal });
    this.#running = { since, signal, done };
  }

  /**
   * Waits for the end of the running poll, until this poll has taken `patience` milliseconds.
   * If it still runs, resolves to the time at which it began.
   */
  async ended(patience: number = POLL_MAX_MS): Promise<number | undefined> {
    const poll = this.#running;
    if (!poll) return undefined;
    const { since } = poll;
    const left = since + patience - this.#options.now();
    if (left > 0) await waitAtMost(poll.done, left);
    // After the process was suspended, the poll has begun anew.
    if (this.#running === poll && poll.since !== since) return await this.ended(patience);
    return this.#running === poll ? since : undefined;
  }

  /** Resolves when the running poll has ended. */
  async settled(): Promise<void> {
    await this.#running?.done;
  }

  /** Aborts the running poll, and resolves when it has ended. No poll is started any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const poll = this.#running;
    this.#running = undefined;
    poll?.signal.abort();
    await poll?.done;
  }

  async #run(poll: Poll): Promise<void> {
    const { ttl, now } = this.#options;
    const result = await this.#poll(poll);
    if (poll.signal.aborted) return;
    if (result === "suspended") {
      const since = now();
      this.#running!.since = since;
      return await this.#run({ ...poll, since, isAgain: true });
    }
    this.#running = undefined;
    this.#hasFailed = result !== "responded";
    const retryAt = now() + RETRY_MS;
    if (result === "silent") this.dueAt = retryAt;
    else this.dueAt = Math.max(poll.since + ttl, result === "faulty" ? retryAt : -Infinity);
  }
}
