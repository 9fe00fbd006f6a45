/**
 * The past of a figure as a small plot: one SVG path of whole numbers, and its range as a text. The samples are those of
 * `GET /v1/history`, in which a node may have put anything.
 *
 * @module
 */
import { type Json, listOf } from "../json/values.ts";

/** The object of `GET /v1/history`. */
export type History = Readonly<Json>;

export interface Sparkline {
  /** The commands of the path, within the box. */
  readonly path: string;
  readonly least: number | bigint;
  readonly most: number | bigint;
  /** The time from the first sample to the last one, in milliseconds. */
  readonly span: number;
}

/** The box of a plot, and the most points in it. */
export const WIDTH = 240, HEIGHT = 24;

const POINTS_MAX = 240;

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value));

/** Draws a column of a history; `undefined` where it has fewer than two numbers. */
export function drawSparkline(history: History, key: string): Sparkline | undefined {
  const times = listOf(history.at).slice(-POINTS_MAX).map((at) => Date.parse(String(at)));
  const column = listOf(history[key]).slice(-POINTS_MAX);
  const known = column.filter(isNumber);
  const [first, start, end] = [known[0], times[0]!, times.at(-1)!];
  if (first === undefined || known.length < 2 || !(end > start)) return undefined;
  const least = known.reduce((a, b) => b < a ? b : a);
  const most = known.reduce((a, b) => b > a ? b : a);
  // Halves, as the difference of two doubles may not be one.
  const from = (value: number | bigint) =>
    typeof value === "bigint" && typeof least === "bigint"
      ? Number(value - least) / 2
      : Number(value) / 2 - Number(least) / 2;
  const range = from(most);
  let path = "";
  let isDrawn = false;
  for (const [i, value] of column.entries()) {
    const x = Math.round(WIDTH * (times[i]! - start) / (end - start));
    const y = !isNumber(value)
      ? NaN
      : Math.round(range > 0 ? HEIGHT * (1 - from(value) / range) : HEIGHT / 2);
    const isPoint = x >= 0 && x <= WIDTH && y >= 0 && y <= HEIGHT;
    if (isPoint) path += `${isDrawn ? "L" : "M"}${x} ${y}`;
    isDrawn = isPoint;
  }
  return { path, least, most, span: end - start };
}

/** Finds since when a history has its last status, an RFC 3339 time; `undefined` where it has had no other. */
export function sinceOf(history: History, status: unknown): string | undefined {
  const states = listOf(history.status);
  const before = states.findLastIndex((one) => one !== status);
  const at = listOf(history.at)[before + 1];
  return before < 0 || before === states.length - 1 || typeof at !== "string" ? undefined : at;
}

/** Finds the last number of a column. */
export function lastOf(history: History, key: string): number | bigint | undefined {
  const value = listOf(history[key]).at(-1);
  return isNumber(value) ? value : undefined;
}
