/**
 * Spans of time as operators write them.
 *
 * @module
 */
import type { Duration } from "../kinds/kind.ts";

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** A span of time as text. */
export const DURATION: RegExp = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

/**
 * A span of time in milliseconds.
 *
 * @throws {TypeError} where it has another form than `500ms`, `2s`, `1m` or `1h`
 */
export function milliseconds(duration: Duration): number {
  const [, number, unit] = DURATION.exec(duration) ?? [];
  if (!number) throw new TypeError(`"${duration}" is no duration such as "2s" or "500ms"`);
  return Number(number) * UNITS[unit as keyof typeof UNITS];
}
