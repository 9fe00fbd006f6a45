/** What a module imports, as esbuild finds it. */
import { build } from "esbuild";

/**
 * What has to be there before a module runs, which what it imports by a call has not.
 *
 * @param folder what paths are relative to
 * @param entry the module's path
 * @returns paths in the folder, the module's own among them, and other packages by their names
 */
export async function importedBy(folder: string, entry: string): Promise<Set<string>> {
  const { metafile: { inputs } } = await build({
    ...{ absWorkingDir: folder, entryPoints: [entry], outdir: ".", write: false, metafile: true },
    ...{ bundle: true, splitting: true, format: "esm", packages: "external", platform: "node" },
  });
  if (!inputs[entry]) throw new Error(`${entry} was not read`);
  const imported = new Set([entry]);
  // A set that grows is gone through to its end.
  for (const path of imported) {
    for (const { kind, path: name } of inputs[path]?.imports ?? []) {
      if (kind === "import-statement" && !name.startsWith("node:")) imported.add(name);
    }
  }
  return imported;
}
