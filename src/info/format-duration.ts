/**
 * Spans of time and long numbers for people.
 *
 * @module
 */

/** The units, each with the one below it. */
const UNITS = [["d", 86_400], ["h", 3600], ["min", 60], ["s", 1]] as const;

/** A span of time in its two largest units, such as `3 h 12 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const at = Math.max(0, UNITS.findIndex(([, length]) => seconds >= length));
  if (seconds === 0) return "0 s";
  const [unit, length] = UNITS[at]!;
  const [lower, lowerLength] = UNITS[at + 1] ?? ["", 1];
  const rest = Math.floor(seconds % length / lowerLength);
  const whole = `${Math.floor(seconds / length)} ${unit}`;
  return lower && rest > 0 ? `${whole} ${rest} ${lower}` : whole;
}

/** Separates the thousands of a number, in linear time; leaves its fraction. */
export function groupDigits(number: string, separator: string): string {
  return number.replace(/\d+/, (whole) => {
    const first = whole.length % 3 || 3;
    return [whole.slice(0, first), ...whole.slice(first).match(/\d{3}/g) ?? []].join(separator);
  });
}
