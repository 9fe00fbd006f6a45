/** Calculates medians and ratios of the measured values, with their spread. */
import { format } from "./output.ts";

/** Returns NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Shows the median of the values, and the lowest and the highest in brackets. */
export function spread(values: readonly number[]): string {
  return withRange(median(values), values);
}

/**
 * Shows the quotient of two medians. In brackets are the lowest and the highest quotient of one
 * round, since other programs on the machine affect all measurements of a round equally. The
 * quotient of the medians is always between these two.
 */
export function ratio(values: readonly number[], beside: readonly number[]): string {
  const ratios = values.map((value, round) => value / beside[round]!);
  return withRange(median(values) / median(beside), ratios);
}

const withRange = (middle: number, values: readonly number[]): string =>
  values.length === 0
    ? "–"
    : `${format(middle)} (${format(Math.min(...values))}–${format(Math.max(...values))})`;
