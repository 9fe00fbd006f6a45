/**
 * `npm run release`: builds and tests the files of a release, and writes notes and checksums.
 * Publishes nothing.
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

/** `npm run test:slow` would build all executables once more. */
export const STEPS: readonly string[] = [
  "node tests/setup.mjs",
  "npm run ok",
  "npm run build:exe -- --all",
  "npm run build:deno",
  "npm run build:worker",
  "node --import tsx tests/run.ts slow release",
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
  for (const [i, command] of STEPS.entries()) {
    console.error(`\n${i + 1} of ${STEPS.length}: ${command}`);
    try {
      execSync(command, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
    } catch {
      console.error(`release: "${command}" failed`);
      process.exit(1);
    }
  }
  writeFileSync(`${READY}RELEASE.md`, notes);
  writeChecksums(READY);
  if (!notes.startsWith(`# Nodeface ${version}, `)) {
    console.error(`release: CHANGELOG.md has no date for ${version}`);
  }
  console.error("\nReady in dist/executables");
}

const CHECKSUMS = "SHA256SUMS";

export function writeChecksums(folder: string): void {
  const names = readdirSync(folder).filter((name) => name !== CHECKSUMS).sort();
  const lines = names.map((name) => {
    const sum = createHash("sha256").update(readFileSync(join(folder, name))).digest("hex");
    return `${sum}  ${name}\n`;
  });
  writeFileSync(join(folder, CHECKSUMS), lines.join(""));
}

export function releaseNotes(changelog: string, version: string, commit: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => /^[^\s,]+/.exec(text)?.[0] === version);
  const [heading = "", ...lines] = section?.split("\n") ?? [];
  const content = lines.join("\n").trim();
  if (content === "") throw new Error(`CHANGELOG.md has no text for ${version}`);
  const date = /\d{4}-\d{2}-\d{2}/.exec(heading)?.[0];
  return `# Nodeface ${version}${date === undefined ? "" : `, ${date}`}

Built from the commit ${commit}. To check your downloaded files, run this in their folder:

\`\`\`sh
sha256sum --check --ignore-missing ${CHECKSUMS}
\`\`\`

\`nodeface.cdx.json\` lists what the executables contain (CycloneDX 1.6).

${content.replaceAll(RELATIVE_LINK, "$1")}
`;
}

/** Relative links work only in the checkout, so the notes keep only the text of these links. */
const RELATIVE_LINK = /\[([^\]]+)\]\((?!https?:)[^)]+\)/g;

if (process.argv[1] === fileURLToPath(import.meta.url)) release();
