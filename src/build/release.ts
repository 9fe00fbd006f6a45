/**
 * `npm run release`: builds everything that is published from a clean clone, and tests each part. It
 * publishes nothing.
 *
 * @module
 */
import { execSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import process from "node:process";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const STEPS = [
  "node tests/setup.mjs",
  "npm run ok",
  "npm run build:exe -- --all",
  "npm run build:sea",
  "npm run build:deno",
  "npm run build:worker",
  "npm run test:slow -- release",
  "npm pack --silent --pack-destination dist/executables",
];

const changed = execSync("git status --porcelain", { cwd: ROOT, encoding: "utf8" });
if (changed !== "") {
  console.error(`release: commit or remove these changes first:\n${changed.trimEnd()}`);
  process.exit(1);
}
const started = performance.now();
for (const [i, command] of STEPS.entries()) {
  const since = performance.now();
  console.error(`\n${i + 1} of ${STEPS.length}: ${command}`);
  try {
    execSync(command, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  } catch {
    console.error(`release: "${command}" failed`);
    process.exit(1);
  }
  console.error(`${command}: ${seconds(since)} s`);
}
console.error(`\nReady in dist/executables, after ${seconds(started)} s`);

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}
