/**
 * `npm run bench` measures Nodeface on this machine and writes BENCHMARKS.md. If the arguments are
 * names of parts, the command measures and writes only these parts.
 */
import { loadavg } from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";
import { checkDocument, description } from "./description.ts";
import { explorer } from "./explorer.ts";
import { gateway } from "./gateway.ts";
import { run } from "./processes.ts";
import { writeReport } from "./report.ts";
import { requests } from "./requests.ts";
import { BUILD_BARE, RUNTIMES } from "./servers.ts";

const PARTS = { requests, gateway, description, explorer };
const NAMES = Object.keys(PARTS);
const IDS = RUNTIMES.map(({ id }) => id);

const USAGE = `Usage: npm run bench -- [PART…] [--only RUNTIME,…] [--beside FOLDER] [--quick]

  PART     ${NAMES.join(", ")}; all, where none is named (12 minutes)
  --only   these runtimes: ${IDS.join(", ")} (requests and gateway)
  --beside another commit as well: a checkout in which "npm run build" and "npm run build:exe" were run
  --quick  fewer rounds, for a first look

With an option, the results are only printed, and BENCHMARKS.md stays as it is.
`;

// Without these handlers, a signal would skip the exit handlers, which stop the started processes.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

try {
  await main();
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exit(1);
}

async function main(): Promise<void> {
  const { values, positionals: named } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: "string" },
      beside: { type: "string", multiple: true },
      quick: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help) return void process.stdout.write(USAGE);
  const { only: list = "", beside = [], quick: isQuick = false } = values;
  const only = list.split(",").filter(Boolean);
  const unknown = [
    ...named.filter((name) => !NAMES.includes(name)),
    ...only.filter((id) => !IDS.includes(id)),
  ];
  if (unknown.length > 0) throw new Error(`"${unknown[0]}" is not known\n\n${USAGE}`);

  const parts = Object.entries(PARTS)
    .filter(([name]) => named.length === 0 || named.includes(name));
  if (parts.some(([, part]) => part === description)) checkDocument();
  await run(BUILD_BARE);
  const isPrinted = only.length + beside.length > 0 || isQuick;
  for (const [name, measure] of parts) {
    const [load = 0] = loadavg();
    const since = new Date();
    try {
      const section = await measure({ only, beside, isQuick });
      if (!isPrinted) await writeReport({ section, since, load });
    } catch (error) {
      // The other parts are measured all the same.
      console.error(`bench: ${name}: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
  // A part that failed may have left servers running, which end with this process.
  process.exit();
}
