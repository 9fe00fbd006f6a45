/** Reads `deploy/grafana.json`, and queries a Prometheus as Grafana would. */
import { readFile } from "node:fs/promises";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly instant?: boolean;
}

export interface Panel {
  readonly id: number;
  readonly type: "row" | "timeseries" | "state-timeline" | "table";
  readonly title: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly Target[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string;
      readonly mappings?: readonly {
        readonly options: Readonly<
          Record<string, { readonly text: string; readonly color: string }>
        >;
      }[];
      readonly custom?: { readonly scaleDistribution?: { readonly type: string } };
    };
  };
}

export interface Annotation {
  readonly name: string;
  readonly expr?: string;
  readonly titleFormat?: string;
}

export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly Annotation[] };
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly definition?: string }[];
  };
}

export const readDashboard = async (): Promise<Dashboard> =>
  JSON.parse(await readFile(`${ROOT}deploy/grafana.json`, "utf8"));

/** Prometheus leaves out what it does not know, so a longer pause, in seconds, is a gap. */
export const GAP = 3;

/** A line of a panel. */
export interface Line {
  readonly target: Target;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Times in seconds, and values. */
  readonly points: readonly (readonly [time: number, value: number])[];
}

interface PrometheusSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: [number, string];
  readonly values?: [number, string][];
}

/** A Prometheus that scrapes each two seconds, under the name `nodeface`. */
export class Prometheus {
  readonly #url: string;
  readonly #instances: readonly string[];

  constructor(url: string, instances: readonly string[]) {
    this.#url = url;
    this.#instances = instances;
  }

  /** Grafana escapes the values of variables for regular expressions. */
  #fill(expression: string): string {
    const all = this.#instances.map((name) => name.replaceAll(".", String.raw`\\.`)).join("|");
    return expression.replaceAll("$__rate_interval", "8s").replaceAll("$job", "nodeface")
      .replaceAll("$instance", `(${all})`);
  }

  async ask(path: string, query: Readonly<Record<string, string>>): Promise<PrometheusSeries[]> {
    const response = await fetch(`${this.#url}/api/v1/${path}?${new URLSearchParams(query)}`);
    const { status, data, error } = await response.json();
    assert.is(status, "success", `${error}: ${query.query}`);
    return data.result ?? data;
  }

  async lines(target: Target, range?: readonly [start: number, end: number]): Promise<Line[]> {
    const query = this.#fill(target.expr);
    const series = range && !target.instant
      ? await this.ask("query_range", {
        query,
        start: `${range[0]}`,
        end: `${range[1]}`,
        step: "2",
      })
      : await this.ask("query", { query });
    return series.map(({ metric, value, values = [value!] }) => ({
      target,
      labels: metric,
      name: target.legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? ""),
      points: values.map(([time, text]) => [time, Number(text)] as const),
    }));
  }

  /** The moments at which an annotation begins. */
  async times(
    { name, expr = "" }: Annotation,
    range: readonly [number, number],
  ): Promise<number[]> {
    const target = { refId: "A", expr, legendFormat: name };
    return (await this.lines(target, range)).flatMap(({ points }) =>
      points.map(([time]) => time).filter((time, at) => time - (points[at - 1]?.[0] ?? 0) > GAP)
    );
  }

  async panel(
    { targets = [] }: Panel,
    range?: readonly [start: number, end: number],
  ): Promise<Line[]> {
    return (await Promise.all(targets.map((target) => this.lines(target, range)))).flat();
  }
}
