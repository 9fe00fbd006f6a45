/**
 * `npm run build:worker` and `npm run build:deno`: bundles the service for one runtime, and lists
 * the packages of a bundle.
 *
 * @module
 */
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import { existsSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Returns the path of a package's folder, with a trailing slash. */
export function packageFolder(name: string): string {
  for (let folder = new URL(".", import.meta.resolve(name));; folder = new URL("..", folder)) {
    const file = new URL("package.json", folder);
    if (existsSync(file) && JSON.parse(readFileSync(file, "utf8")).name === name) {
      return fileURLToPath(folder);
    }
  }
}

/** The build of `yaml` for Node calls `require`, which does not exist in ES modules. */
const YAML: string = `${packageFolder("yaml")}browser/index.js`;

/**
 * Packages that are CommonJS ask for modules of the runtime by `require`, which does not exist in
 * ES modules.
 */
const BUILTINS: Plugin = {
  name: "builtins",
  setup({ onResolve, onLoad }) {
    onResolve(
      { filter: /^(?:node:)?[a-z]+$/ },
      ({ path, kind }) =>
        kind === "require-call" && isBuiltin(path) ? { path, namespace: "builtin" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

export const COMMON = {
  bundle: true,
  plugins: [BUILTINS],
  // Without these, `ws` would look for packages that it can use, even where none may be read.
  define: {
    "process.env.WS_NO_BUFFER_UTIL": '"1"',
    "process.env.WS_NO_UTF_8_VALIDATE": '"1"',
  },
  metafile: true,
  mainFields: ["module", "main"],
  // Under Deno, there is no `node_modules`, so esbuild cannot find these packages itself.
  alias: { "yaml": YAML, "fastest-levenshtein": packageFolder("fastest-levenshtein") },
  target: "es2023",
  logLevel: "warning",
} satisfies BuildOptions;

type Runtime = "deno" | "bun" | "worker";

/**
 * For Bun, also writes modules beside `outfile`.
 *
 * @returns the folders of the bundled packages
 */
export async function bundle(runtime: Runtime, outfile: string): Promise<string[]> {
  const isWorker = runtime === "worker";
  const isSplit = runtime === "bun";
  const { metafile } = await build({
    ...COMMON,
    entryPoints: [join(ROOT, isWorker ? "src/adapters/worker.ts" : "src/main.ts")],
    ...(isSplit ? { outdir: dirname(outfile), splitting: true } : { outfile }),
    format: "esm",
    platform: isWorker ? "neutral" : "node",
    conditions: [runtime, "import"],
    external: ["node:*"],
    minify: true,
    plugins: isWorker ? [] : [BUILTINS, onlyAdapter(runtime)],
  });
  return packagesOf(metafile);
}

export function packagesOf({ inputs }: Metafile): string[] {
  const packages = Object.keys(inputs).map((input) => PACKAGE_FOLDER.exec(input)?.[0]);
  return [...new Set(packages.filter((name) => name !== undefined))].sort();
}

const PACKAGE_FOLDER = /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/;

/**
 * Replaces the adapters for other runtimes with stubs, so that startup does not load their imports.
 */
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
  await bundle(runtime as Runtime, join(ROOT, `dist/${name}.js`));
}
