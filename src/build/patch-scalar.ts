/**
 * Reads Scalar's browser modules, removes their source maps and applies the patches of a table.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { quote } from "../untrusted-text.ts";

interface Patch {
  /** The file's name without its hash. */
  file: string;
  why: string;
  /** The start of the text to be replaced; must occur exactly once. */
  from: string;
  /** The text after the text to be replaced. @default `from` is replaced */
  before?: string;
  with: string;
}

const PATCHES: readonly Patch[] = [
  {
    file: "chunks/workspace-events",
    why:
      "Zod tests for `Function`, which the content policy blocks and the browser reports each time",
    from: "try{return Function(``),!0}catch{return!1}",
    with: "return!1",
  },
  {
    file: "chunks/modal",
    why: "The content policy blocks frames: an answer of HTML is shown as text",
    from: "raw:!0,language:`html`,preview:`object`",
    with: "raw:!0,language:`html`",
  },
  {
    file: "chunks/modal",
    why: "The content policy blocks frames: an answer of PDF can be downloaded",
    from: "{extension:`.pdf`,preview:`object`}",
    with: "{extension:`.pdf`}",
  },
  {
    file: "chunks/workspace-events",
    why: "The page is in English; seven other languages of the client take 26 kB",
    from: ",po={serverVariablesSelect:{selected:`المحدد:`}",
    before: ",bo={serverVariablesSelect:{selected:`Selected:`}",
    with: ",po={},mo={},ho={},go={},_o={},vo={},yo={}",
  },
  {
    file: "chunks/ScalarTextInput.vue",
    why: "The page is in English; seven other languages of the reference take 17 kB",
    from: ",ru:{common:{",
    before: "},defaultLocale:`en`,rtlLocales",
    with: "",
  },
  {
    file: "chunks/workspace-events",
    why: "Logos of frameworks, which only Scalar's own site shows, take 22 kB",
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
    why: "The copy button has a name only while the pointer is over it",
    from: "A({type:`button`},E(n)(`group/copy-button relative",
    with: 'A({type:`button`,"aria-label":t.value?`Copied`:`Copy`},E(n)(`group/copy-button relative',
  },
  {
    file: "chunks/workspace-events",
    why: "A combobox must have `aria-expanded` even when it is collapsed",
    from: '"aria-expanded":he.value?`true`:void 0,"aria-invalid"',
    with: '"aria-expanded":e.withVariables?he.value?`true`:`false`:void 0,"aria-invalid"',
  },
  {
    file: "chunks/ScalarTextInput.vue",
    why: "A button's name must contain its visible text, `Show More`",
    from: "showAllEndpoints:`Show all {name} endpoints`",
    with: "showAllEndpoints:`Show More {name} endpoints`",
  },
  {
    file: "chunks/modal",
    why: "The editor of a body has no accessible name",
    from: 'role:`textbox`,"aria-multiline":`true`}',
    with: 'role:`textbox`,"aria-multiline":`true`,"aria-label":`Body`}',
  },
  {
    file: "chunks/modal",
    why: "A button with a name must not have the role `none`",
    from: "role:r.value?`alert`:`none`",
    with: "role:r.value?`alert`:void 0",
  },
  {
    file: "chunks/modal",
    why: "The copy button's `aria-controls` names an element that does not exist",
    from: '{"aria-controls":w(r),content:c()}',
    with: "{content:c()}",
  },
  {
    file: "chunks/ScalarTooltip.vue",
    why:
      "What is sent does not say by which scheme: `explorer.js` keeps the token of this service here",
    from: "name:`Authorization`,value:r||t,format:`bearer`})}if(e.type===`oauth2`)",
    with: "name:`Authorization`,value:r||t,format:`bearer`,bearerFormat:e.bearerFormat})}" +
      "if(e.type===`oauth2`)",
  },
  {
    file: "standalone.esm.js",
    why: "A long list of operations scrolls, which the keyboard must be able to do as well",
    from: "class:`endpoints`}",
    with: "class:`endpoints`,tabindex:`0`}",
  },
  {
    file: "standalone.esm.js",
    why: "A link to write to has no name where there is little room",
    from: "href:`mailto:${e.value.email}`}",
    with: 'href:`mailto:${e.value.email}`,"aria-label":e.value.name||e.value.email}',
  },
  {
    file: "standalone.esm.js",
    why: "The link to a home page has no name beside an address to write to",
    from: "{class:F(N(n)({link:!0})),href:t.value,",
    with: '{class:F(N(n)({link:!0})),"aria-label":e.value.email?t.value:e.value.name||t.value,' +
      "href:t.value,",
  },
  {
    file: "standalone.esm.js",
    why: "The link to a licence has no name where there is little room",
    from: "target:`_blank`},[G(N(to),",
    with: 'target:`_blank`,"aria-label":e.value?.name||e.value?.identifier||t.value},[G(N(to),',
  },
  {
    file: "standalone.esm.js",
    why: "The link to further documents has no name where there is little room",
    from: "rel:t.value?`noopener noreferrer`:void 0",
    with: '"aria-label":t.value&&(e.value.description||t.value),' +
      "rel:t.value?`noopener noreferrer`:void 0",
  },
  {
    file: "standalone.esm.js",
    why: "The link to the terms has no name where there is little room",
    from: "target:`_blank`},[G(N(vs),",
    with: 'target:`_blank`,"aria-label":N(t)(`info.termsOfService`)},[G(N(vs),',
  },
];

/** The version with which each patch has been seen to be needed, and no setting to do the same. */
const SEEN_WITH = "1.72.1";

const ENTRY = "standalone.esm.js";

const STATIC_IMPORT = /(?:^|[;}\n])(?:import|export)\b(?:[^;'"()]*?from)?\s*["'](\.[^"']+)["']/g;

/**
 * Reads the entry and its chunks, patched.
 *
 * @throws {Error} if a patch does not apply, or Scalar is of another version than they were made for
 */
export async function readScalar(folder: string): Promise<Map<string, Buffer>> {
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  if (version !== SEEN_WITH) {
    throw new Error(
      `src/build/patch-scalar.ts: Scalar is ${version}; see for each patch of ${SEEN_WITH} whether ` +
        "it is still needed, and set SEEN_WITH",
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

/**
 * Lists the entry and all modules that it imports statically.
 *
 * @param files the result of {@linkcode readScalar}
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

function removeSourceMapComment(content: Buffer): Buffer {
  const comment = content.lastIndexOf("\n//# sourceMappingURL=");
  return comment < 0 ? content : content.subarray(0, comment + 1);
}

function apply({ file, from, before, with: replacement }: Patch, files: Map<string, Buffer>) {
  const paths = [...files.keys()].filter((path) => path.startsWith(`${file}-`) || path === file);
  const [path = file] = paths;
  const parts = files.get(path)?.toString().split(from) ?? [];
  const end = before === undefined ? 0 : parts[1]?.indexOf(before) ?? -1;
  if (paths.length !== 1 || parts.length !== 2 || end < 0) {
    throw new Error(
      `src/build/patch-scalar.ts: the patch of ${quote(from)} does not apply to ${path}`,
    );
  }
  files.set(path, Buffer.from(parts[0] + replacement + parts[1]!.slice(end)));
}
