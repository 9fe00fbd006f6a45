/** Moves the monotonic clock forward, so that no test needs to wait. */

const now = performance.now.bind(performance);
let ahead = 0;

/** Timers are not affected. */
export function passTime(milliseconds: number): void {
  ahead += milliseconds;
  performance.now = () => now() + ahead;
}
