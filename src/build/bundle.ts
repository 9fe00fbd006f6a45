/**
 * Makes one module of the service for one runtime, with everything it imports; for Bun, one for what
 * is always needed and others for the rest.
 *
 * @module
 */
import { build, type Metafile, type Plugin } from "esbuild";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** What a bundle is for. */
export type Runtime = "node" | "deno" | "bun" | "worker";

/**
 * Bundles the command, or the worker.
 *
 * @param runtime what it is for
 * @param outfile where it is written; for Bun `main.js`, with its parts beside it
 * @param plugins further plugins of esbuild
 * @returns the packages that are inside, each as its folder in the root, as a lock file names it
 */
export async function bundle(
  runtime: Runtime,
  outfile: string,
  plugins: readonly Plugin[] = [],
): Promise<string[]> {
  const isWorker = runtime === "worker";
  const { metafile } = await build({
    entryPoints: [path(isWorker ? "../adapters/worker.ts" : "../main.ts")],
    // What Bun compiles may stay apart, and is then loaded when it is needed.
    ...(runtime === "bun" ? { outdir: dirname(outfile), splitting: true } : { outfile }),
    bundle: true,
    format: "esm",
    platform: isWorker ? "neutral" : "node",
    mainFields: ["module", "main"],
    conditions: [runtime, "import"],
    external: ["node:*"],
    // What it has for Node is CommonJS, whose `require` a module has not.
    alias: { yaml: path("../../node_modules/yaml/browser/index.js") },
    target: "es2023",
    minify: true,
    metafile: true,
    plugins: [...plugins, ...(isWorker ? [] : [onlyAdapter(runtime)])],
    logLevel: "warning",
  });
  return packagesOf(metafile);
}

/** The packages that are inside of a bundle, each as its folder in the root. */
export function packagesOf({ inputs }: Metafile): string[] {
  const packages = Object.keys(inputs).map((input) => PACKAGE.exec(input)?.[0]);
  return [...new Set(packages.filter((name) => name !== undefined))].sort();
}

/** The folder of the package that a file belongs to: one may lie in that of another. */
const PACKAGE = /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/;

/** Leaves the adapters of other runtimes out: what they import would be loaded at the start. */
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
