/** Parses the Prometheus text format, as far as this service uses it. */
import * as assert from "uvu/assert";

/** The samples: each value by its metric's name with labels, as written. */
export type Lines = ReadonlyMap<string, string>;

/** A name, labels with escaped quotes and backslashes, and a number. */
const LINE = /^([a-z_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\})?) (\S+)$/;

/** Parses a text; every line must be valid, and no series may occur twice. */
export function readMetrics(text: string): Lines {
  assert.ok(text.endsWith("\n"));
  const lines = new Map<string, string>();
  for (const line of text.slice(0, -1).split("\n")) {
    if (/^# (HELP|TYPE) [a-z_]+ ./.test(line)) continue;
    const [, series = "", value = ""] = LINE.exec(line) ?? assert.unreachable(line) ?? [];
    assert.not(lines.has(series), `${series} is there twice`);
    assert.ok(!Number.isNaN(Number(value)), line);
    lines.set(series, value);
  }
  return lines;
}

/** Lists the names of metrics. */
export const namesIn = (lines: Lines): Set<string> =>
  new Set([...lines.keys()].map((series) => series.replace(/\{.*/s, "")));
