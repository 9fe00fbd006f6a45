/**
 * The last step of `npm run build`: bundles the npm package into few files without dependencies.
 *
 * @module
 */
import { build, type Plugin } from "esbuild";
import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { COMMON, packagesOf } from "./bundle-for-runtime.ts";
import { licenses, shippedPackages } from "./shipped-packages.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DIST = join(ROOT, "dist");

const ENTRIES = [
  "main",
  "index",
  "adapters/node",
  "adapters/deno",
  "adapters/bun",
  "adapters/worker",
];

const OLD_BUILD = /^(?!bench|executables|nodeface-|worker\.js).*\.js(\.map)?$/;

for (const name of await readdir(DIST, { recursive: true })) {
  if (OLD_BUILD.test(name)) await rm(join(DIST, name));
}

const { files } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
const { metafile } = await build({
  ...COMMON,
  entryPoints: [...ENTRIES, "not-in-browsers"].map((entry) => join(ROOT, `src/${entry}.ts`)),
  outbase: join(ROOT, "src"),
  outdir: DIST,
  chunkNames: "parts/[name]-[hash]",
  splitting: true,
  format: "esm",
  platform: "node",
  // Identifiers are not shortened, so that stack traces stay readable.
  minifySyntax: true,
  minifyWhitespace: true,
  plugins: [...COMMON.plugins, withoutUnusedImports()],
  charset: "ascii",
  // The package contains the source files, so the source maps need not embed them.
  sourcemap: "linked",
  sourcesContent: false,
  legalComments: "none",
});
await removeUnreachableTypes();
await removeMapsOfData();
await declareDisposal();
const packages = await shippedPackages(packagesOf(metafile));
await writeFile(join(DIST, "LICENSES.txt"), licenses(packages));
await setModes([...files, "package.json", "README.md", "LICENSE"]);

/**
 * Drops the unused imports of srvx, of which rollup would warn hosts. esbuild drops only whole
 * imports, so each name gets an import of its own.
 */
function withoutUnusedImports(): Plugin {
  return {
    name: "without-unused-imports",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true, sideEffects: false }));
      onLoad({ filter: /[\\/]srvx[\\/]dist[\\/]adapters[\\/]node\.mjs$/ }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        // On one line, so that the lines of the source map stay true.
        const contents = text.replace(
          /^import \{ (.+) \} from ("node:.+");$/gm,
          (_, names: string, from: string) =>
            names.split(", ").map((name) => `import { ${name} } from ${from};`).join(" "),
        );
        return { contents };
      });
    },
  };
}

async function removeUnreachableTypes(): Promise<void> {
  const exported = ENTRIES.filter((entry) => entry !== "main");
  const kept = new Set(exported.map((entry) => join(DIST, `${entry}.d.ts`)));
  // The loop adds files to `kept`, and visits the added files too.
  for (const file of kept) {
    const text = await readFile(file, "utf8");
    for (const [, path] of text.matchAll(/(?:from |import\()"(\.[^"]+)\.[jt]s"/g)) {
      kept.add(join(dirname(file), `${path}.d.ts`));
    }
  }
  for (const name of await readdir(DIST, { recursive: true })) {
    const file = join(DIST, name);
    if (/\.d\.ts(\.map)?$/.test(name) && !kept.has(file.replace(/\.map$/, ""))) await rm(file);
  }
}

/**
 * Declares `Symbol.asyncDispose` for TypeScript before 5.2. JSR rejects source files that contain
 * `declare global`.
 */
async function declareDisposal(): Promise<void> {
  const file = join(DIST, "closeable.d.ts");
  const declaration =
    "declare global { interface SymbolConstructor { readonly asyncDispose: unique symbol } }";
  const text = await readFile(file, "utf8");
  const declared = text.replace(/^\/\/\/ <reference lib=.*$/m, declaration);
  if (declared === text) throw new Error('closeable.d.ts has no "/// <reference lib"');
  await writeFile(file, declared);
}

/** npm packs file modes unchanged, and two builds of one commit must be identical. */
async function setModes(published: readonly string[]): Promise<void> {
  for (const path of published.filter((path) => !path.startsWith("!"))) {
    const isFolder = (await stat(join(ROOT, path))).isDirectory();
    const names = isFolder ? await readdir(join(ROOT, path), { recursive: true }) : [""];
    for (const name of names) {
      const file = join(ROOT, path, name);
      const found = await stat(file);
      if (found.isFile()) await chmod(file, found.mode & 0o100 ? 0o755 : 0o644);
    }
  }
}

/**
 * The package does not contain the sources of generated modules, so their source maps would refer
 * to nothing.
 */
async function removeMapsOfData(): Promise<void> {
  for (const name of await readdir(DIST, { recursive: true })) {
    if (!name.endsWith(".js.map")) continue;
    const map = join(DIST, name);
    const { sources } = JSON.parse(await readFile(map, "utf8")) as { sources: string[] };
    if (!sources.every((source) => source.includes("/src/generated/"))) continue;
    await rm(map);
    const module = map.replace(/\.map$/, "");
    const text = await readFile(module, "utf8");
    await writeFile(module, text.replace(/\/\/# sourceMappingURL=.*\n?$/, ""));
  }
}
