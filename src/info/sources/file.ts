/**
 * Files: values that another program leaves there, and secrets.
 *
 * @module
 */
import { excerpt, LIMIT, SourceError, TOO_LARGE } from "./source-error.ts";

/** What a failure to read means, by its code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "this user may not read it",
  EISDIR: "it is a folder",
};

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
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new SourceError(`${path}: it takes longer than ${timeout} ms`);
    timer = setTimeout(() => reject(error), timeout);
  });
  try {
    return await Promise.race([read(path), late]);
  } catch (error) {
    if (error instanceof SourceError) throw error;
    const { code, name } = error as { code?: string; name: string };
    throw new SourceError(`${path}: ${REASONS[code ?? ""] ?? excerpt(code ?? name)}`);
  } finally {
    clearTimeout(timer);
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
