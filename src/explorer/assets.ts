/**
 * `GET /assets/…`: the explorer's own files, prepared by the build step and served from memory.
 *
 * @module
 */
import type { Asset } from "../generated/assets.js";
import { type EncodedContent, unpack } from "../http/packed-content.ts";
import { represent, type Representation } from "../http/representation.ts";
import { lazy, type Resource } from "../lazy.ts";

/** The folder's name changes with its content, so a file never does (RFC 8246). */
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Finds an asset by its path under `/assets/`; `undefined` where there is none. */
export type Assets = (path: string) => Promise<Representation> | undefined;

/** The contents that have been asked for, one for all services of a process. */
const contents = new Map<Asset, Resource<EncodedContent>>();

/**
 * Serves the files of a table: each is loaded when it is first asked for, and kept.
 *
 * @param assets the files by their path under `/assets/`
 */
export function createAssets(assets: Readonly<Record<string, Asset>>): Assets {
  const files = new Map(
    Object.entries(assets).map(([path, asset]) => [path, lazy(() => prepare(asset))]),
  );
  return (path) => files.get(path)?.get();
}

async function prepare(asset: Asset): Promise<Representation> {
  const { type, load } = asset;
  let content = contents.get(asset);
  if (!content) contents.set(asset, content = lazy(async () => unpack(await load())));
  const { identity, ...encoded } = await content.get();
  return represent(identity, { type, cache: IMMUTABLE, encoded });
}

/**
 * Prepares `GET /favicon.ico`, which browsers ask for beside any answer that names no icon.
 *
 * @param svg the icon
 */
export function prepareFavicon(svg: string): Promise<Representation> {
  return represent(svg, { type: "image/svg+xml", cache: "public, max-age=86400" });
}
