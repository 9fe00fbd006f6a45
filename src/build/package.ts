/**
 * The last step of `npm run build`: bundles the modules of the npm package, so that starting reads few
 * files and installing needs few packages. The entry points share modules; what is imported on demand
 * stays separate. `LICENSES.txt` has the licences of the bundled packages.
 *
 * @module
 */
import { build, type Plugin } from "esbuild";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { licenses } from "./licenses.ts";
import { packagesOf, YAML } from "./bundle.ts";

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

/** What stands in for the library in a browser. It imports nothing. */
const IN_BROWSERS = "browser";

/**
 * What most parts import: the service, rules for settings, names of sources, what JSON keeps, what adapters
 * share, and what the command complains with.
 */
const SHARED = [
  "nodeface",
  "settings/flags",
  "info/query-plan",
  "json/to-json",
  "adapters/answer-record",
  "adapters/timeouts",
  "adapters/serve-options",
  "cli/configuration-error",
];

/**
 * Makes each entry and each module that is imported on demand import what is shared as well. Otherwise
 * esbuild writes a file for every set of modules that share code: the command then reads nineteen files
 * and takes 12 % longer to the first answer (esbuild 0.28, Node 20.20).
 */
const besideWhatIsShared: Plugin = {
  name: "beside-what-is-shared",
  async setup({ onLoad }) {
    const imports = SHARED.map((name) => `import ${JSON.stringify(pathOf(name))};`).join("\n");
    const parts = new Set([...ENTRIES.map(pathOf), ...await findImportsOnDemand()]);
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!parts.has(path)) return undefined;
      const text = await readFile(path, "utf8");
      return { contents: `${text}\n${imports}`, loader: "ts" };
    });
  },
};

function pathOf(entry: string): string {
  return join(ROOT, `src/${entry}.ts`);
}

/** esbuild reports these too, but perhaps after it has loaded the module for a static import. */
async function findImportsOnDemand(): Promise<string[]> {
  const src = join(ROOT, "src");
  const names = await readdir(src, { recursive: true });
  const paths = names.filter((name) => name.endsWith(".ts")).map((name) => join(src, name));
  const imports = paths.map(async (path) =>
    [...(await readFile(path, "utf8")).matchAll(/\bimport\("(\.[^"]+\.ts)"\)/g)]
      .map(([, reference]) => join(dirname(path), reference!))
  );
  return (await Promise.all(imports)).flat();
}

const OLD_BUILD = /^(?!bench|executables|nodeface-|worker\.js).*\.js(\.map)?$/;

for (const name of await readdir(DIST, { recursive: true })) {
  if (OLD_BUILD.test(name)) await rm(join(DIST, name));
}

const { dependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
const { metafile } = await build({
  entryPoints: [...ENTRIES, IN_BROWSERS].map(pathOf),
  outbase: join(ROOT, "src"),
  outdir: DIST,
  chunkNames: "parts/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  mainFields: ["module", "main"],
  // The one for Node imports `node:crypto`, which workerd does not have.
  alias: {
    "@noble/hashes/crypto": join(ROOT, "node_modules/@noble/hashes/esm/crypto.js"),
    // A bundle of a host as an ES module would stop at its `require`.
    yaml: YAML,
  },
  target: "es2023",
  // Identifiers keep their names, for stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  external: Object.keys(dependencies).flatMap((name) => [name, `${name}/*`]),
  plugins: [besideWhatIsShared],
  // `sideEffects` in package.json would remove the imports that the plugin adds.
  ignoreAnnotations: true,
  // Bun does not transpile such a file, which saves 6 % to the first answer (Bun 1.4.4).
  banner: { js: "// @bun" },
  charset: "ascii",
  // The package has the sources themselves, for declaration maps as well.
  sourcemap: "linked",
  sourcesContent: false,
  metafile: true,
  legalComments: "none",
  logLevel: "warning",
});
await removeUnreachableTypes();
await removeMapsOfData();
await writeFile(join(DIST, "LICENSES.txt"), await licenses(packagesOf(metafile)));

async function removeUnreachableTypes(): Promise<void> {
  const exported = ENTRIES.filter((entry) => entry !== "main");
  const kept = new Set(exported.map((entry) => join(DIST, `${entry}.d.ts`)));
  // The loop also visits what it adds.
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

/** What is served lies in modules that have no source worth looking at. */
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
