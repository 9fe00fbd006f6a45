/**
 * What the build step says of the explorer's own files, in `dist/assets/manifest.json`.
 *
 * @module
 */
import type { ContentCoding } from "../http/content-coding.ts";
import { lazy, type Resource } from "../lazy.ts";
import type { Platform } from "../platform.ts";

type Bytes = Uint8Array<ArrayBuffer>;

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
  /** The commit it was built from, in short; left out where it is not known. */
  commit?: string;
  /** A hash of all that the files were made from: the build step is skipped where it is equal. */
  inputs: string;
  /** The folder of the files in `static/`, named after their content. */
  explorer: string;
  /** The folder of Scalar's files, named after its version and their content. */
  scalar: string;
  /** The scripts that the page always runs, in the order they are asked for. */
  preload: string[];
  files: Record<string, Asset>;
  /** The codings of both forms of this service's own description, beside the manifest. */
  description: Record<"spec.json" | "spec.yaml", ContentCoding[]>;
}

/**
 * Reads the manifest, once.
 *
 * @throws {Error} where the build step has not run
 */
export async function readManifest(platform: Platform): Promise<Manifest> {
  return await manifestOf(platform).get();
}

const manifests = new Map<Platform, Resource<Manifest>>();

function manifestOf(platform: Platform): Resource<Manifest> {
  let manifest = manifests.get(platform);
  if (!manifest) manifests.set(platform, manifest = lazy(() => read(platform)));
  return manifest;
}

async function read(platform: Platform): Promise<Manifest> {
  try {
    return JSON.parse(new TextDecoder().decode(await platform.read(MANIFEST))) as Manifest;
  } catch (cause) {
    const { code = "it is not JSON" } = cause as { code?: string };
    throw new Error(`${MANIFEST} cannot be read (${code}); "npm run assets" makes it`, { cause });
  }
}

/**
 * Reads a file that the build step prepared, in all its codings.
 *
 * @param platform reads the files
 * @param path the file's path beside the manifest
 * @param codings those the build step kept
 */
export async function readPrepared(
  platform: Platform,
  path: string,
  codings: readonly ContentCoding[],
): Promise<{ identity: Bytes } & Partial<Record<ContentCoding, Bytes>>> {
  const folder = MANIFEST.slice(0, MANIFEST.lastIndexOf("/"));
  const read = async (coding: ContentCoding) =>
    [coding, await platform.read(`${folder}/${fileName(path, coding)}`)] as const;
  return Object.fromEntries(await Promise.all(codings.map(read))) as Record<ContentCoding, Bytes>;
}

/** The name of a prepared file: the encoded forms lie beside the identity. */
export function fileName(path: string, coding: ContentCoding): string {
  return { identity: path, gzip: `${path}.gz`, br: `${path}.br` }[coding];
}
