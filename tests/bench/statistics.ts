/** The arithmetic of the figures. */

/** The middle of some values, or the mean of the two in the middle; NaN where there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** The ratios round by round: what else the machine did in a round falls on both. */
export function ratiosOf(values: readonly number[], beside: readonly number[]): number[] {
  return values.map((value, round) => value / beside[round]!);
}
