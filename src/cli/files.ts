/**
 * Files that the command reads.
 *
 * @module
 */
import type { Files } from "./configuration.ts";

declare const Deno: { stat(path: string): Promise<unknown> } | undefined;
declare const Bun: { file(path: string): { exists(): Promise<boolean> } } | undefined;

/** What a text may be large, in bytes. */
const TEXT_BYTES_MAX = 1024 * 1024;

/** In milliseconds. */
const TIMEOUT = 2000;

/** The files of the disk. */
export const files: Files = {
  async read(path) {
    return new TextDecoder().decode(await files.readBytes(path, TEXT_BYTES_MAX));
  },
  async readBytes(path, limit) {
    const { PlatformError, readFile } = await import("../platform.ts");
    try {
      return await readFile(path, { limit, timeout: TIMEOUT });
    } catch (error) {
      throw error instanceof PlatformError ? new Error(`${path}: ${error.message}`) : error;
    }
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
