/** Reads the text format of Prometheus, as far as this service writes it. */
import * as assert from "uvu/assert";

/** A line of a metric: its name with its labels as they are written, and its value. */
export type Lines = ReadonlyMap<string, string>;

/** A name, labels whose quotes and backslashes are escaped, and a number. */
const LINE = /^([a-z_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\})?) (\S+)$/;

/** Reads a text; every line has to be one of the format, and no series may be there twice. */
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

/** The names of metrics. */
export const namesIn = (lines: Lines): Set<string> =>
  new Set([...lines.keys()].map((series) => series.replace(/\{.*/s, "")));
