/**
 * Writes a file that is not there yet: whole or not at all, and never over another one.
 *
 * @module
 */
import { basename, dirname, join } from "node:path";

/** Why a file cannot be written, by the code or the name of an error. */
const FAILURES: Readonly<Record<string, string>> = {
  EEXIST: "it is there already, and stays as it is",
  ENOENT: "there is no such folder",
  ENOTDIR: "there is no such folder",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "nothing can be written there",
  ENOSPC: "there is no room left",
  NotCapable: "the runtime has not been allowed to write it",
};

/** What a file system says that has no hard links. */
const NO_LINKS = ["EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP", "EMLINK"];

/**
 * Writes it beside its place first, so that nobody reads half of it.
 *
 * @param mode its permissions, less those that the process's mask takes away
 * @throws {Error} with a message for the operator
 */
export async function writeNewFile(path: string, text: string, mode: number): Promise<void> {
  const { copyFile, constants, link, unlink, writeFile } = await import("node:fs/promises");
  const draft = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}`);
  try {
    await writeFile(draft, text, { mode, flag: "wx" });
    try {
      // Unlike a rename, a link is refused where something is there.
      await link(draft, path);
    } catch (error) {
      if (!NO_LINKS.includes(codeOf(error))) throw error;
      await copyFile(draft, path, constants.COPYFILE_EXCL);
    } finally {
      await unlink(draft);
    }
  } catch (error) {
    const reason = FAILURES[codeOf(error)];
    if (reason === undefined) throw error;
    throw new Error(`cannot write ${path}: ${reason}`);
  }
}

function codeOf(error: unknown): string {
  const { code, name } = error as { code?: string; name: string };
  return code ?? name;
}
