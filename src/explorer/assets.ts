/**
 * `GET /assets/…`: the explorer's files, which the build packs into modules.
 *
 * @module
 */
import type { Asset } from "../generated/assets.js";
import { type EncodedContent, unpack } from "../http/content-coding.ts";
import { represent, type Representation } from "../http/representation.ts";
import { lazy, type Resource } from "../lazy.ts";

/** The folder's name contains a digest of its files, so a file never changes (RFC 8246). */
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Finds a file by its path below `/assets/`; `undefined` if there is none. */
export type Assets = (path: string) => Promise<Representation> | undefined;

/** All services of a process share the contents. */
const contents = new Map<Asset, Resource<EncodedContent>>();

/** Serves files by their path below `/assets/`. Each is imported at the first request for it. */
export function createAssets(assets: Readonly<Record<string, Asset>>): Assets {
  const files = new Map(
    Object.entries(assets).map(([path, asset]) => [path, lazy(() => prepare(asset))]),
  );
  return (path) => files.get(path)?.get();
}

async function prepare(asset: Asset): Promise<Representation> {
  const { type, importContent } = asset;
  let content = contents.get(asset);
  if (!content) contents.set(asset, content = lazy(async () => unpack(await importContent())));
  const { identity, ...encoded } = await content.get();
  return represent(identity, { type, cache: IMMUTABLE, encoded });
}
