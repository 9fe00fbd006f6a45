/**
 * What is made of a value on its way into the info.
 *
 * @module
 */
import type { Conversion } from "../kinds/kind.ts";
import { exact } from "../json/lossless.ts";
import { resolvePointer } from "../json/pointer.ts";

/** What a conversion may need beside the value. */
export interface ConversionContext {
  /** Milliseconds since 1970. */
  now: number;
  /** What the key had before. */
  previous?: unknown;
}

/** A node that hides a number of 64 bits behind all of its bits has told nothing. */
const ALL_BITS = 18446744073709551615n;

/** Between two answers the start that is computed from an uptime moves by this much, in ms. */
const UPTIME_JITTER = 3000;

/** Whether a value says anything: not `null`, not empty, not a placeholder. */
export function isKnown(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && value !== ALL_BITS;
}

/**
 * Converts the values of the places that a field names.
 *
 * @param values at least one, all known
 * @returns `undefined` where nothing can be made of them
 */
export function convert(
  values: readonly unknown[],
  conversion: Conversion | undefined,
  context: ConversionContext,
): unknown {
  const [value] = values;
  if (conversion === undefined) return value;
  if (conversion === "sum") return sum(values);
  if (typeof conversion === "string") return SIMPLE[conversion](value, context);
  if ("join" in conversion) return values.join(conversion.join);
  if ("count" in conversion) return count(value, conversion.count);
  const found = new RegExp(conversion.match).exec(String(value));
  return found?.[1] ?? found?.[0];
}

const SIMPLE = {
  hex,
  not: (value: unknown) => !value,
  count: (value: unknown) => count(value, ""),
  time: (value: unknown) => time(value),
  uptime,
} as const;

function hex(value: unknown): unknown {
  if (typeof value === "number" || typeof value === "bigint") return `0x${value.toString(16)}`;
  if (typeof value !== "string" || !/^0x[0-9a-f]{1,256}$/i.test(value)) return undefined;
  return exact(BigInt(value));
}

function count(value: unknown, pointer: string): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const members = Object.values(value);
  return pointer === "" ? members.length : members.filter((m) => resolvePointer(m, pointer)).length;
}

function sum(values: readonly unknown[]): number | undefined {
  const numbers = values.map(Number);
  return numbers.some(Number.isNaN) ? undefined : numbers.reduce((a, b) => a + b, 0);
}

function time(value: unknown): string | undefined {
  const isNumber = typeof value !== "string" || /^\d+(\.\d+)?$/.test(value);
  const date = new Date(isNumber ? sinceEpoch(Number(value)) : value);
  // Zero, and the first day of year 1 in Go, stand for a time that is not known.
  return date.getTime() > 0 ? date.toISOString() : undefined;
}

/** Milliseconds since 1970 from a number that may count seconds, milli-, micro- or nanoseconds. */
function sinceEpoch(number: number): number {
  if (number < 1e11) return number * 1000;
  if (number < 1e14) return number;
  return number < 1e17 ? number / 1e3 : number / 1e6;
}

function uptime(value: unknown, { now, previous }: ConversionContext): string | undefined {
  const started = now - Number(value) * 1000;
  if (Number.isNaN(started)) return undefined;
  const before = Date.parse(String(previous));
  if (Math.abs(started - before) < UPTIME_JITTER) return String(previous);
  return new Date(started - started % 1000).toISOString();
}
