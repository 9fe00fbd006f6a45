/**
 * Keeps together what most modules of a bundle import, so that a start reads few of them.
 *
 * @module
 */
import type { Plugin } from "esbuild";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const SRC = fileURLToPath(new URL("..", import.meta.url));

/**
 * What most parts import: the service, the settings, names of sources, what JSON keeps, and what adapters share.
 */
const SHARED = [
  "app",
  "options-schema",
  "info/query-plan",
  "json/copy-as-json",
  "adapters/shared",
];

/**
 * Makes each entry and each module that is imported on demand import what is shared as well. Otherwise
 * esbuild writes a file for every set of modules that share code. The command then reads nineteen files,
 * which takes 12 % longer to the first answer (esbuild 0.28, Node 20.20), and 5 % in an executable (Bun 1.4).
 *
 * `sideEffects` in package.json would remove these imports: the build has to set `ignoreAnnotations`.
 *
 * @param entries the entries of the bundle, such as `adapters/node`
 */
export function besideWhatIsShared(entries: readonly string[]): Plugin {
  return {
    name: "shared-chunk",
    async setup({ onLoad }) {
      const imports = SHARED.map((name) => `import ${JSON.stringify(pathOf(name))};`).join("\n");
      const parts = new Set([...entries.map(pathOf), ...await findImportsOnDemand()]);
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!parts.has(path)) return undefined;
        const text = await readFile(path, "utf8");
        return { contents: `${text}\n${imports}`, loader: "ts" };
      });
    },
  };
}

function pathOf(entry: string): string {
  return join(SRC, `${entry}.ts`);
}

/** esbuild reports these too, but perhaps after it has loaded the module for a static import. */
async function findImportsOnDemand(): Promise<string[]> {
  const names = await readdir(SRC, { recursive: true });
  const paths = names.filter((name) => name.endsWith(".ts")).map((name) => join(SRC, name));
  const imports = paths.map(async (path) =>
    [...(await readFile(path, "utf8")).matchAll(/\bimport\("(\.[^"]+\.ts)"\)/g)]
      .map(([, reference]) => join(dirname(path), reference!))
  );
  return (await Promise.all(imports)).flat();
}
