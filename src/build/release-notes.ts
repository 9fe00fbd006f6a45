/**
 * What is published with a version: the checksums of the files, and what is said of it, its section of CHANGELOG.md.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const CHECKSUMS = "SHA256SUMS";

/** Writes the checksum of every file of a folder to its `SHA256SUMS`, in the order of their names. */
export async function writeChecksums(folder: string): Promise<void> {
  const lines = [];
  for (const name of (await readdir(folder)).sort()) {
    if (name === CHECKSUMS) continue;
    const sum = createHash("sha256").update(await readFile(join(folder, name))).digest("hex");
    lines.push(`${sum}  ${name}\n`);
  }
  await writeFile(join(folder, CHECKSUMS), lines.join(""));
}

/** What is said of a version. */
export interface ReleaseNotes {
  /** In Markdown. */
  readonly text: string;
  /** Whether the heading of the section has no date yet. */
  readonly isUndated: boolean;
}

/**
 * Makes the notes of a version.
 *
 * @param commit what it is built from, if that is known
 * @throws {Error} if there is no section for the version, or nothing in it
 */
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
