/**
 * Files: values that another program leaves there, and secrets.
 *
 * @module
 */
import { PlatformError, readFile } from "../../platform.ts";
import { LIMIT, SourceError } from "./source-error.ts";

/** How long a disk has, in milliseconds. */
const TIMEOUT = 2000;

/**
 * Reads a text file, as far as the limit.
 *
 * @param path absolute, relative to the working directory, or with `~/` for the home directory
 * @param timeout in milliseconds
 * @throws {SourceError}
 */
export async function readTextFile(path: string, timeout: number = TIMEOUT): Promise<string> {
  try {
    return new TextDecoder().decode(await readFile(path, { limit: LIMIT, timeout }));
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new SourceError(`${path}: ${error.message}`);
  }
}
