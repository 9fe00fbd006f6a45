/**
 * Files: values that another program leaves there.
 *
 * @module
 */
import { BOUNDS, readTextAnswer, type SourceAnswer } from "../bound-answer.ts";
import { PlatformError, readFile } from "../../platform.ts";
import type { RequestLimits } from "./http-request.ts";
import { SourceError } from "./source-error.ts";

/**
 * Reads a file: JSON if it begins as an object or a list does, otherwise text.
 *
 * @param path absolute, relative to the working directory, or as `expandPath` knows it
 * @throws {SourceError}
 */
export async function readFileSource(path: string, limits: RequestLimits): Promise<SourceAnswer> {
  try {
    const bytes = await readFile(path, { limit: BOUNDS.bytes, ...limits });
    return readTextAnswer(new TextDecoder().decode(bytes));
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new SourceError("bad_answer", "has a file that cannot be read", {
      hint: `${path}: ${error.message}`,
    });
  }
}
