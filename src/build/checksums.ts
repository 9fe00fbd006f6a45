/**
 * The checksums of what is published, in the form of `sha256sum`.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The file with the checksums. */
export const CHECKSUMS = "SHA256SUMS";

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
