/**
 * The clocks by which the state of the node is judged.
 *
 * @module
 */

/** The shortest step of the wall clock that is taken for sleep, in milliseconds. */
const SLEEP_MIN = 1000;

export interface Clocks {
  /** Returns milliseconds since 1970. */
  now(): number;
  /** Returns milliseconds since an arbitrary time, with those for which the machine slept. */
  monotonic(): number;
  /** Returns the same, without those for which the machine slept. */
  awake(): number;
}

/** On Linux, `performance.now()` stands still while the machine sleeps, but no value stays new. */
export class Clock implements Clocks {
  #offset: number | undefined;
  #slept = 0;

  now(): number {
    return Date.now();
  }

  awake(): number {
    return performance.now();
  }

  /** A wall clock that is set forward counts as sleep, too: then the node is asked once more. */
  monotonic(): number {
    const awake = this.awake();
    const offset = Date.now() - awake;
    const step = offset - (this.#offset ?? offset);
    this.#offset = offset;
    if (step >= SLEEP_MIN) this.#slept += step;
    return awake + this.#slept;
  }
}
