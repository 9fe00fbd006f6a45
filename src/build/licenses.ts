/**
 * The licences of the packages that are put into another.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * The names and licences of packages, as text.
 *
 * @param folders where they are, from the root
 */
export async function licenses(folders: readonly string[]): Promise<string> {
  const parts = await Promise.all(folders.map(async (folder) => {
    const { name, version, license } = JSON.parse(
      await readFile(join(ROOT, folder, "package.json"), "utf8"),
    );
    const files = (await readdir(join(ROOT, folder))).filter((file) => /^licen[cs]e/i.test(file));
    const texts = await Promise.all(
      files.map((file) => readFile(join(ROOT, folder, file), "utf8")),
    );
    return `${name} ${version} (${license})\n\n${texts.join("\n").trim()}\n`;
  }));
  return parts.join(`\n${"-".repeat(72)}\n\n`);
}
