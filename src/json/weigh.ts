/**
 * Tells how large a value is, shared parts counted as often as they stand in it.
 *
 * @module
 */
import type { Json } from "./values.ts";

/**
 * How much a value is when it is written out, in values or 32 characters of text.
 *
 * @param known what has been weighed already, as values may be shared
 */
export function weigh(value: unknown, known: Map<unknown, number> = new Map()): number {
  if (typeof value === "string") return 1 + value.length / 32;
  if (typeof value !== "object" || value === null) return 1;
  const weight = known.get(value);
  if (weight !== undefined) return weight;
  let sum = 1;
  for (const key of Object.keys(value)) {
    sum += key.length / 32 + weigh((value as Json)[key], known);
  }
  known.set(value, sum);
  return sum;
}
