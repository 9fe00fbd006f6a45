/**
 * Puts the files this package carries inside a bundle, for places without a disk: a plugin for
 * esbuild that replaces `platform.ts` by a module that has them in memory.
 *
 * @module
 */
import type { Plugin } from "esbuild";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fileName, MANIFEST, type Manifest } from "../explorer/manifest.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Replaces `platform.ts` by one that reads from the bundle. The build step must have run. */
export const embedFiles: Plugin = {
  name: "embed-files",
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]platform\.ts$/ }, async () => ({
      loader: "js",
      contents: embeddedPlatform(await readEmbedded()),
    }));
  },
};

/**
 * Reads what a bundle carries, as base64 by path. Of a file that is there in gzip the identity is
 * left out: it is unpacked when it is asked for.
 */
async function readEmbedded(): Promise<Record<string, string>> {
  const read = async (path: string, encoding: BufferEncoding) =>
    await readFile(join(ROOT, path), encoding);
  const manifest = JSON.parse(await read(MANIFEST, "utf8")) as Manifest;
  const paths = [MANIFEST, "spec/openapi.yaml", "static/explorer.html", "static/favicon.svg"];
  for (const [path, { codings }] of Object.entries(manifest.files)) {
    const kept = codings.filter((coding) => coding !== "identity" || !codings.includes("gzip"));
    for (const coding of kept) paths.push(`${dirname(MANIFEST)}/${fileName(path, coding)}`);
  }
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await read(path, "base64")])),
  );
}

function embeddedPlatform(files: Record<string, string>): string {
  return `
const files = new Map(Object.entries(${JSON.stringify(files)}));

const decode = (base64) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

const unpack = async (bytes) =>
  new Uint8Array(
    await new Response(
      new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")),
    ).arrayBuffer(),
  );

export const platform = {
  async read(path) {
    const file = files.get(path);
    if (file !== undefined) return decode(file);
    const packed = files.get(path + ".gz");
    if (packed !== undefined) return await unpack(decode(packed));
    throw new Error("This bundle carries no file " + path);
  },
};
`;
}
