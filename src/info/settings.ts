/**
 * The defaults of the settings `node`, `info` and `events`, and the notation of durations and large numbers.
 *
 * @module
 */
import type { Duration } from "../kinds/kind.ts";
import type { InfoSettings, NodeSettings } from "../setting-types.ts";

export type { EventSettings, InfoSettings, NodeSettings } from "../setting-types.ts";

export const EVENT_DEFAULTS = { listeners: 1000, per_address: 250 } as const;

/** Keys of `/v1/info` that only the service itself sets. */
export const RESERVED_KEYS: readonly string[] = [
  "status",
  "status_code",
  "status_reason",
  "updated_at",
  "last_seen",
  "api",
  "links",
];

export const DEFAULTS = { timeout: "2s", ttl: "1s", stale: "60s", history: "1h" } as const;

/** All durations are in milliseconds. */
export interface Times {
  readonly timeout: number;
  readonly ttl: number;
  readonly stale: number;
  readonly stalledAfter: number | undefined;
}

/** @param timeout the time limit of the node's responses, in milliseconds */
export function timesOf(
  { ttl = DEFAULTS.ttl, stale = DEFAULTS.stale, stalled_after }: InfoSettings,
  timeout: number,
): Times {
  return {
    timeout,
    ttl: milliseconds(ttl),
    stale: milliseconds(stale),
    stalledAfter: stalled_after && milliseconds(stalled_after),
  };
}

export const MILLISECONDS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
export const DURATION: RegExp = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

export function milliseconds(duration: Duration): number {
  const [, number, unit] = DURATION.exec(duration) ?? [];
  if (!number) throw new TypeError(`"${duration}" is not a duration such as "2s" or "500ms"`);
  return Number(number) * MILLISECONDS[unit as keyof typeof MILLISECONDS];
}

const UNITS = [["d", 86_400], ["h", 3600], ["min", 60], ["s", 1]] as const;

/** Returns at most two units, such as `3 h 12 min`. */
export function formatDuration(milliseconds: number): string {
  let rest = Math.max(0, Math.round(milliseconds / 1000));
  const parts = UNITS.map(([unit, length]) => {
    const count = Math.floor(rest / length);
    rest %= length;
    return count > 0 ? `${count} ${unit}` : "";
  });
  const first = parts.findIndex((part) => part !== "");
  return first < 0 ? "0 s" : parts.slice(first, first + 2).join(" ").trimEnd();
}

/** Groups only the digits before the decimal point. */
export function groupDigits(number: string, separator: string): string {
  return number.replace(/\d+/, (whole) => {
    const first = whole.length % 3 || 3;
    return [whole.slice(0, first), ...whole.slice(first).match(/\d{3}/g) ?? []].join(separator);
  });
}
