/**
 * Durations and sizes: how settings write them, and how messages show them.
 *
 * @module
 */

/**
 * A span of time.
 *
 * @example
 * ```ts
 * const timeout: Duration = "500ms";
 * ```
 */
export type Duration = `${number}${"ms" | "s" | "m" | "h"}`;

export const MILLISECONDS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
export const DURATION: RegExp = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

export function milliseconds(duration: Duration): number {
  const [, number, unit] = DURATION.exec(duration) ?? [];
  if (!number) throw new TypeError(`"${duration}" is not a duration such as "2s" or "500ms"`);
  return Number(number) * MILLISECONDS[unit as keyof typeof MILLISECONDS];
}

const TIMES = [["d", 86_400], ["h", 3600], ["min", 60], ["s", 1]] as const;

/** Returns at most two units, such as `3 h 12 min`. */
export function formatDuration(milliseconds: number): string {
  let rest = Math.max(0, Math.round(milliseconds / 1000));
  const parts = TIMES.map(([unit, length]) => {
    const count = Math.floor(rest / length);
    rest %= length;
    return count > 0 ? `${count} ${unit}` : "";
  });
  const first = parts.findIndex((part) => part !== "");
  return first < 0 ? "0 s" : parts.slice(first, first + 2).join(" ").trimEnd();
}

/** Returns a short time, such as `20 ms` or `1.5 s`. */
export const formatMilliseconds = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;

export const SIZE: RegExp = /^(\d+(?:\.\d+)?)(B|KiB|MiB|GiB)$/;
const BYTES: Readonly<Record<string, number>> = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, B: 1 };

/** @param size a size such as `32MiB` */
export function bytesOf(size: string): number {
  const [, number = "0", unit = "B"] = SIZE.exec(size) ?? [];
  return Math.round(Number(number) * BYTES[unit]!);
}

/** Returns a whole number of the largest unit that allows one, such as `256 KiB`. */
export function formatSize(bytes: number): string {
  const [unit, length] = Object.entries(BYTES).find(([, length]) => bytes % length === 0)!;
  return `${bytes / length} ${unit === "B" ? "bytes" : unit}`;
}

/** Groups only the digits before the decimal point. */
export const groupDigits = (number: string, separator: string): string =>
  number.replace(/\d+/, (whole) => {
    const first = whole.length % 3 || 3;
    const others = whole.slice(first).match(/\d{3}/g) ?? [];
    return [whole.slice(0, first), ...others].join(separator);
  });
