/**
 * Scalar's browser modules as the page runs them: as they are published, without source maps, and
 * with the few changes of the table below.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";

/** One change to one of Scalar's files, found by text that must be there exactly once. */
interface Patch {
  /** The file's name up to its hash. */
  file: string;
  /** What it is for. */
  why: string;
  /** Where the text to be replaced begins. */
  from: string;
  /** What comes after the text to be replaced, where `from` is not all of it. */
  before?: string;
  with: string;
}

const PATCHES: readonly Patch[] = [
  {
    file: "chunks/workspace-events",
    why:
      "Zod asks whether it may compile, which the content policy refuses with a report each time",
    from: "try{return Function(``),!0}catch{return!1}",
    with: "return!1",
  },
  {
    file: "chunks/modal",
    why: "An answer of HTML would be framed, which the content policy refuses: it is shown as text",
    from: "raw:!0,language:`html`,preview:`object`",
    with: "raw:!0,language:`html`",
  },
  {
    file: "chunks/modal",
    why: "A PDF would be framed, which the content policy refuses: it can be downloaded",
    from: "{extension:`.pdf`,preview:`object`}",
    with: "{extension:`.pdf`}",
  },
  {
    file: "chunks/workspace-events",
    why: "The page is in English; seven other languages of the client are 26 kB",
    from: ",po={serverVariablesSelect:{selected:`المحدد:`}",
    before: ",bo={serverVariablesSelect:{selected:`Selected:`}",
    with: ",po={},mo={},ho={},go={},_o={},vo={},yo={}",
  },
  {
    file: "chunks/ScalarTextInput.vue",
    why: "The page is in English; seven other languages of the reference are 17 kB",
    from: ",ru:{common:{",
    before: "},defaultLocale:`en`,rtlLocales",
    with: "",
  },
  {
    file: "chunks/workspace-events",
    why: "The logos of frameworks that Scalar's own site shows are 22 kB",
    from: ",$S=Y({default:()=>nC,render:()=>tC})",
    before: ',Nw=Object.assign({"../icons/Add.svg"',
    with: "",
  },
  {
    file: "chunks/workspace-events",
    why: "The table of these logos",
    from: 'Pw=Object.assign({"../logos/Adonisjs.svg":$S',
    before: ",Fw=e=>",
    with: "Pw={}",
  },
  {
    file: "chunks/workspace-events",
    why: "A button to copy has its name only while the pointer is over it",
    from: "A({type:`button`},E(n)(`group/copy-button relative",
    with: 'A({type:`button`,"aria-label":t.value?`Copied`:`Copy`},E(n)(`group/copy-button relative',
  },
  {
    file: "chunks/workspace-events",
    why: "A combobox says whether it is expanded, also while it is not",
    from: '"aria-expanded":he.value?`true`:void 0,"aria-invalid"',
    with: '"aria-expanded":e.withVariables?he.value?`true`:`false`:void 0,"aria-invalid"',
  },
  {
    file: "chunks/ScalarTextInput.vue",
    why: "A button's name has in it what is written on it, `Show More`",
    from: "showAllEndpoints:`Show all {name} endpoints`",
    with: "showAllEndpoints:`Show More {name} endpoints`",
  },
  {
    file: "chunks/modal",
    why: "The editor of a request's or an answer's body has no name",
    from: 'role:`textbox`,"aria-multiline":`true`}',
    with: 'role:`textbox`,"aria-multiline":`true`,"aria-label":`Body`}',
  },
  {
    file: "chunks/modal",
    why: "A button with a name is a button",
    from: "role:r.value?`alert`:`none`",
    with: "role:r.value?`alert`:void 0",
  },
  {
    file: "chunks/modal",
    why: "A button to copy names as controlled what is not in the page",
    from: '{"aria-controls":w(r),content:c()}',
    with: "{content:c()}",
  },
];

/** The module that the page imports. */
const ENTRY = "standalone.esm.js";

/** A static import or re-export of another of the modules, in minified code. */
const STATIC_IMPORT = /(?:^|[;}\n])(?:import|export)\b(?:[^;'"()]*?from)?\s*["'](\.[^"']+)["']/g;

/**
 * Reads Scalar's ES modules: the entry and what it loads when it is needed.
 *
 * @param folder the folder of the package
 * @returns contents by path
 * @throws {Error} where a change no longer applies, as after an update of Scalar
 */
export async function readScalar(folder: string): Promise<Map<string, Buffer>> {
  const browser = join(folder, "dist/browser");
  const chunks = (await readdir(join(browser, "chunks"))).filter((name) => name.endsWith(".js"));
  const paths = [ENTRY, ...chunks.sort().map((name) => `chunks/${name}`)];
  const files = new Map<string, Buffer>();
  for (const path of paths) {
    files.set(path, withoutSourceMap(await readFile(join(browser, path))));
  }
  for (const patch of PATCHES) apply(patch, files);
  return files;
}

/**
 * The modules without which the entry does not start: itself and all that it imports statically.
 *
 * @param files contents by path, as {@linkcode readScalar} gives them
 */
export function staticImports(files: ReadonlyMap<string, Buffer>): string[] {
  const found = new Set([ENTRY]);
  for (const path of found) {
    const text = files.get(path)!.toString();
    for (const [, reference] of text.matchAll(STATIC_IMPORT)) {
      const imported = posix.join(posix.dirname(path), reference!);
      if (!files.has(imported)) throw new Error(`${path} imports ${imported}, which is not there`);
      found.add(imported);
    }
  }
  return [...found];
}

/** Takes the reference to a source map off, which would be a 404 in a browser's tools. */
function withoutSourceMap(content: Buffer): Buffer {
  const comment = content.lastIndexOf("\n//# sourceMappingURL=");
  return comment < 0 ? content : content.subarray(0, comment + 1);
}

function apply({ file, from, before, with: replacement }: Patch, files: Map<string, Buffer>) {
  const paths = [...files.keys()].filter((path) => path.startsWith(`${file}-`) || path === file);
  const [path = file] = paths;
  const parts = files.get(path)?.toString().split(from) ?? [];
  const end = before === undefined ? 0 : parts[1]?.indexOf(before) ?? -1;
  if (paths.length !== 1 || parts.length !== 2 || end < 0) {
    throw new Error(`src/build/patch-scalar.ts: the change of ${quote(from)} does not fit ${path}`);
  }
  files.set(path, Buffer.from(parts[0] + replacement + parts[1]!.slice(end)));
}

const quote = (text: string) => JSON.stringify(text);
