/**
 * Programs: what one prints on its standard output.
 *
 * @module
 */
import { BOUNDS, readTextAnswer, type SourceAnswer } from "../bound-answer.ts";
import { PlatformError, runProgram } from "../../platform.ts";
import type { RequestLimits } from "./http-request.ts";
import { SourceError } from "./source-error.ts";

/**
 * Runs a program to its end; no shell reads its arguments. What it prints is JSON if it begins as an object or a
 * list does, otherwise text.
 *
 * @param command the program and its arguments
 * @throws {SourceError}
 */
export async function runCommandSource(
  command: readonly string[],
  limits: RequestLimits,
): Promise<SourceAnswer> {
  try {
    return readTextAnswer(await runProgram(command, { limit: BOUNDS.bytes, ...limits }));
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new SourceError("bad_answer", "has a program that fails", {
      hint: `${command[0]}: ${error.message}`,
    });
  }
}
