/**
 * The clocks by which the state of the node is judged.
 *
 * @module
 */

/** The shortest step of the wall clock that is taken for sleep, in milliseconds. */
const SLEEP_MIN = 1000;

/** On Linux, `performance.now()` stands still while the machine sleeps, but no value stays new. */
export class Clock {
  #offset: number | undefined;
  #slept = 0;

  now(): number {
    return Date.now();
  }

  /** A wall clock that is set forward counts as sleep, too: then the node is asked once more. */
  monotonic(): number {
    const awake = performance.now();
    const offset = Date.now() - awake;
    const step = offset - (this.#offset ?? offset);
    this.#offset = offset;
    if (step >= SLEEP_MIN) this.#slept += step;
    return awake + this.#slept;
  }
}
