/**
 * The last part of `npm run build`: bundles the package's modules, so that starting reads few files
 * and installing installs few packages.
 *
 * Parts that are loaded when they are needed stay apart. They lie beside the entry points, from where
 * `platform.ts` finds the package's files. What is put in brings its licence along.
 *
 * @module
 */
import { build, type Plugin } from "esbuild";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { licenses } from "./licenses.ts";
import { packagesOf } from "./bundle.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DIST = join(ROOT, "dist");

/** The modules that `package.json` exports, and the command. */
const ENTRIES = ["main", "index", "adapters/node", "adapters/deno", "adapters/bun"];

/** What the names of the other modules begin with. */
const PART = "part-";

/** The command loads the adapter it needs, and no part with it that it has itself. */
const apart: Plugin = {
  name: "apart",
  setup(build) {
    build.onResolve(
      { filter: /\/adapters\/\w+\.ts$/ },
      ({ path, kind }) =>
        kind === "dynamic-import" ? { path: path.replace(/ts$/, "js"), external: true } : undefined,
    );
  },
};

/**
 * Has each part import what its entry point does. By then that has been loaded, and esbuild makes one
 * file of it, in place of one for every set of parts that have something of it in common.
 */
function together(imported: readonly string[]): Plugin {
  const imports = imported.map((path) => `import ${JSON.stringify(path)};`).join("\n");
  const parts = new Set<string>();
  return {
    name: "together",
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) => {
        if (kind === "dynamic-import") parts.add(join(resolveDir, path));
        return undefined;
      });
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!parts.has(path)) return undefined;
        return { contents: `${await readFile(path, "utf8")}\n${imports}`, loader: "ts" };
      });
    },
  };
}

/** The modules of this package that one imports for more than their types. */
async function importsOf(module: string): Promise<string[]> {
  const text = await readFile(module, "utf8");
  const found = text.matchAll(/^(?:import|export) (?!type )[^;"]*from "(\.[^"]+)"/gm);
  return [...found].map(([, path]) => join(dirname(module), path!));
}

/** What an earlier build has left, but for what other steps make. */
const OLD = /^(?!assets|bench|executables|nodeface|worker\.js).*\.js$/;

for (const name of await readdir(DIST, { recursive: true })) {
  if (OLD.test(name)) await rm(join(DIST, name));
}

const { dependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
const inside = new Set<string>();
for (const entry of ENTRIES) {
  const module = join(ROOT, `src/${entry}.ts`);
  const { metafile } = await build({
    entryPoints: [module],
    outbase: join(ROOT, "src"),
    outdir: DIST,
    chunkNames: `${PART}[name]-[hash]`,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    mainFields: ["module", "main"],
    target: "es2023",
    // Whoever reads it finds the names that a stack trace has.
    minifySyntax: true,
    minifyWhitespace: true,
    external: Object.keys(dependencies).flatMap((name) => [name, `${name}/*`]),
    plugins: [apart, together(await importsOf(module))],
    // Tells Bun that there is nothing left to translate; it then reads a file byte by character.
    charset: "ascii",
    banner: { js: "// @bun" },
    metafile: true,
    legalComments: "none",
    logLevel: "warning",
  });
  for (const name of packagesOf(metafile)) inside.add(name);
}
await writeFile(join(DIST, "LICENSES.txt"), await licenses([...inside].sort()));
