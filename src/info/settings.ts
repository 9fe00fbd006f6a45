/**
 * The defaults of the settings `node`, `info` and `events`.
 *
 * @module
 */
import type { InfoSettings } from "../setting-types.ts";
import { milliseconds } from "../units.ts";

export const EVENT_DEFAULTS = { listeners: 1000, per_address: 250 } as const;

/** Keys of `/v1/info` that only the service itself sets. */
export const RESERVED_KEYS: readonly string[] = [
  "status",
  "status_code",
  "status_reason",
  "status_remedy",
  "updated_at",
  "last_seen",
  "api",
  "links",
];

export const DEFAULTS = {
  timeout: "2s",
  ttl: "1s",
  stale: "60s",
  history: "1h",
  watch: "30s",
} as const;

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
    stalledAfter: stalled_after === "off" ? Infinity : stalled_after && milliseconds(stalled_after),
  };
}
