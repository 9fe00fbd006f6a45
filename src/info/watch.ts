/**
 * Asks at a pace although nobody does, so that the log, the history and the events tell of a failure when it happens.
 *
 * @module
 */

/** The longest time between two looks while somebody listens, in milliseconds. */
const LISTENED_MS = 2000;

export interface WatchOptions {
  /** The time between two looks, in milliseconds; `undefined` for none. */
  readonly pace: number | undefined;
  /** Asks if that is due; what it rejects with is told elsewhere. */
  readonly look: () => Promise<unknown>;
}

export class Watch {
  readonly #options: WatchOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isHeard = false;
  #hasEnded = false;

  /** Begins where there is a pace. Its timer never keeps a process alive. */
  constructor(options: WatchOptions) {
    this.#options = options;
    this.#wait();
  }

  /** True while somebody listens. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** Is told whether somebody listens: they are told of a change within seconds. */
  hear(isHeard: boolean): void {
    if (isHeard === this.#isHeard) return;
    this.#isHeard = isHeard;
    this.#wait();
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
  }

  #wait(): void {
    clearTimeout(this.#timer);
    const { pace, look } = this.#options;
    const time = this.#isHeard ? Math.min(pace ?? Infinity, LISTENED_MS) : pace;
    if (time === undefined || this.#hasEnded) return;
    const timer = this.#timer = setTimeout(async () => {
      await look().catch(() => {});
      if (this.#timer === timer) this.#wait();
    }, time);
    (timer as { unref?(): void }).unref?.();
  }
}
