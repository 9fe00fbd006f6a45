/** What a part of the benchmark is. */
import type { Options } from "../cli/options.ts";
import type { Progress } from "../cli/progress.ts";

/** A part: what it will do, and its doing so. */
export interface Part<Result> {
  /** How many steps it takes, and about how many seconds together. */
  plan(options: Options): { steps: number; seconds: number };
  /** @throws {Error} where what it would measure cannot be compared */
  measure(options: Options, progress: Progress): Promise<Result>;
}
