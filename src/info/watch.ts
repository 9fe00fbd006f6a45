/**
 * Polls the node at regular intervals, so that a failure is reported even if no client sends a
 * request, and so that clients that listen get each change.
 *
 * @module
 */
import { unrefTimer } from "../with-timeout.ts";
import type { Info } from "./info.ts";
import type { Monitor } from "./monitor.ts";
import type { Status } from "./status.ts";

/** The longest interval between polls while clients listen to the node's events. */
const LISTENED_MS = 2000;
/**
 * The longest interval between polls of a node that is not well, in milliseconds, so that one that
 * is well again is `ok` within three seconds even if no client sends a request. A node that
 * responds with a fault is polled less often: it may log each wrong password.
 */
const UNWELL_MS: Readonly<Partial<Record<Status, number>>> = {
  starting: 1000,
  stale: 1000,
  unreachable: 1000,
  degraded: 2000,
};

interface WatchOptions {
  /** The interval between polls in milliseconds; `Infinity` if only clients cause polls. */
  readonly interval: number;
  /** Called before each poll. */
  readonly onTick: () => void;
}

export class Watch {
  readonly #monitor: Monitor;
  readonly #options: WatchOptions;
  #hasListeners = false;
  #status: Status | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasEnded = false;

  constructor(monitor: Monitor, options: WatchOptions) {
    this.#monitor = monitor;
    this.#options = options;
    this.#wait();
  }

  note({ status }: Info): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#wait();
  }

  /** True while clients listen to the node's events. */
  get hasListeners(): boolean {
    return this.#hasListeners;
  }

  set hasListeners(hasListeners: boolean) {
    if (hasListeners === this.#hasListeners) return;
    this.#hasListeners = hasListeners;
    this.#wait();
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
  }

  #wait(): void {
    clearTimeout(this.#timer);
    const { interval, onTick } = this.#options;
    const time = Math.min(
      interval,
      this.#hasListeners ? LISTENED_MS : Infinity,
      // Without an interval, nothing but requests and listeners causes a poll.
      (interval < Infinity && this.#status && UNWELL_MS[this.#status]) || Infinity,
    );
    if (time === Infinity || this.#hasEnded) return;
    const timer = setTimeout(async () => {
      onTick();
      await this.#monitor.poll();
      if (this.#timer === timer) this.#wait();
    }, time);
    this.#timer = timer;
    unrefTimer(timer);
  }
}
