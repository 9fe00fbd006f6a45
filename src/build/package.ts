/**
 * The last part of `npm run build`: bundles the package's modules, so that starting reads few files
 * and installing installs few packages.
 *
 * What the entry points have in common is in one place, and what is loaded when it is needed stays
 * apart. The licences of the packages that are put in stand in `LICENSES.txt`.
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

/** The command, and the modules that `package.json` exports. */
const ENTRIES = [
  "main",
  "index",
  "adapters/node",
  "adapters/deno",
  "adapters/bun",
  "adapters/worker",
];

/**
 * Has each part that is loaded when it is needed import the service itself, which is there by then.
 * Otherwise esbuild writes a file for every set of parts that have something in common: the command
 * then reads nineteen at its start, and takes 12 % longer to its first answer (Node 20.20).
 */
const besideTheService: Plugin = {
  name: "beside-the-service",
  setup({ onResolve, onLoad }) {
    const service = join(ROOT, "src/nodeface.ts");
    const parts = new Set(ENTRIES.map(pathOf));
    onResolve({ filter: /^\..*\.ts$/ }, ({ path, kind, resolveDir }) => {
      if (kind === "dynamic-import") parts.add(join(resolveDir, path));
      return undefined;
    });
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!parts.has(path)) return undefined;
      const text = await readFile(path, "utf8");
      return { contents: `${text}\nimport ${JSON.stringify(service)};`, loader: "ts" };
    });
  },
};

/** The path of an entry point. */
function pathOf(entry: string): string {
  return join(ROOT, `src/${entry}.ts`);
}

/** What an earlier build has left, but for what other steps make. */
const OLD = /^(?!bench|executables|nodeface-|worker\.js).*\.js$/;

for (const name of await readdir(DIST, { recursive: true })) {
  if (OLD.test(name)) await rm(join(DIST, name));
}

const { dependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
const { metafile } = await build({
  entryPoints: ENTRIES.map(pathOf),
  outbase: join(ROOT, "src"),
  outdir: DIST,
  chunkNames: "parts/[name]-[hash]",
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
  plugins: [besideTheService],
  // What package.json says of side effects would take the imports of the plugin out.
  ignoreAnnotations: true,
  // Bun takes such a file as it is: 6 % of the time to its first answer (Bun 1.4.4).
  banner: { js: "// @bun" },
  charset: "ascii",
  metafile: true,
  legalComments: "none",
  logLevel: "warning",
});
await removeOtherTypes();
await writeFile(join(DIST, "LICENSES.txt"), await licenses(packagesOf(metafile)));

/** Removes the types of what nobody can import: those that no exported type leads to. */
async function removeOtherTypes(): Promise<void> {
  const exported = ENTRIES.filter((entry) => entry !== "main");
  const kept = new Set(exported.map((entry) => join(DIST, `${entry}.d.ts`)));
  // A set that grows is gone through to its end.
  for (const file of kept) {
    const text = await readFile(file, "utf8");
    for (const [, path] of text.matchAll(/(?:from |import\()"(\.[^"]+)\.[jt]s"/g)) {
      kept.add(join(dirname(file), `${path}.d.ts`));
    }
  }
  for (const name of await readdir(DIST, { recursive: true })) {
    const file = join(DIST, name);
    if (name.endsWith(".d.ts") && !kept.has(file)) await rm(file);
  }
}
