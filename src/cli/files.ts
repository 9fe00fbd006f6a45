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
    return await naming(path, ({ readFile }) => readFile(path, { limit, timeout: TIMEOUT }));
  },
  async find(path) {
    await naming(path, async ({ fileUrl, findFile }) => findFile(await fileUrl(path)));
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

/** Works on a file, so that what goes wrong says which one it is. */
async function naming<T>(
  path: string,
  work: (platform: typeof import("../platform.ts")) => Promise<T>,
): Promise<T> {
  const platform = await import("../platform.ts");
  try {
    return await work(platform);
  } catch (error) {
    throw error instanceof platform.PlatformError ? new Error(`${path}: ${error.message}`) : error;
  }
}
