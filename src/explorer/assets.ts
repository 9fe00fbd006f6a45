/**
 * `GET /assets/…`: the explorer's own files, prepared by the build step and served from memory.
 *
 * @module
 */
import { represent, type Representation } from "../http/representation.ts";
import type { Platform } from "../platform.ts";
import { type Asset, type Manifest, readPrepared } from "./manifest.ts";

/** The folder's name changes with its content, so a file never does (RFC 8246). */
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Finds an asset by its path under `/assets/`; `undefined` where there is none. */
export type Assets = (path: string) => Promise<Representation> | undefined;

/**
 * Serves the files of a manifest: each is read when it is first asked for, and kept.
 *
 * A path is looked up in the manifest and never reaches the disk.
 *
 * @param manifest what the build step made
 * @param platform reads the files
 */
export function createAssets(manifest: Manifest, platform: Platform): Assets {
  const files = new Map(Object.entries(manifest.files));
  const prepared = new Map<string, Promise<Representation>>();
  return (path) => {
    const asset = files.get(path);
    if (!asset) return undefined;
    let representation = prepared.get(path);
    if (!representation) {
      representation = prepare(path, asset, platform);
      representation.catch(() => prepared.delete(path));
      prepared.set(path, representation);
    }
    return representation;
  };
}

async function prepare(path: string, asset: Asset, platform: Platform): Promise<Representation> {
  const { identity, ...encoded } = await readPrepared(platform, path, asset.codings);
  return represent(identity, { type: asset.type, cache: IMMUTABLE, encoded });
}

/**
 * Prepares `GET /favicon.ico`, which browsers ask for beside any answer that names no icon.
 *
 * @param svg the icon
 */
export function prepareFavicon(svg: string): Promise<Representation> {
  return represent(svg, { type: "image/svg+xml", cache: "public, max-age=86400" });
}
