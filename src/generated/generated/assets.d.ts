/**
 * The files that the explorer page loads. The content of each is a module of its own.
 *
 * @module
 */
import type { PackedContent } from "../http/build-time-content.ts";

/** One of the files. */
export interface Asset {
  /** The media type, with its parameters. */
  readonly type: string;
  /** Imports the module of the content. */
  importContent(): Promise<PackedContent>;
}

/** The files by their path below `/assets/`, which changes with their content. */
export const ASSETS: Readonly<Record<string, Asset>>;
