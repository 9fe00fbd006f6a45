/**
 * The keys of `/v1/info` that all kinds share, and conversions of values. A failed conversion
 * returns `undefined`.
 *
 * @module
 */
import { resolvePointer, textOf } from "../json/values.ts";
import type { Conversion } from "../kinds/parts.ts";
import { exact } from "../json/lossless.ts";
import { findFirst } from "../regular-expression.ts";
import { MILLISECONDS } from "../units.ts";

/** The keys are in the order of `/v1/info`. */
export const KNOWN_KEYS: Readonly<Record<string, (value: unknown) => unknown>> = {
  name: textOf,
  software: textOf,
  version: textOf,
  commit: textOf,
  network: textOf,
  network_name: textOf,
  chain_id: textOf,
  node_type: textOf,
  node_id: textOf,
  height: naturalNumber,
  head_at: time,
  synced: (value) => typeof value === "boolean" ? value : undefined,
  progress: share,
  blocks_per_second: positive,
  seconds_left: positive,
  peers: naturalNumber,
  started_at: time,
};

/**
 * Keys that are read even if the operator hides them: the node's operations depend on the first
 * two, and the status on the others.
 */
export const NEEDED_KEYS: readonly string[] = [
  "software",
  "version",
  "network",
  "chain_id",
  "height",
  "head_at",
  "synced",
  "progress",
  "peers",
];

export const formOf = (key: string, value: unknown): unknown =>
  Object.hasOwn(KNOWN_KEYS, key) ? KNOWN_KEYS[key]!(value) : value;

function naturalNumber(value: unknown): number | bigint | undefined {
  const number = numberFrom(value);
  const isWhole = typeof number === "bigint" || Number.isInteger(number);
  return isWhole && number! >= 0 ? number : undefined;
}

function share(value: unknown): number | undefined {
  const number = numberFrom(value);
  return number !== undefined && number >= 0 ? Math.min(Number(number), 1) : undefined;
}

function positive(value: unknown): number | undefined {
  const number = asNumber(value);
  return number >= 0 && Number.isFinite(number) ? number : undefined;
}

interface ConversionContext {
  /** The time at which the response arrived, in milliseconds since 1970. */
  receivedAt: number;
  previous?: unknown;
}

/** The largest unsigned 64-bit integer, which some nodes send in place of a hidden number. */
const ALL_BITS = 18446744073709551615n;
/** A start time that is computed from an uptime may vary by this many milliseconds. */
const UPTIME_JITTER_MS = 3000;

const SECONDS_MIN = 1e8;
/** The end of the year 9999, in milliseconds since 1970. */
const TIME_MAX = 253402300799999;

export function isKnown(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return value !== undefined && value !== null && value !== "" && value !== ALL_BITS;
}

/** True if the conversion uses all values, of which none may be missing. */
export const usesAll = (conversion: Conversion | undefined): boolean =>
  conversion === "sum" || (typeof conversion === "object" && "join" in conversion);

/** @param values at least one value; `isKnown` must return true for each value */
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
  if ("uptime" in conversion) return uptime(value, context, conversion.uptime);
  return match(value, conversion.match);
}

const SIMPLE = {
  hex: (value: unknown) => typeof value === "string" ? fromHex(value) : toHex(value),
  base16: (value: unknown) => toHex(numberFrom(value))?.replace(/^0x/, ""),
  time,
  number: numberFrom,
  not: (value: unknown) => !value,
  count: (value: unknown) => count(value, ""),
  uptime: (value: unknown, context: ConversionContext) => uptime(value, context, "s"),
};

export function numberFrom(value: unknown): number | bigint | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  if (typeof value !== "string" || !/^-?\d{1,40}(\.\d{1,40})?$/.test(value)) return undefined;
  return value.includes(".") ? Number(value) : exact(BigInt(value));
}

/** Returns `NaN` for what is no number. */
export const asNumber = (value: unknown): number => Number(numberFrom(value) ?? NaN);

export function match(value: unknown, expression: string): string | undefined {
  const text = matchable(value);
  const found = text === undefined ? undefined : findFirst(text, expression);
  return found?.group ?? found?.whole;
}

export const isUnlike = (value: unknown, expression: string): boolean =>
  matchable(value) !== undefined && match(value, expression) === undefined;

const matchable = (value: unknown): string | undefined =>
  typeof value === "boolean" ? String(value) : textOf(value);

/** Reads a number in decimal or hexadecimal (`0x`) notation. */
export const numberInAnyNotation = (value: unknown): number | bigint | undefined =>
  typeof value === "string" && value.startsWith("0x") ? fromHex(value) : numberFrom(value);

function fromHex(text: string): number | bigint | undefined {
  return /^0x[0-9a-f]{1,64}$/i.test(text) ? exact(BigInt(text)) : undefined;
}

function toHex(value: unknown): string | undefined {
  if (typeof value !== "bigint" && !Number.isInteger(value)) return undefined;
  const number = BigInt(value as number | bigint);
  return number < 0n ? undefined : `0x${number.toString(16)}`;
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

const DATE_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,3})?\d{0,12}(Z|[+-]\d\d:\d\d)$/i;

function time(value: unknown): string | undefined {
  if (typeof value === "string") {
    const [text, date, clock, fraction = "", zone] = DATE_TIME.exec(value) ?? [];
    if (text) return format(Date.parse(`${date}T${clock}${fraction}${zone!.toUpperCase()}`));
  }
  const number = numberInAnyNotation(value);
  return number === undefined ? undefined : format(sinceEpoch(Number(number)));
}

/**
 * Guesses the unit of a time since 1970 (s, ms, µs or ns), and converts the time to milliseconds.
 */
function sinceEpoch(number: number): number {
  if (number < SECONDS_MIN) return NaN;
  if (number < 1e11) return number * 1000;
  if (number < 1e14) return number;
  return number < 1e17 ? number / 1e3 : number / 1e6;
}

/** Rounds the product to 15 digits, so that 3 times 0.1 is 0.3 instead of 0.30000000000000004. */
function times(value: unknown, factor: number): number | undefined {
  const product = asNumber(value) * factor;
  return Number.isFinite(product) ? Number(product.toPrecision(15)) : undefined;
}

function uptime(
  value: unknown,
  { receivedAt, previous }: ConversionContext,
  unit: keyof typeof MILLISECONDS,
): string | undefined {
  const since = numberFrom(value);
  if (since === undefined || since < 0) return undefined;
  const started = receivedAt - Number(since) * MILLISECONDS[unit];
  if (typeof previous === "string" && Math.abs(started - Date.parse(previous)) < UPTIME_JITTER_MS) {
    return previous;
  }
  return format(started - started % 1000);
}

/** Returns `undefined` for a time before 1970: Go programs send the year 1 for an unknown time. */
function format(milliseconds: number): string | undefined {
  const isTime = milliseconds > 0 && milliseconds <= TIME_MAX;
  return isTime ? new Date(milliseconds).toISOString() : undefined;
}
