/**
 * The bytes of all calls that are under way: bodies that have come, and responses until they are sent. Who has little
 * finds room where who has much does not, so that a few long ones do not shut all others out.
 *
 * @module
 */

/** How many bytes there may be. */
const BYTES_MAX = 128 * 1024 * 1024;

/** What is taken for a response before its call is sent; who has no more than that finds room longer, in bytes. */
export const SMALL = 16_384;

/**
 * Up to which part of all bytes room is found. The last quarter is for who has the token. A write with the token that
 * was carried out gets its response whatever there is.
 */
const SHARES: Readonly<Record<Purpose, number>> = {
  body: 0.25,
  response: 0.625,
  token: 1,
  write: Infinity,
};
const SHARE_OF_SMALL = 0.75;

/** What bytes are taken for. */
export type Purpose = "body" | "response" | "token" | "write";

/** The bytes of one call. */
export interface Room {
  /**
   * Takes or gives back some, so that it has so many.
   *
   * @returns whether there is room; with less than before there always is
   */
  set(bytes: number, purpose: Purpose): boolean;
  /** Gives all back, for good. May be called again. */
  end(): void;
}

/** Makes what gives room to calls. */
export function createBudget(most: number = BYTES_MAX): { room(): Room } {
  let taken = 0;
  return {
    room() {
      let held = 0;
      let hasEnded = false;
      return {
        set(bytes, purpose) {
          const more = hasEnded ? 0 : bytes - held;
          const share = Math.max(SHARES[purpose], bytes <= SMALL ? SHARE_OF_SMALL : 0);
          if (more > 0 && taken + more > most * share) return false;
          taken += more;
          held += more;
          return true;
        },
        end() {
          hasEnded = true;
          taken -= held;
          held = 0;
        },
      };
    },
  };
}
