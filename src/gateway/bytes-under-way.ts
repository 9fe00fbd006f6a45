/**
 * The bytes of all calls that are under way: bodies that have come, and responses until they are sent. Who has little
 * finds room where who has much does not, so that a few long ones do not shut all others out.
 *
 * @module
 */
import { sendable } from "../http/representation.ts";
import { type Bytes, joinBytes } from "../bytes.ts";
import type { ServedRequest } from "../http/request.ts";

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

/** How much of a body is handed over at a time, in bytes. */
const PART_LENGTH = 65_536;

/**
 * Makes a body of bytes that count until they are sent; short ones are the system's at once.
 *
 * @param release gives their room back; may be called again
 * @param request that is responded to
 */
export function countedBody(
  parts: readonly Bytes[],
  release: () => void,
  { whenSent }: ServedRequest,
): Bytes | Blob | ReadableStream<Bytes> {
  const length = parts.reduce((length, { byteLength }) => length + byteLength, 0);
  if (length <= SMALL) {
    release();
    return parts.length === 1 ? parts[0]! : joinBytes(parts);
  }
  if (whenSent) {
    whenSent(release);
    return sendable(parts.length === 1 ? parts[0]! : joinBytes(parts));
  }
  const left = [...parts];
  return new ReadableStream({
    pull(controller) {
      const [part] = left;
      if (!part) {
        release();
        return controller.close();
      }
      controller.enqueue(part.subarray(0, PART_LENGTH));
      const rest = part.subarray(PART_LENGTH);
      if (rest.byteLength > 0) left[0] = rest;
      else left.shift();
    },
    cancel: release,
  }, { highWaterMark: 0 });
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
