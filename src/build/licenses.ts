/**
 * The licences of bundled packages.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Lists packages with the texts of their licences.
 *
 * @param folders the folders of the packages, relative to the root
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
