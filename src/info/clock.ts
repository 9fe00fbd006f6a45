/**
 * The clocks by which the state of the node is judged.
 *
 * @module
 */

import { CLOCK_GOES_ON } from "../platform.ts";
import { unrefTimer } from "../with-timeout.ts";

/** The shortest step of the wall clock that is taken for sleep, in milliseconds. */
const SLEEP_MIN_MS = 1000;

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

/** The interval of looks at the clock, and the longest one of a machine that is awake. */
const TICK_MS = 5000, TICK_MAX = 30_000;

/**
 * On Linux, `performance.now()` stands still while the machine sleeps, but no value stays new. On
 * other systems, it may go on, and only the clock's own ticks stop.
 */
export class SystemClock implements Clock {
  readonly #countsSleep: boolean;
  #offset: number | undefined;
  /** The time for which the machine slept while `performance.now()` stood still. */
  #sleepMissed = 0;
  /** The time for which it slept while `performance.now()` went on. */
  #sleepCounted = 0;
  #tickedAt: number | undefined;
  /** @param countsSleep whether `performance.now()` goes on while the machine sleeps */
  constructor(countsSleep: boolean = CLOCK_GOES_ON) {
    this.#countsSleep = countsSleep;
  }

  now(): Now {
    const passed = performance.now(), date = Date.now();
    const offset = date - passed;
    const step = offset - (this.#offset ?? offset);
    this.#offset = offset;
    if (step >= SLEEP_MIN_MS) this.#sleepMissed += step;
    if (this.#countsSleep) this.#tick(passed);
    return { monotonic: passed + this.#sleepMissed, awake: passed - this.#sleepCounted, date };
  }

  #tick(passed: number): void {
    if (this.#tickedAt === undefined) unrefTimer(setInterval(() => this.now(), TICK_MS));
    const since = passed - (this.#tickedAt ?? passed);
    if (since > TICK_MAX) this.#sleepCounted += since;
    this.#tickedAt = passed;
  }
}

/** The memory of a node outlives what uses it, so there is one clock for all. */
export const CLOCK: Clock = new SystemClock();
