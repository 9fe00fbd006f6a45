/** What part 3 says. */
import { EXPLORERS } from "../explorers/explorers.ts";
import type { Visit } from "../explorers/visit.ts";
import { LINES } from "../explorers/lines.ts";
import type { ExplorerResult } from "../parts/explorer.ts";
import type { Chart } from "./chart.ts";
import { bytes, seconds } from "./format.ts";
import { table } from "./markdown.ts";
import { median } from "./statistics.ts";

type Which = "first" | "second";

/** The median of one figure; `null` where an explorer has none. */
function figure(
  { visits }: ExplorerResult,
  explorer: string,
  line: string,
  which: Which,
  key: keyof Visit,
): number | null {
  const values = visits.filter((each) => each.explorer === explorer && each.line === line)
    .map((each) => each[which]?.[key] ?? NaN);
  const value = median(values);
  return Number.isNaN(value) ? null : value;
}

const namesOf = ({ visits }: ExplorerResult) =>
  EXPLORERS.map(({ name }) => name).filter((name) =>
    visits.some(({ explorer }) => explorer === name)
  );

export function explorerTable(result: ExplorerResult, line: string): string {
  const rows = namesOf(result).map((name) => {
    const of = (which: Which, key: keyof Visit) => figure(result, name, line, which, key);
    return [
      name,
      seconds(of("first", "painted")),
      seconds(of("first", "readable")),
      seconds(of("first", "ready")),
      bytes(of("first", "bytes") ?? NaN),
      of("first", "requests") ?? "–",
      of("first", "outside") ?? "–",
      seconds(of("second", "ready") ?? of("second", "readable")),
      bytes(of("second", "bytes") ?? NaN),
    ];
  });
  const head = ["explorer", "first paint, s", "readable, s", "ready to try, s", "bytes"];
  return table([...head, "requests", "outside", "again, s", "again, bytes"], rows);
}

export function explorerChart(result: ExplorerResult): Chart {
  const line = LINES.at(-1)!.name;
  const bars = namesOf(result).flatMap((name) =>
    (["readable", "ready"] as const).flatMap((key) => {
      const value = figure(result, name, line, "first", key);
      if (value === null) return [];
      const label = `${name}, ${key === "ready" ? "ready to try" : "readable"}`;
      const tone = name === "Nodeface" ? "own" as const : "peer" as const;
      return [{ label, value, text: `${seconds(value)} s`, tone }];
    })
  );
  return { title: "An operation readable and ready to try, first visit on a slow line", bars };
}
