/**
 * What the build step says of the explorer's own files, in `dist/assets/manifest.json`.
 *
 * @module
 */
import type { ContentCoding } from "../http/representation.ts";
import type { Platform } from "../platform.ts";

/** Where the manifest is, from the package's root; the files are beside it. */
export const MANIFEST = "dist/assets/manifest.json";

/** One of the explorer's files. */
export interface Asset {
  /** The media type, with its parameters. */
  type: string;
  /** The codings the build step kept; a coding that made a file longer is not among them. */
  codings: ContentCoding[];
}

/** The explorer's files, by their path under `/assets/`. */
export interface Manifest {
  /** The version of this package. */
  version: string;
  /** A hash of all that the files were made from: the build step is skipped where it is equal. */
  inputs: string;
  /** The folder of the files in `static/`, named after their content. */
  explorer: string;
  /** The folder of Scalar's files, named after its version and their content. */
  scalar: string;
  /** The scripts that the page always runs, in the order they are asked for. */
  preload: string[];
  files: Record<string, Asset>;
}

/**
 * Reads the manifest.
 *
 * @throws {Error} where the build step has not run
 */
export async function readManifest(platform: Platform): Promise<Manifest> {
  try {
    return JSON.parse(new TextDecoder().decode(await platform.read(MANIFEST))) as Manifest;
  } catch (cause) {
    const { code = "it is not JSON" } = cause as { code?: string };
    throw new Error(`${MANIFEST} cannot be read (${code}); "npm run assets" makes it`, { cause });
  }
}

/** The name of a prepared file: the encoded forms lie beside the identity. */
export function fileName(path: string, coding: ContentCoding): string {
  return { identity: path, gzip: `${path}.gz`, br: `${path}.br` }[coding];
}
