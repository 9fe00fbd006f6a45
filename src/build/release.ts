/**
 * `npm run release`: builds everything that is published from a clean clone, and tests each part: the package, the
 * executables, their bill of materials, what there is to say of the version, and the checksums of all of them. It
 * publishes nothing.
 *
 * @module
 */
import { execSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import process from "node:process";
import { releaseNotes, writeChecksums } from "./release-notes.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const STEPS = [
  "node tests/setup.mjs",
  "npm run ok",
  "npm run build:exe -- --all",
  "npm run build:deno",
  "npm run build:worker",
  "npm run test:slow -- release",
  "npm pack --silent --pack-destination dist/executables",
];

const READY = `${ROOT}dist/executables/`;

const git = (command: string) => execSync(`git ${command}`, { cwd: ROOT, encoding: "utf8" });

const changed = git("status --porcelain");
if (changed !== "") {
  console.error(`release: commit or remove these changes first:\n${changed.trimEnd()}`);
  process.exit(1);
}
const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
const changelog = readFileSync(`${ROOT}CHANGELOG.md`, "utf8");
const notes = releaseNotes(changelog, version, git("rev-parse HEAD").trim());
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
writeFileSync(`${READY}RELEASE.md`, notes.text);
await writeChecksums(READY);
if (notes.isUndated) console.error(`release: CHANGELOG.md has no date for ${version}`);
console.error(`\nReady in dist/executables, after ${seconds(started)} s`);

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}
