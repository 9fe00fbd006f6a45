/**
 * Reads Scalar's browser modules, patches them, and removes their references to source maps.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { quote } from "../untrusted-text.ts";

interface Patch {
  /** The file name without its hash. */
  file: string;
  why: string;
  /** The text to be replaced, which must occur exactly once. */
  from: string;
  with: string;
}

const PATCHES: readonly Patch[] = [
  {
    file: "chunks/workspace-events",
    why:
      "Zod tests whether `Function` works, but the browser blocks this and reports a policy violation",
    from: "try{return Function(``),!0}catch{return!1}",
    with: "return!1",
  },
  {
    file: "chunks/modal",
    why: "The content policy blocks frames, so an HTML response is shown as text",
    from: "raw:!0,language:`html`,preview:`object`",
    with: "raw:!0,language:`html`",
  },
  {
    file: "chunks/modal",
    why: "The content policy blocks frames, so a PDF response is only offered for download",
    from: "{extension:`.pdf`,preview:`object`}",
    with: "{extension:`.pdf`}",
  },
  {
    file: "chunks/ScalarTooltip.vue",
    why: "Scalar drops `bearerFormat`, which `reference.ts` needs to recognize the service's token",
    from: "name:`Authorization`,value:r||t,format:`bearer`})}if(e.type===`oauth2`)",
    with: "name:`Authorization`,value:r||t,format:`bearer`,bearerFormat:e.bearerFormat})}" +
      "if(e.type===`oauth2`)",
  },
];

/** The version of Scalar for which the patches were made. No setting of Scalar can replace a patch. */
const SEEN_WITH = "1.72.1";
const ENTRY = "standalone.esm.js";
const STATIC_IMPORT = /(?:^|[;}\n])(?:import|export)\b(?:[^;'"()]*?from)?\s*["'](\.[^"']+)["']/g;

export async function readScalar(folder: string): Promise<Map<string, Buffer>> {
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  if (version !== SEEN_WITH) {
    throw new Error(
      `src/build/patch-scalar.ts: Scalar is ${version}, but the patches are for ${SEEN_WITH}; ` +
        "check for each patch whether it is still needed, then set SEEN_WITH",
    );
  }
  const browser = join(folder, "dist/browser");
  const chunks = (await readdir(join(browser, "chunks"))).filter((name) => name.endsWith(".js"));
  const paths = [ENTRY, ...chunks.sort().map((name) => `chunks/${name}`)];
  const files = new Map<string, Buffer>();
  for (const path of paths) {
    files.set(path, removeSourceMapComment(await readFile(join(browser, path))));
  }
  for (const patch of PATCHES) apply(patch, files);
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

function apply({ file, from, with: replacement }: Patch, files: Map<string, Buffer>): void {
  const paths = [...files.keys()].filter((path) => path.startsWith(`${file}-`));
  const [path = file] = paths;
  const parts = files.get(path)?.toString().split(from) ?? [];
  if (paths.length !== 1 || parts.length !== 2) {
    throw new Error(
      `src/build/patch-scalar.ts: the patch of ${quote(from)} does not apply to ${path}`,
    );
  }
  files.set(path, Buffer.from(parts.join(replacement)));
}
