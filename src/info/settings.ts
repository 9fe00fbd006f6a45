/**
 * The settings of the node and its info, for an operator or a host: the `node` and the `info` part of the
 * configuration file, in the same form; and spans of time, as they are written and for people.
 *
 * @module
 */
import type { Duration, Field, Source } from "../kinds/kind.ts";
import type { SecretPlace } from "../node/secrets.ts";

/** The node that is shown. */
export interface NodeSettings {
  /** Its URL, `http:` or `https:`. */
  url?: string | undefined;
  /** The URL at which pages reach it; takes the place of the servers of its description. */
  public_url?: string | undefined;
  /** One of the kinds, or `none` for a node that only `info` describes. @default found by asking */
  kind?: string | undefined;
  /** The place of the secret for it, which is sent to the origin of `url` and nowhere else. */
  auth?: SecretPlace | undefined;
  /** A further authority to trust, for `https:`. */
  tls?: { ca_file: string } | undefined;
  /** The longest time of a response. @default "2s" */
  timeout?: Duration | undefined;
}

export interface InfoSettings {
  /** The node is asked at most once in this time. @default "1s" */
  ttl?: Duration | undefined;
  /** The time for which last known values are shown when the node stops answering. @default "60s" */
  stale?: Duration | undefined;
  /**
   * The pace at which the node is asked although nobody else asks, at least 1 s.
   *
   * @default "30s" for the command, "off" in the library
   */
  watch?: Duration | "off" | undefined;
  /** The time for which `/v1/history` goes back, from 4 min to 24 h. @default "1h" */
  history?: Duration | "off" | undefined;
  /** The time without a new block after which the node is stalled, at least 10 s. @default what its kind says of its network */
  stalled_after?: Duration | undefined;
  /** Values that are always the same. */
  static?: Readonly<Record<string, unknown>> | undefined;
  /** Keys that are not shown. */
  hide?: readonly string[] | undefined;
  /** Sources beside or instead of those of the kind. */
  sources?: Readonly<Record<string, Source>> | undefined;
  /** Fields beside or instead of those of the kind. */
  fields?: Readonly<Record<string, Field>> | undefined;
}

export interface EventSettings {
  /** The most streams at a time. @default 1000 */
  listeners?: number | undefined;
  /** The most of them of one address, where the server knows it. @default 250 */
  per_address?: number | undefined;
}

export const EVENT_DEFAULTS = { listeners: 1000, per_address: 250 } as const;

/** Keys that only the service itself sets. */
export const RESERVED_KEYS: readonly string[] = [
  "status",
  "status_code",
  "status_reason",
  "updated_at",
  "last_seen",
  "api",
  "links",
];

/** The defaults, in the form of the file. */
export const DEFAULTS = { timeout: "2s", ttl: "1s", stale: "60s", history: "1h" } as const;

/** The times of a node, in milliseconds. */
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
    ...{ timeout: milliseconds(timeout), ttl: milliseconds(ttl), stale: milliseconds(stale) },
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

/** Writes a span of time in its two largest units, such as `3 h 12 min`. */
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
