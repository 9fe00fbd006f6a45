/**
 * Puts the files this package carries inside a bundle or an executable: a plugin for esbuild that
 * replaces `platform.ts` by a module that reads them from there.
 *
 * @module
 */
import type { Plugin } from "esbuild";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fileName, MANIFEST, type Manifest } from "../explorer/manifest.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Where a bundle has its files: in its own text, or in the executable that it is put into. */
export type Carrier = "text" | "bun" | "sea";

/** The function `read` of `platform.ts`, as each carrier has it. */
const READ: Readonly<Record<Carrier, () => Promise<string>>> = {
  text: async () => readFromText(await readEmbedded()),
  bun: async () =>
    await `async function read(path) {
      return await Bun.file(import.meta.dir + "/" + path).bytes();
    }`,
  sea: async () =>
    await `import { getAsset } from "node:sea";
    async function read(path) {
      return new Uint8Array(getAsset(path));
    }`,
};

/**
 * Replaces `platform.ts` by a module that reads what the bundle carries. The build step must have
 * run.
 *
 * @param carrier where the files are
 * @param hasDisk whether the runtime has all that `platform.ts` uses
 */
export function embedFiles(carrier: Carrier, hasDisk: boolean): Plugin {
  return {
    name: "embed-files",
    setup(build) {
      build.onResolve(
        { filter: /\/platform\.ts$/ },
        ({ namespace }) =>
          namespace === "file" ? { path: "platform.ts", namespace: "embedded" } : undefined,
      );
      build.onLoad({ filter: /./, namespace: "embedded" }, async () => ({
        loader: "js",
        resolveDir: join(ROOT, "src"),
        contents: `
          ${hasDisk ? 'import { platform as own } from "./platform.ts";' : ""}
          ${await READ[carrier]()}
          export const platform = ${hasDisk ? "{ ...own, read }" : "{ read }"};
        `,
      }));
    },
  };
}

/** The paths, from the package's root, of the files that the service reads. */
export async function embeddedPaths(): Promise<string[]> {
  const manifest = JSON.parse(await readFile(join(ROOT, MANIFEST), "utf8")) as Manifest;
  const prepared = [
    ...Object.entries(manifest.files).map(([path, { codings }]) => [path, codings] as const),
    ...Object.entries(manifest.description),
  ];
  return [
    MANIFEST,
    "static/explorer.html",
    "static/favicon.svg",
    ...prepared.flatMap(([path, codings]) =>
      codings.map((coding) => `${dirname(MANIFEST)}/${fileName(path, coding)}`)
    ),
  ];
}

/**
 * Reads what a bundle carries, as base64 by path. Of a file that is there in gzip the identity is
 * left out: it is unpacked when it is asked for.
 */
async function readEmbedded(): Promise<Record<string, string>> {
  const paths = await embeddedPaths();
  const kept = paths.filter((path) => !paths.includes(`${path}.gz`));
  const read = async (path: string) => [path, await readFile(join(ROOT, path), "base64")];
  return Object.fromEntries(await Promise.all(kept.map(read)));
}

function readFromText(files: Record<string, string>): string {
  return `
const files = new Map(Object.entries(${JSON.stringify(files)}));

const decode = (base64) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

const unpack = async (bytes) =>
  new Uint8Array(
    await new Response(
      new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")),
    ).arrayBuffer(),
  );

async function read(path) {
  const file = files.get(path);
  if (file !== undefined) return decode(file);
  const packed = files.get(path + ".gz");
  if (packed !== undefined) return await unpack(decode(packed));
  throw new Error("This bundle carries no file " + path);
}
`;
}
