/**
 * `npm run bench`: measures Nodeface on this machine, beside bare servers and its peers, and writes
 * BENCHMARKS.md. See `--help`.
 */
import process from "node:process";
import { readOptions, USAGE } from "./cli/options.ts";
import { createProgress, duration } from "./cli/progress.ts";
import { build, requireBuilt } from "./cli/setup.ts";
import { requests } from "./parts/requests.ts";
import { requestsTable } from "./report/requests.ts";

const say = (text: string) => process.stderr.write(`${text}\n`);
// What was started is stopped when the process exits.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => process.exit(130));
}

try {
  await main();
} catch (error) {
  say(`bench: ${(error as Error).message}`);
  process.exit(1);
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (!options) return void process.stdout.write(USAGE);
  if (options.build) build(say);
  else requireBuilt();
  const { steps, seconds } = requests.plan(options);
  say(`${steps} steps, about ${duration(seconds)}`);
  const progress = createProgress(steps, seconds);
  const result = await requests.measure(options, progress);
  progress.end();
  console.log(requestsTable(result));
}
