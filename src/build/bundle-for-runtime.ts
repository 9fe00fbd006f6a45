/**
 * Bundles the service with everything that it imports, for one runtime: `npm run build:worker` for workerd,
 * `dist/worker.js`, and `npm run build:deno` for Deno, `dist/nodeface-deno.js`.
 *
 * @module
 */
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import { dirname } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { packageFolder } from "./packages.ts";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** The yaml to bundle. Its entry for Node is CommonJS and calls `require`, which an ES module does not have. */
const YAML: string = `${packageFolder("yaml")}browser/index.js`;

export const COMMON = {
  bundle: true,
  metafile: true,
  mainFields: ["module", "main"],
  // Deno has no `node_modules` in which esbuild would find them.
  alias: { "yaml": YAML, "fastest-levenshtein": packageFolder("fastest-levenshtein") },
  target: "es2023",
  logLevel: "warning",
} satisfies BuildOptions;

type Runtime = "deno" | "bun" | "worker";

/**
 * Bundles the command, or the worker.
 *
 * @param outfile the path of the module; for Bun, other modules are written to the same folder
 * @returns the folders of the bundled packages, such as `node_modules/yaml`
 */
export async function bundle(runtime: Runtime, outfile: string): Promise<string[]> {
  const isWorker = runtime === "worker";
  // An executable of Bun may have several modules, and loads those of `import()` on demand.
  const isSplit = runtime === "bun";
  const { metafile } = await build({
    ...COMMON,
    entryPoints: [path(isWorker ? "../adapters/worker.ts" : "../main.ts")],
    ...(isSplit ? { outdir: dirname(outfile), splitting: true } : { outfile }),
    format: "esm",
    platform: isWorker ? "neutral" : "node",
    conditions: [runtime, "import"],
    external: ["node:*"],
    minify: true,
    plugins: isWorker ? [] : [onlyAdapter(runtime)],
  });
  return packagesOf(metafile);
}

/** The folders of the packages in a bundle, such as `node_modules/yaml`. */
export function packagesOf({ inputs }: Metafile): string[] {
  const packages = Object.keys(inputs).map((input) => PACKAGE_FOLDER.exec(input)?.[0]);
  return [...new Set(packages.filter((name) => name !== undefined))].sort();
}

const PACKAGE_FOLDER = /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/;

/** Leaves out the adapters of other runtimes, whose imports would be loaded at the start. */
function onlyAdapter(runtime: string): Plugin {
  return {
    name: "only-adapter",
    setup(build) {
      build.onLoad(
        { filter: /[\\/]adapters[\\/](node|deno|bun)\.ts$/ },
        ({ path }) =>
          path.endsWith(`${runtime}.ts`) ? undefined : { contents: "export const serve = null;" },
      );
    },
  };
}

const [, program, runtime] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  const name = runtime === "worker" ? "worker" : "nodeface-deno";
  await bundle(runtime as Runtime, path(`../../dist/${name}.js`));
}
