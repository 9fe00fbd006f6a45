/**
 * The clocks by which the state of the node is judged.
 *
 * @module
 */

/** The shortest step of the wall clock that is taken for sleep, in milliseconds. */
const SLEEP_MIN = 1000;

export interface Instant {
  /**
   * Milliseconds since an arbitrary time, with those for which the machine slept. A wall clock that
   * is set forward counts as sleep, too: then the node is asked once more.
   */
  readonly monotonic: number;
  /** The date and time, in milliseconds since 1970. */
  readonly date: number;
}

export interface Now extends Instant {
  /** The time of the monotonic clock without that for which the machine slept. */
  readonly awake: number;
}

export interface Clock {
  now(): Now;
}

/** On Linux, `performance.now()` stands still while the machine sleeps, but no value stays new. */
export class SystemClock implements Clock {
  #offset: number | undefined;
  #slept = 0;

  now(): Now {
    const awake = performance.now(), date = Date.now();
    const offset = date - awake;
    const step = offset - (this.#offset ?? offset);
    this.#offset = offset;
    if (step >= SLEEP_MIN) this.#slept += step;
    return { monotonic: awake + this.#slept, awake, date };
  }
}
