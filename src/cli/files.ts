/**
 * Files that the command reads and writes.
 *
 * @module
 */
import { open, unlink } from "node:fs/promises";
import { fileUrl, findFile, PlatformError, readFile } from "../platform.ts";

/** The files that the command reads. What rejects has a message for the operator. */
export interface Files {
  read(path: string): Promise<string>;
  readBytes(path: string, limit: number): Promise<Uint8Array>;
  /** Looks for a file, whatever its size. */
  find(path: string): Promise<void>;
  isThere(path: string): Promise<boolean>;
}

/** The largest text, in bytes. */
const TEXT_BYTES_MAX = 1024 * 1024;

/** The longest time that a file may take, in milliseconds. */
const TIMEOUT_MS = 2000;

export const files: Files = {
  async read(path) {
    return new TextDecoder().decode(await files.readBytes(path, TEXT_BYTES_MAX));
  },
  readBytes: (path, limit) => naming(path, readFile(path, { limit, timeout: TIMEOUT_MS })),
  find: (path) => naming(path, fileUrl(path).then(findFile).then(() => {})),
  isThere: (path) => files.find(path).then(() => true, () => false),
};

/** Has the message of what goes wrong say with which file. */
async function naming<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof PlatformError ? new Error(`${path}: ${error.message}`) : error;
  }
}

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

/**
 * Writes a file that is not there yet, and never over another one.
 *
 * @param mode its permissions, less those that the process's mask takes away
 * @throws {Error} with a message for the operator
 */
export async function writeNewFile(path: string, text: string, mode: number): Promise<void> {
  try {
    const file = await open(path, "wx", mode);
    try {
      await file.writeFile(text);
    } catch (error) {
      await unlink(path);
      throw error;
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code, name } = error as { code?: string; name: string };
    const reason = FAILURES[code ?? name];
    if (reason === undefined) throw error;
    throw new Error(`cannot write ${path}: ${reason}`);
  }
}
