/**
 * Decides when a description is checked for changes.
 *
 * @module
 */
import { waitAtMost } from "../with-timeout.ts";

/** The longest time that a request waits for a check, in milliseconds. */
const REQUEST_PATIENCE_MS = 250;

interface CheckOptions {
  /** The shortest time between a check and the next one that a request starts, in milliseconds. */
  readonly interval: number;
  /** The time after which a check counts as stopped, in milliseconds. */
  readonly longest: number;
  readonly onError: (error: unknown) => void;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

export class Checks {
  readonly #check: () => Promise<void>;
  readonly #options: CheckOptions;
  #running: { readonly since: number; readonly done: Promise<void> } | undefined;
  /** The check that follows the running one. */
  #next: Promise<void> | undefined;
  #checkedAt = -Infinity;
  #hasEnded = false;

  constructor(check: () => Promise<void>, options: CheckOptions) {
    this.#check = check;
    this.#options = options;
  }

  /** Starts a check if one is due, and waits briefly for the check that is running. */
  onRequest(): Promise<void> | undefined {
    const { interval, longest, now } = this.#options;
    if (this.#running && now() - this.#running.since > longest) {
      this.#running = this.#next = undefined;
    }
    if (!this.#running && !this.#hasEnded && now() - this.#checkedAt >= interval) this.start();
    if (!this.#running) return undefined;
    const { since, done } = this.#running;
    const left = since + REQUEST_PATIENCE_MS - now();
    return left > 0 ? waitAtMost(done.catch(() => {}), left) : undefined;
  }

  start(): void {
    this.run().catch(this.#options.onError);
  }

  /** Calls made while a check is running share one further check. */
  run(): Promise<void> {
    if (this.#next) return this.#next;
    if (!this.#running) return this.#run();
    const next = this.#next = this.#running.done.catch(() => {}).then(() => {
      if (this.#next === next) this.#next = undefined;
      return this.#run();
    });
    return next;
  }

  /** Resolves when the running check has ended, well or not. */
  async settled(): Promise<void> {
    await this.#running?.done.catch(() => {});
  }

  /** After this, requests start no checks. */
  end(): void {
    this.#hasEnded = true;
  }

  #run(): Promise<void> {
    const { now } = this.#options;
    const done = this.#check().finally(() => {
      if (this.#running === running) this.#running = undefined;
      this.#checkedAt = now();
    });
    const running = this.#running = { since: now(), done };
    return done;
  }
}
