/**
 * Programs: what one prints on its standard output.
 *
 * @module
 */
import { PlatformError, runProgram } from "../../platform.ts";
import { LIMIT, SourceError } from "./source-error.ts";

/**
 * Runs a program to its end; no shell reads its arguments.
 *
 * @param command the program and its arguments
 * @param timeout in milliseconds
 * @throws {SourceError}
 */
export async function runCommand(command: readonly string[], timeout: number): Promise<string> {
  try {
    return await runProgram(command, { limit: LIMIT, timeout });
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new SourceError(error.message);
  }
}
