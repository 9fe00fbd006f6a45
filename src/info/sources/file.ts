/**
 * Files: values that another program leaves there, and secrets.
 *
 * @module
 */
import { reasonOfFileError } from "../../file-errors.ts";
import { excerpt } from "../../text.ts";
import { withTimeout } from "../../with-timeout.ts";
import { LIMIT, SourceError, TOO_LARGE } from "./source-error.ts";

/** A disk may hang, too. */
const TIMEOUT = 2000;

/**
 * Reads a text file, as far as the limit. Nothing is loaded before it is used: workers have no
 * disk, and say so.
 *
 * @param path absolute, relative to the working directory, or with `~/` for the home directory
 * @param timeout in milliseconds
 * @throws {SourceError}
 */
export async function readTextFile(path: string, timeout: number = TIMEOUT): Promise<string> {
  try {
    return await withTimeout(read(path), timeout, () => {
      throw new SourceError(`${path}: it takes longer than ${timeout} ms`);
    });
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(`${path}: ${excerpt(reasonOfFileError(error) ?? (error as Error).name)}`);
  }
}

async function read(path: string): Promise<string> {
  // Bundlers for places without a disk leave an import alone whose failure is caught.
  const { open, stat } = await import("node:fs/promises").catch(() => {
    throw new SourceError("no file can be read here");
  });
  const where = expandHome(path);
  // Neither a device nor a pipe, which would never end; asked before it is opened.
  if (!(await stat(where)).isFile()) throw new SourceError(`${path}: it is no regular file`);
  const file = await open(where, "r");
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(LIMIT + 1));
    if (bytesRead > LIMIT) throw new SourceError(`${path}: ${TOO_LARGE}`);
    return new TextDecoder().decode(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** The value of an environment variable, where the runtime has any and lets it be read. */
export function readVariable(name: string): string | undefined {
  try {
    return globalThis.process?.env[name];
  } catch {
    return undefined;
  }
}

function expandHome(path: string): string {
  const home = readVariable("HOME") ?? readVariable("USERPROFILE");
  return home && path.startsWith("~/") ? home + path.slice(1) : path;
}
