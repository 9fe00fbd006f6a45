/** Writes BENCHMARKS.md and its charts. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { DENO, ROOT } from "../../_paths.ts";
import type { Results } from "../results.ts";
import { drawChart } from "./chart.ts";
import { writeDocument } from "./document.ts";

const FOLDER = "docs/bench";

/** Writes the report; returns the files that were written. */
export function writeReport(results: Results): string[] {
  if (Object.keys(results).length === 0) throw new Error("nothing has been measured yet");
  const { text, charts } = writeDocument(results, FOLDER);
  mkdirSync(`${ROOT}${FOLDER}`, { recursive: true });
  for (const [name, chart] of charts) writeFileSync(`${ROOT}${FOLDER}/${name}`, drawChart(chart));
  writeFileSync(`${ROOT}BENCHMARKS.md`, text);
  const files = ["BENCHMARKS.md", ...[...charts.keys()].map((name) => `${FOLDER}/${name}`)];
  execFileSync(DENO, ["fmt", "--quiet", ...files], { cwd: ROOT });
  return files;
}
