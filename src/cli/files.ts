/**
 * Files that the command reads.
 *
 * @module
 */
import type { Files } from "./configuration.ts";

declare const Deno: { stat(path: string): Promise<unknown> } | undefined;
declare const Bun: { file(path: string): { exists(): Promise<boolean> } } | undefined;

/** The files of the disk. */
export const files: Files = {
  async read(path) {
    const { readTextFile } = await import("../info/sources/file.ts");
    return await readTextFile(path);
  },
  async isThere(path) {
    // Asked at every start: on Deno and Bun `node:fs` takes longer to load than to look.
    if (typeof Bun !== "undefined") return await Bun.file(path).exists();
    const look = typeof Deno !== "undefined"
      ? Deno.stat(path)
      : import("node:fs/promises").then(({ access }) => access(path));
    return await look.then(() => true, () => false);
  },
};
