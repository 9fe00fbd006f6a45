/** What part 4 says. */
import type { GrowthResult, SizeFigures } from "../parts/growth.ts";
import { CASES } from "../servers/answers.ts";
import type { Chart } from "./chart.ts";
import { bytes, seconds, short, times, whole } from "./format.ts";
import { table } from "./markdown.ts";
import { median, ratio } from "./statistics.ts";

/** The requests that were measured with each size. */
const asked = ({ sizes }: GrowthResult) => CASES.filter(({ id }) => sizes[0]?.rates[id]);

/** What a request costs with a description, of what it costs with the smallest. */
export function costRatio({ sizes }: GrowthResult, size: SizeFigures, id: string): number {
  return ratio(sizes[0]!.rates[id]!, size.rates[id]!);
}

/** The same by processor time; `NaN` where the machine does not tell. */
export function cpuRatio({ sizes }: GrowthResult, size: SizeFigures, id: string): number {
  const numbers = (values: readonly (number | null)[]) => values.map((value) => value ?? NaN);
  return ratio(numbers(size.cpu[id]!), numbers(sizes[0]!.cpu[id]!));
}

export function sizesTable(result: GrowthResult): string {
  const rows = result.sizes.map((size) => [
    whole(size.operations),
    ...asked(result).flatMap(({ id }) => [
      times(costRatio(result, size, id)),
      times(cpuRatio(result, size, id)),
    ]),
    bytes(size.bytes),
    seconds(median(size.load)),
    size.kept.toFixed(1),
    bytes(size.pageGzip),
    bytes(size.page),
  ]);
  const costs = asked(result).flatMap(({ name }) => [`${name}: cost`, "by CPU"]);
  const head = ["operations", ...costs, "description", "load, s", "kept, MiB", "page, gzip"];
  return table([...head, "page"], rows);
}

export function clientsTable({ clients }: GrowthResult): string {
  const rows = clients.map(({ clients, rate, p50, p99, failed, calls }) => [
    whole(clients),
    calls.toFixed(2),
    whole(rate),
    short(p50),
    short(p99),
    failed,
  ]);
  return table(["clients", "calls a second", "a second", "p50, ms", "p99, ms", "failed"], rows);
}

export function growthChart(result: GrowthResult): Chart {
  const bars = asked(result).flatMap(({ id, name }) =>
    result.sizes.map((size) => {
      const value = costRatio(result, size, id);
      const label = `${name.replaceAll("`", "")}, ${whole(size.operations)} operations`;
      return { label, value, text: times(value), tone: "own" as const };
    })
  );
  return { title: "Cost of a request, of that with the smallest description", bars };
}
