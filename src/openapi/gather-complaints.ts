/**
 * Gathers what is wrong with a file. What is wrong in many places is kept once: there may be as many
 * of these as there are values.
 *
 * @module
 */
import { LIMITS } from "./limits.ts";
import type { Complaint } from "./parse.ts";
import type { Path } from "../json/values.ts";

/** What is wrong with a file. */
export interface Complaints {
  /**
   * Adds one.
   *
   * @param pathOf is called where it is the first of its kind
   */
  add(complaint: Omit<Complaint, "path" | "more">, pathOf: () => Path): void;
  /** All of them, each at the first place. */
  list(): Complaint[];
  /** How many are not kept: nobody reads so many, and paths are long where values are nested. */
  readonly untold: number;
}

/** Makes it. */
export function createComplaints(): Complaints {
  const firsts = new Map<string, { complaint: Complaint; more: number }>();
  let untold = 0;
  return {
    add(complaint, pathOf) {
      const key = `${complaint.isError} ${complaint.message}`;
      const first = firsts.get(key);
      if (first) first.more++;
      else if (firsts.size === LIMITS.findings) untold++;
      else firsts.set(key, { complaint: { ...complaint, path: pathOf() }, more: 0 });
    },
    get untold() {
      return untold;
    },
    list: () => [...firsts.values()].map(({ complaint, more }) => ({ ...complaint, more })),
  };
}
