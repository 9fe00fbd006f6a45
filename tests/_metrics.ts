/** Parses the part of the Prometheus text format that this service uses. */
import * as assert from "uvu/assert";

/** The keys are the names of metrics, including their labels. */
export type Lines = ReadonlyMap<string, string>;

const LINE = /^([a-z_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\})?) (\S+)$/;

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

export const namesIn = (lines: Lines): Set<string> =>
  new Set([...lines.keys()].map((series) => series.replace(/\{.*/s, "")));
