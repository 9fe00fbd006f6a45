/**
 * The keys of the info that every kind of node may have, their forms, and the conversions of values on their way
 * into them. A conversion gives a value or `undefined`; none throws.
 *
 * @module
 */
import { resolvePointer, textOf } from "../json/values.ts";
import type { Conversion } from "../kinds/kind.ts";
import { exact } from "../json/lossless.ts";
import { startOf } from "../untrusted-text.ts";
import { MILLISECONDS } from "./settings.ts";

interface KnownKey {
  /** Brings a value into the form that clients of every kind can rely on; `undefined` if it has none. */
  readonly form: (value: unknown) => unknown;
  /** True where the status rests on it, so that it is read even where it is hidden. */
  readonly isJudged?: true;
}

const TEXT = { form: textOf };
const TIME = { form: (value: unknown) => time(value) };

/** The keys in the order in which they are shown. */
export const KNOWN_KEYS: Readonly<Record<string, KnownKey>> = {
  name: TEXT,
  software: TEXT,
  version: TEXT,
  commit: TEXT,
  network: { ...TEXT, isJudged: true },
  chain_id: { ...TEXT, isJudged: true },
  node_type: TEXT,
  node_id: TEXT,
  height: { form: naturalNumber, isJudged: true },
  head_at: { ...TIME, isJudged: true },
  synced: { form: (value) => typeof value === "boolean" ? value : undefined, isJudged: true },
  sync_progress: { form: share, isJudged: true },
  peers: { form: naturalNumber, isJudged: true },
  started_at: TIME,
};

export const formOf = (key: string, value: unknown): unknown =>
  Object.hasOwn(KNOWN_KEYS, key) ? KNOWN_KEYS[key]!.form(value) : value;

export function isJudged(key: string): boolean {
  return Object.hasOwn(KNOWN_KEYS, key) && KNOWN_KEYS[key]!.isJudged === true;
}

function naturalNumber(value: unknown): number | bigint | undefined {
  const number = numberFrom(value);
  const isWhole = typeof number === "bigint" || Number.isInteger(number);
  return isWhole && number! >= 0 ? number : undefined;
}

function share(value: unknown): number | undefined {
  const number = numberFrom(value);
  return number !== undefined && number >= 0 ? Math.min(Number(number), 1) : undefined;
}

interface ConversionContext {
  /** In milliseconds since 1970. */
  learntAt: number;
  previous?: unknown;
}

/** A node that hides a number of 64 bits behind all of its bits has told nothing. */
const ALL_BITS = 18446744073709551615n;

/** Between two responses the start that is computed from an uptime moves by this much, in ms. */
const UPTIME_JITTER = 3000;

/** The longest text that a regular expression is run on, in UTF-16 code units. */
const MATCHED_LENGTH = 1024;

/** Fewer seconds since 1970 are no time of any node: they count something else. */
const SECONDS_MIN = 1e8;

/** The end of the year 9999, in milliseconds since 1970. */
const TIME_MAX = 253402300799999;

/** Tells whether a value says anything: not `null`, not empty, not a placeholder. */
export function isKnown(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return value !== undefined && value !== null && value !== "" && value !== ALL_BITS;
}

/** @param values those of the places that a field names: at least one, all known */
export function convert(
  values: readonly unknown[],
  conversion: Conversion | undefined,
  context: ConversionContext,
): unknown {
  const [value] = values;
  if (conversion === undefined) return value;
  if (conversion === "sum") return sum(values);
  if (typeof conversion === "string") return SIMPLE[conversion](value, context);
  if ("join" in conversion) return join(values, conversion.join);
  if ("count" in conversion) return count(value, conversion.count);
  if ("add" in conversion) return sum([value, conversion.add]);
  if ("times" in conversion) return times(value, conversion.times);
  if ("uptime" in conversion) {
    return uptime(value, context, MILLISECONDS[conversion.uptime]);
  }
  return match(value, conversion.match);
}

const SIMPLE = {
  hex,
  number: (value: unknown) => numberFrom(value),
  not: (value: unknown) => !value,
  count: (value: unknown) => count(value, ""),
  time: (value: unknown) => time(value),
  uptime: (value: unknown, context: ConversionContext) => uptime(value, context),
} as const;

