/** What part 2 says. */
import type { StartResult } from "../parts/start.ts";
import { serverOf } from "../servers/servers.ts";
import type { Chart } from "./chart.ts";
import { short, times, whole } from "./format.ts";
import { table } from "./markdown.ts";
import { median } from "./statistics.ts";

/** How a server's start compares with the bare one's, by the medians or by the best of each. */
export function startRatio(
  { servers }: StartResult,
  id: string,
  of: (took: readonly number[]) => number = median,
): number | undefined {
  const [own, bare] = [servers[id], servers[serverOf(id).beside]];
  if (!own || !bare || serverOf(id).role === "bare") return undefined;
  return of(own.took) / of(bare.took);
}

const best = (took: readonly number[]) => Math.min(...took);

export function startTable(result: StartResult): string {
  const rows = Object.entries(result.servers).map(([id, { took, rest, few, many }]) => [
    serverOf(id).name,
    times(startRatio(result, id)),
    times(startRatio(result, id, best)),
    short(median(took)),
    short(best(took)),
    ...[rest, few, many, many - few].map((size) => size.toFixed(1)),
  ]);
  const after = [result.few, result.many].map((count) => `after ${whole(count)}`);
  const head = [
    "server",
    "of bare",
    "best of best",
    "median, ms",
    "best, ms",
    "at rest, MiB",
    ...after,
  ];
  return table([...head, "grown"], rows);
}

export function startChart({ servers }: StartResult): Chart {
  const bars = Object.entries(servers).flatMap(([id, { took }]) => {
    const { name, role } = serverOf(id);
    if (role === "other") return [];
    const tone = role === "nodeface" ? "own" as const : role;
    return [{ label: name, value: median(took), text: `${short(median(took))} ms`, tone }];
  });
  return { title: "From the start of the process to its first answer", bars };
}
