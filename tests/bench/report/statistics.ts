/** The few statistics that are used. */

/** The value in the middle; `NaN` of none. */
export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const half = sorted.length >> 1;
  if (sorted.length === 0) return NaN;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** The median of the ratios round by round, so that what changes from round to round cancels out. */
export function ratio(values: readonly number[], to: readonly number[]): number {
  return median(values.map((value, round) => value / (to[round] ?? NaN)));
}
