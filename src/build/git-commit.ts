/**
 * Which commit a build is made from.
 *
 * @module
 */
import { execFileSync } from "node:child_process";

/**
 * The commit that is checked out, in short.
 *
 * @param folder the root of the clone
 * @returns nothing where the folder is no clone, or is only a folder of another one
 */
export function shortCommit(folder: string): string | undefined {
  try {
    const [top, commit] = execFileSync("git", ["rev-parse", "--show-cdup", "--short", "HEAD"], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).split("\n");
    return top === "" ? commit : undefined;
  } catch {
    return undefined;
  }
}
