/**
 * Writes metrics in the text format of Prometheus, version 0.0.4.
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 *
 * @module
 */
import { BOUNDS, labelOf, type Observed } from "./meters.ts";
import { type Metric, type MetricName, METRICS } from "./table.ts";

/** The type of the text. */
export const MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** A value of a metric. What is not known has none. */
export interface Sample {
  /** The values of its labels, in the order of the table; one that is `undefined` is left out. */
  readonly labels?: readonly (string | number | undefined)[];
  readonly value: number | bigint | Observed;
}

/** Samples by their metric; one without samples is left out. */
export type Samples = Readonly<Partial<Record<MetricName, readonly Sample[]>>>;

/** Writes samples. */
export function expose(samples: Samples): string {
  const lines = (Object.keys(METRICS) as MetricName[]).flatMap((name) =>
    linesOf(name, METRICS[name], samples[name] ?? [])
  );
  return lines.map((line) => `${line}\n`).join("");
}

function linesOf(name: string, { type, help, labels = [] }: Metric, samples: readonly Sample[]) {
  if (samples.length === 0) return [];
  const head = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  return [...head, ...samples.flatMap((sample) => lineOf(name, labels, sample))];
}

function lineOf(
  name: string,
  names: readonly string[],
  { labels: values = [], value }: Sample,
): string[] {
  const labels = names.flatMap((label, i) => {
    const value = values[i];
    return value === undefined ? [] : [`${label}="${escape(labelOf(String(value)))}"`];
  });
  const line = (suffix: string, number: number | bigint, ...more: string[]) => {
    const all = [...labels, ...more];
    // JavaScript writes numbers as Go reads them; a `bigint` keeps its digits.
    return `${name}${suffix}${all.length > 0 ? `{${all.join(",")}}` : ""} ${number}`;
  };
  if (typeof value !== "object") return [line("", value)];
  const { counts, count, sum } = value;
  return [
    ...BOUNDS.map((bound, i) => line("_bucket", counts[i]!, `le="${bound}"`)),
    line("_bucket", count, 'le="+Inf"'),
    line("_sum", sum),
    line("_count", count),
  ];
}

/** A line feed is no character of a label. */
const escape = (text: string) => text.replaceAll(/["\\]/g, "\\$&");
