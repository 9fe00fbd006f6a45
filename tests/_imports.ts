/** Uses esbuild to find the modules that a module imports. */
import { build } from "esbuild";

/**
 * Does not follow `import()`.
 *
 * @returns the names of packages, and the paths of modules relative to the folder, including the
 * module itself
 */
export async function importedBy(folder: string, entry: string): Promise<Set<string>> {
  const { metafile: { inputs } } = await build({
    ...{ absWorkingDir: folder, entryPoints: [entry], outdir: ".", write: false, metafile: true },
    ...{ bundle: true, splitting: true, format: "esm", packages: "external", platform: "node" },
  });
  if (!inputs[entry]) throw new Error(`${entry} was not read`);
  const imported = new Set([entry]);
  // A loop over a set also visits the entries that are added during the loop.
  for (const path of imported) {
    for (const { kind, path: name } of inputs[path]?.imports ?? []) {
      if (kind === "import-statement" && !name.startsWith("node:")) imported.add(name);
    }
  }
  return imported;
}