/** Reads a number from itself or from its decimal form of at most 40 digits. */
export function numberFrom(value: unknown): number | bigint | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  if (typeof value !== "string" || !/^-?\d{1,40}(\.\d{1,40})?$/.test(value)) return undefined;
  return value.includes(".") ? Number(value) : exact(BigInt(value));
}

/** Finds the first group of a regular expression in the text of a value, or all that it matches. */
export function match(value: unknown, expression: string): string | undefined {
  const text = typeof value === "boolean" ? String(value) : textOf(value);
  if (text === undefined) return undefined;
  const found = new RegExp(expression).exec(startOf(text, MATCHED_LENGTH));
  return found?.[1] ?? found?.[0];
}

function hex(value: unknown): unknown {
  if (typeof value === "bigint" || Number.isInteger(value)) {
    const number = BigInt(value as number | bigint);
    return number < 0n ? undefined : `0x${number.toString(16)}`;
  }
  if (typeof value !== "string" || !/^0x[0-9a-f]{1,64}$/i.test(value)) return undefined;
  return exact(BigInt(value));
}

function count(value: unknown, pointer: string): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const members = Object.values(value);
  return pointer === "" ? members.length : members.filter((m) => resolvePointer(m, pointer)).length;
}

function sum(values: readonly unknown[]): number | bigint | undefined {
  const numbers = values.map(numberFrom).filter((number) => number !== undefined);
  if (numbers.length < values.length) return undefined;
  if (!numbers.every((number) => typeof number === "bigint" || Number.isInteger(number))) {
    return numbers.reduce<number>((total, number) => total + Number(number), 0);
  }
  return exact(numbers.reduce<bigint>((total, number) => total + BigInt(number), 0n));
}

function join(values: readonly unknown[], separator: string): string | undefined {
  const texts = values.map(textOf);
  return texts.includes(undefined) ? undefined : texts.join(separator);
}

/** RFC 3339, with as many digits of a fraction as a node may write. */
const DATE_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,3})?\d{0,12}(Z|[+-]\d\d:\d\d)$/i;

function time(value: unknown): string | undefined {
  if (typeof value === "string") {
    const [text, date, clock, fraction = "", zone] = DATE_TIME.exec(value) ?? [];
    if (text) return format(Date.parse(`${date}T${clock}${fraction}${zone!.toUpperCase()}`));
  }
  const number = typeof value === "string" && value.startsWith("0x")
    ? hex(value)
    : numberFrom(value);
  return number === undefined ? undefined : format(sinceEpoch(Number(number)));
}

/** Converts a number to milliseconds since 1970, which may count seconds, milli-, micro- or nanoseconds. */
function sinceEpoch(number: number): number {
  if (number < SECONDS_MIN) return NaN;
  if (number < 1e11) return number * 1000;
  if (number < 1e14) return number;
  return number < 1e17 ? number / 1e3 : number / 1e6;
}

/** Multiplies a number, and takes the noise of binary fractions off: 3 times 0.1 is 0.3. */
function times(value: unknown, factor: number): number | undefined {
  const product = Number(numberFrom(value) ?? NaN) * factor;
  return Number.isFinite(product) ? Number(product.toPrecision(15)) : undefined;
}

/** @param unit in milliseconds */
function uptime(
  value: unknown,
  { learntAt, previous }: ConversionContext,
  unit: number = MILLISECONDS.s,
): string | undefined {
  const since = numberFrom(value);
  if (since === undefined || since < 0) return undefined;
  const started = learntAt - Number(since) * unit;
  if (typeof previous === "string" && Math.abs(started - Date.parse(previous)) < UPTIME_JITTER) {
    return previous;
  }
  return format(started - started % 1000);
}

/** Writes RFC 3339; `undefined` for the first day of year 1, by which Go means that a time is not known. */
function format(milliseconds: number): string | undefined {
  const isTime = milliseconds > 0 && milliseconds <= TIME_MAX;
  return isTime ? new Date(milliseconds).toISOString() : undefined;
}
