/**
 * `npm run release`: builds everything that is published from a clean clone, and tests each part: the package, the
 * executables, their bill of materials, what there is to say of the version, and the checksums of all of them. It
 * publishes nothing.
 *
 * @module
 */
import { execSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

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

function release(): void {
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
  writeChecksums(READY);
  if (notes.isUndated) console.error(`release: CHANGELOG.md has no date for ${version}`);
  console.error(`\nReady in dist/executables, after ${seconds(started)} s`);
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}

const CHECKSUMS = "SHA256SUMS";

/** Writes the checksum of every file of a folder to its `SHA256SUMS`, in the order of their names. */
export function writeChecksums(folder: string): void {
  const names = readdirSync(folder).filter((name) => name !== CHECKSUMS).sort();
  const lines = names.map((name) => {
    const sum = createHash("sha256").update(readFileSync(join(folder, name))).digest("hex");
    return `${sum}  ${name}\n`;
  });
  writeFileSync(join(folder, CHECKSUMS), lines.join(""));
}

interface ReleaseNotes {
  readonly text: string;
  /** True if the heading of the section has no date yet. */
  readonly isUndated: boolean;
}

/** Makes the notes of a version; throws if there is no section for it, or nothing in it. */
export function releaseNotes(
  changelog: string,
  version: string,
  commit: string | undefined,
): ReleaseNotes {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => /^[^\s,]+/.exec(text)?.[0] === version);
  const [heading = "", ...lines] = section?.split("\n") ?? [];
  const content = lines.join("\n").trim();
  if (content === "") throw new Error(`CHANGELOG.md says nothing of ${version}`);
  const date = /\d{4}-\d{2}-\d{2}/.exec(heading)?.[0];
  const origin = commit === undefined ? "" : `Built from the commit ${commit}. `;
  return {
    isUndated: date === undefined,
    text: `# Nodeface ${version}${date === undefined ? "" : `, ${date}`}

${origin}With all files in one folder, this checks those that you have:

\`\`\`sh
sha256sum --check --ignore-missing ${CHECKSUMS}
\`\`\`

\`nodeface.cdx.json\` lists what is inside of the executables (CycloneDX 1.6).

${withoutRelativeLinks(content)}
`,
  };
}

/** Relative links lead nowhere but in the checkout: there the texts name the files. */
const withoutRelativeLinks = (text: string) =>
  text.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, "$1");

if (process.argv[1] === fileURLToPath(import.meta.url)) release();
