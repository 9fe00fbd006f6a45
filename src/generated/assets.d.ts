/**
 * The files that the explorer page loads, in modules that are imported on demand.
 *
 * @module
 */
import type { PackedContent } from "../http/content-coding.ts";

export interface Asset {
  importContent(): Promise<PackedContent>;
}

/** The files by path below `/assets/`. The path of a file changes with its content. */
export const ASSETS: Readonly<Record<string, Asset>>;
