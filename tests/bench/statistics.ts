/** Calculates medians and ratios of the measured values. */

/** Returns NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/**
 * Divides each value by the other server's value of the same round, because other programs on the
 * machine affect all measurements of a round equally.
 */
export function ratiosOf(values: readonly number[], beside: readonly number[]): number[] {
  return values.map((value, round) => value / beside[round]!);
}
