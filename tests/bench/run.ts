/**
 * `npm run bench`: measures Nodeface on this machine, beside bare servers and its peers, and writes
 * BENCHMARKS.md. See `--help`.
 */
import process from "node:process";
import { isPartial, type Options, type PartId, readOptions, USAGE } from "./cli/options.ts";
import { stopAll } from "./cli/processes.ts";
import { createProgress, duration } from "./cli/progress.ts";
import { build, installPeers, requireBuilt } from "./cli/setup.ts";
import { findGenerator } from "./load/load.ts";
import { currentLoad, describeMachine, watchSteal } from "./machine.ts";
import { explorer } from "./parts/explorer.ts";
import { growth } from "./parts/growth.ts";
import type { Part } from "./parts/part.ts";
import { requests } from "./parts/requests.ts";
import { start } from "./parts/start.ts";
import { printPart } from "./report/terminal.ts";
import { writeReport } from "./report/write.ts";
import { type PartResults, readResults, type Results, writeResults } from "./results.ts";

const MEASURES: { [Id in PartId]: Part<PartResults[Id]> } = { requests, start, explorer, growth };

const say = (text: string) => void process.stderr.write(`${text}\n`);
// What was started is stopped when the process exits.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

try {
  await main();
} catch (error) {
  say(`bench: ${(error as Error).message}`);
  process.exit(1);
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (!options) return void process.stdout.write(USAGE);
  if (!options.report) await measure(options);
  if (isPartial(options)) return;
  for (const file of writeReport(readResults())) say(`wrote ${file}`);
}

async function measure(options: Options): Promise<void> {
  const { quick } = options;
  // Of what is named with --only, a part may have nothing.
  const parts = options.parts.filter((part) => MEASURES[part].plan(options).steps > 0);
  const busy = currentLoad();
  if (parts.some((part) => part !== "explorer")) findGenerator();
  installPeers(say);
  if (options.build) build(say);
  else requireBuilt();

  const plans = parts.map((part) => MEASURES[part].plan(options));
  const total = (of: "steps" | "seconds") => plans.reduce((sum, plan) => sum + plan[of], 0);
  say(`measuring ${parts.join(", ")}: about ${duration(total("seconds"))}`);
  const progress = createProgress(total("steps"), total("seconds"));
  const results: Results = readResults();
  const machine = describeMachine(busy);
  for (const part of parts) {
    const since = performance.now();
    const steal = watchSteal();
    try {
      const result = await MEASURES[part].measure(options, progress);
      const took = (performance.now() - since) / 1000;
      const at = new Date().toISOString();
      const measured = { at, took, steal: steal(), quick, machine, result };
      Object.assign(results, { [part]: measured });
      progress.end();
      console.log(`\n${printPart(part, results)}\n`);
      if (!isPartial(options)) writeResults(results);
    } catch (error) {
      // What other parts measure is worth having all the same.
      progress.say(`bench: ${part} was not measured: ${(error as Error).message}`);
      process.exitCode = 1;
    } finally {
      await stopAll();
    }
  }
}
