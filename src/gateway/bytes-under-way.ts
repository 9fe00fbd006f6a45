/**
 * The bytes of all answers that are under way.
 *
 * @module
 */

/** How many bytes there may be. */
const BYTES_MAX = 128 * 1024 * 1024;

/** A budget of bytes. */
export interface Budget {
  /** Takes some; `false` if there are not so many left. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

/** Makes a budget. */
export function createBudget(most: number = BYTES_MAX): Budget {
  let taken = 0;
  return {
    take(bytes) {
      if (taken + bytes > most) return false;
      taken += bytes;
      return true;
    },
    giveBack(bytes) {
      taken -= bytes;
    },
  };
}
