/**
 * The settings `node`, `info` and `events` of the configuration file, and the notation of durations and large numbers.
 *
 * @module
 */
import type { Duration, Field, Source } from "../kinds/kind.ts";
import type { SecretPlace } from "../node/secrets.ts";

export interface NodeSettings {
  /** The URL of the node, which begins with `http:` or `https:`. */
  url?: string | undefined;
  /** The name of a kind, or `none` for a node that only `info` describes. @default detected */
  kind?: string | undefined;
  /** The file or variable that holds the node's secret. The secret is sent only to the origin of `url`. */
  auth?: SecretPlace | undefined;
  /** An additional certificate authority to trust, for `https:`. */
  tls?: { ca_file: string } | undefined;
  /** The maximum time that a response may take. @default "2s" */
  timeout?: Duration | undefined;
  /** If true, a node in this machine or network is asked which methods of its kind it lacks. @default true */
  ask_methods?: boolean | undefined;
}

export interface InfoSettings {
  /** The minimum time between two queries of the node. @default "1s" */
  ttl?: Duration | undefined;
  /** The time for which the last values are shown when the node stops responding. @default "60s" */
  stale?: Duration | undefined;
  /** The interval of automatic queries, at least 1 s. @default "30s" for the command, "off" in the library */
  watch?: Duration | "off" | undefined;
  /** The time span that `/v1/history` covers, from 4 min to 24 h. @default "1h" */
  history?: Duration | "off" | undefined;
  /** The time after which a node without new blocks is stalled, at least 10 s. @default depends on kind and network */
  stalled_after?: Duration | undefined;
  /** Constant values for keys of `/v1/info`. */
  static?: Readonly<Record<string, unknown>> | undefined;
  /** Keys of `/v1/info` to omit. */
  hide?: readonly string[] | undefined;
  /** Sources to add to the kind. If the kind has a source of the same name, the kind's source is replaced. */
  sources?: Readonly<Record<string, Source>> | undefined;
  /** Fields to add to the kind. If the kind has a field with the same key, the kind's field is replaced. */
  fields?: Readonly<Record<string, Field>> | undefined;
}

export interface EventSettings {
  /** The maximum number of concurrent event streams. @default 1000 */
  listeners?: number | undefined;
  /** The maximum number of concurrent event streams per client address, if the address is known. @default 250 */
  per_address?: number | undefined;
}

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

export function timesOf(
  { timeout = DEFAULTS.timeout }: NodeSettings,
  { ttl = DEFAULTS.ttl, stale = DEFAULTS.stale, stalled_after }: InfoSettings,
): Times {
  return {
    timeout: milliseconds(timeout),
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
