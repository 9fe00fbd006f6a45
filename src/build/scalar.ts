/**
 * Reads Scalar's browser modules as they are, but for one patch and the comments that refer to
 * source maps.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";

const ENTRY = "standalone.esm.js";
const STATIC_IMPORT = /(?:^|[;}\n])(?:import|export)\b(?:[^;'"()]*?from)?\s*["'](\.[^"']+)["']/g;

/** Where Scalar puts a text into a sample for a shell. */
const QUOTED = "replace(/'/g,`'\\\\''`)";
/** Without this patch, a shell would send the name of the variable instead of the token. */
const EXPANDED = QUOTED + ".replaceAll(`$NODEFACE_TOKEN`,`'\"$NODEFACE_TOKEN\"'`)";

export async function readScalar(folder: string): Promise<Map<string, Buffer>> {
  const browser = join(folder, "dist/browser");
  const chunks = (await readdir(join(browser, "chunks"))).filter((name) => name.endsWith(".js"));
  const paths = [ENTRY, ...chunks.sort().map((name) => `chunks/${name}`)];
  const files = new Map<string, Buffer>();
  for (const path of paths) {
    files.set(path, removeSourceMapComment(await readFile(join(browser, path))));
  }
  const quoting = [...files].filter(([, content]) => content.includes(QUOTED));
  if (quoting.length !== 1) throw new Error("Scalar's samples for a shell cannot be patched");
  const [path, content] = quoting[0]!;
  files.set(path, Buffer.from(content.toString().replace(QUOTED, () => EXPANDED)));
  return files;
}

export function staticImports(files: ReadonlyMap<string, Buffer>): string[] {
  const found = new Set([ENTRY]);
  for (const path of found) {
    const text = files.get(path)!.toString();
    for (const [, reference] of text.matchAll(STATIC_IMPORT)) {
      const imported = posix.join(posix.dirname(path), reference!);
      if (!files.has(imported)) throw new Error(`${path} imports ${imported}, which is missing`);
      found.add(imported);
    }
  }
  return [...found];
}

function removeSourceMapComment(content: Buffer): Buffer {
  const comment = content.lastIndexOf("\n//# sourceMappingURL=");
  return comment < 0 ? content : content.subarray(0, comment + 1);
}
