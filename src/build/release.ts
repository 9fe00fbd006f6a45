/**
 * `npm run release`: makes everything that is published, from a clean clone, and proves each part
 * by starting it and asking it for every path. It publishes nothing.
 *
 * @module
 */
import { execSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import process from "node:process";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What is done, in order; each must succeed. */
const STEPS: readonly [what: string, command: string][] = [
  ["What the tests need", "node tests/setup.mjs"],
  ["Format, lint, types and tests", "npm run ok"],
  ["Executables for all machines", "npm run build:exe -- --all"],
  ["The executable that Node makes", "npm run build:sea"],
  ["The one module for Deno", "npm run build:deno"],
  ["The worker", "npm run build:worker"],
  ["All of it started and asked", "node --import tsx tests/run.ts release"],
  ["The package", "npm pack --silent --pack-destination dist/executables"],
];

const changed = execSync("git status --porcelain", { cwd: ROOT, encoding: "utf8" });
if (changed !== "") {
  console.error(`release: only what is committed is released; this is not:\n${changed.trimEnd()}`);
  process.exit(1);
}
const started = performance.now();
for (const [i, [what, command]] of STEPS.entries()) {
  const since = performance.now();
  console.error(`\n${i + 1} of ${STEPS.length}: ${what} (${command})`);
  try {
    execSync(command, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  } catch {
    console.error(`release: "${command}" failed`);
    process.exit(1);
  }
  console.error(`${what}: ${seconds(since)} s`);
}
console.error(`\nReady in dist/executables, after ${seconds(started)} s`);

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}
