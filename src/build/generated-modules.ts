/**
 * Writes the modules in `src/generated/`, so that the service reads no files. The modules contain
 * the page, the files of the explorer and Scalar in every content coding, the service's own
 * description, and the validated kinds of node.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { build, transform } from "esbuild";
import { parse } from "yaml";
import type { FILES } from "../generated/page.js";
import { type PackedContent, PACKET_SIZE } from "../http/content-coding.ts";
import { formatJson } from "../json/lossless.ts";
import type { JsonObject } from "../json/values.ts";
import type { Kind } from "../kinds/kind.ts";
import { writeJson } from "../openapi/write.ts";
import { packageFolder } from "./bundle-for-runtime.ts";
import { readScalar, staticImports } from "./scalar.ts";
import { stampOf, writeStamp } from "./stamp.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TARGET = join(ROOT, "src/generated");
const KINDS = "spec/kinds";
const SCALAR = packageFolder("@scalar/api-reference");

const DOCUMENTS = ["reference", "simple"] as const;

/**
 * In bytes. Each file of at least this size gets its own module. The smaller files of a folder
 * share a module.
 */
const OWN_MODULE_SIZE = 8192;
type Files = Map<string, Buffer>;
type Modules = Map<string, string>;

await main();

async function main() {
  if (process.stderr.isTTY) console.error("Preparing the explorer takes some seconds");
  const stamp = stampOf();
  const kinds = await readKindFiles();
  // The names of the kinds must be written first, since `checkedKinds` imports them.
  await writeModules(new Map([["kind-names.js", kindNamesModule(kinds)]]));
  const { version } = await packageJson(ROOT);
  const explorer = await bundleScripts();
  const scalar = await readScalar(SCALAR);
  const folders = {
    explorer: `explorer-${digest(explorer)}`,
    scalar: `scalar-${(await packageJson(SCALAR)).version}-${digest(scalar)}`,
  };
  await writeModules(
    new Map([
      ...await contentModules(folders.explorer, explorer),
      ...await contentModules(folders.scalar, scalar),
      ["assets.js", tableModule([[folders.explorer, explorer], [folders.scalar, scalar]])],
      ...await checkedKinds(kinds),
      ["description.js", await descriptionModule()],
      ["page.js", await pageModule(folders, staticImports(scalar))],
      ["build-info.js", moduleText({ VERSION: version, COMMIT: shortCommit() })],
    ]),
  );
  for (const name of await readdir(join(TARGET, "assets"))) {
    if (!Object.values(folders).includes(name)) {
      await rm(join(TARGET, "assets", name), { recursive: true, force: true });
    }
  }
  writeStamp(stamp);
}

/**
 * Bundles one script per document, without shared chunks: no page loads code that it does not need.
 */
async function bundleScripts(): Promise<Files> {
  const { outputFiles } = await build({
    entryPoints: DOCUMENTS.map((name) => join(ROOT, `static/${name}.ts`)),
    absWorkingDir: ROOT,
    outdir: "out",
    // The page and the service share modules that import `node:` modules, but the page never uses
    // the imports.
    external: ["node:*"],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
    charset: "utf8",
  });
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]));
}

/**
 * Compresses files into modules. If the same files were compressed by an earlier run, keeps the
 * modules of that run, since compressing Scalar takes ten seconds.
 */
async function contentModules(folder: string, files: Files): Promise<Modules> {
  const paths = [...files].map(([path, content]) => modulePath(folder, path, content));
  if (paths.every((path) => existsSync(join(TARGET, path)))) return new Map();
  const contents = await Promise.all(
    [...files].map(async ([path, content]) =>
      [modulePath(folder, path, content), basename(path), await packContent(content)] as const
    ),
  );
  // The order of the files is kept, so that builds of one commit are identical.
  const packed: Record<string, Record<string, PackedContent>> = {};
  for (const [module, name, content] of contents) (packed[module] ??= {})[name] = content;
  return new Map(Object.entries(packed).map(([path, FILES]) => [path, moduleText({ FILES })]));
}

function modulePath(folder: string, path: string, content: Buffer): string {
  const name = content.length < OWN_MODULE_SIZE ? "small-files" : basename(path, ".js");
  return `assets/${folder}/${name}.js`;
}

/** Writes each `import()` with a literal, so that bundlers follow it. */
function tableModule(folders: readonly [folder: string, files: Files][]): string {
  const rows = new Map<string, string[]>();
  for (const [folder, files] of folders) {
    for (const [path, content] of files) {
      const name = basename(path);
      const above = JSON.stringify(`${folder}/${path.slice(0, -name.length)}`);
      const module = JSON.stringify(`./${modulePath(folder, path, content)}`);
      const row = `${above}, () => import(${module})`;
      rows.set(row, [...rows.get(row) ?? [], name]);
    }
  }
  const lines = [...rows].map(([row, names]) => `  [${row}, ${JSON.stringify(names)}],\n`);
  return `const MODULES = [\n${lines.join("")}];

export const ASSETS = Object.fromEntries(MODULES.flatMap(([above, load, names]) =>
  names.map((name) => [above + name, { importContent: async () => (await load()).FILES[name] }])
));
`;
}

async function descriptionModule(): Promise<string> {
  const document: JsonObject = parse(await readFile(join(ROOT, "spec/openapi.yaml"), "utf8"));
  const { identity } = await writeJson(document);
  return moduleText({ SPEC_JSON: await packContent(Buffer.from(identity)) });
}

async function pageModule(
  folders: typeof FILES,
  modules: readonly string[],
): Promise<string> {
  const read = async (name: string) => await readFile(join(ROOT, "static", name), "utf8");
  const minified = async (name: string) => {
    const { code } = await transform(await read(`${name}.css`), { loader: "css", minify: true });
    return code.trim();
  };
  const meta = (await read("meta.html")).trim();
  const TEMPLATES: Record<string, string> = {};
  for (const name of [...DOCUMENTS, "plain"]) {
    const scalar = name === "reference" ? modules.map((path) => `${folders.scalar}/${path}`) : [];
    TEMPLATES[name] = (await read(`${name}.html`))
      .replace("{meta}", () => meta)
      .replace("{scripts}", () => linkScripts(`${folders.explorer}/${name}.js`, scalar));
  }
  const inline = Object.values(TEMPLATES)
    .flatMap((html) => [...html.matchAll(/<script>(.*?)<\/script>/gs)]);
  const INLINE_SCRIPTS = inline.map(([, script]) =>
    `'sha256-${createHash("sha256").update(script!).digest("base64")}'`
  );
  const FAVICON = await read("favicon.svg");
  const HEAD_CSS = await minified("head");
  const styles = await Promise.all(
    DOCUMENTS.map(async (name) =>
      `  ${name}: HEAD_CSS + ${JSON.stringify(await minified(name))},\n`
    ),
  );
  return moduleText({ HEAD_CSS, TEMPLATES, INLINE_SCRIPTS, FAVICON, FILES: folders }) +
    `export const STYLES = {\n${styles.join("")}};\n`;
}

function linkScripts(script: string, scalar: readonly string[]): string {
  const attribute = scalar.length > 0 ? ` data-scalar="{v1}../assets/${scalar[0]}"` : "";
  return [
    `<script type="module" src="{v1}../assets/${script}"${attribute}></script>`,
    ...scalar.map((path) => `<link rel="modulepreload" href="{v1}../assets/${path}">`),
  ].join("\n    ");
}

async function readKindFiles(): Promise<Map<string, string>> {
  const kinds = new Map<string, string>();
  const names = (await readdir(join(ROOT, KINDS))).filter((name) => name.endsWith(".yaml"));
  for (const name of names.sort()) {
    kinds.set(basename(name, ".yaml"), await readFile(join(ROOT, KINDS, name), "utf8"));
  }
  return kinds;
}

function kindNamesModule(kinds: ReadonlyMap<string, string>): string {
  const aliases = [...kinds].flatMap(([kind, text]) => {
    // A kind must list its aliases on one line, such as `aliases: [a, b]`.
    const [line = "aliases: []"] = /^aliases: \[[\w, .-]*\]$/m.exec(text) ?? [];
    return (parse(line).aliases as string[]).map((alias) => [alias, kind] as const);
  });
  const KIND_ALIASES = Object.fromEntries(aliases.sort());
  return moduleText({ KIND_NAMES: [...kinds.keys()], KIND_ALIASES });
}

async function checkedKinds(files: ReadonlyMap<string, string>): Promise<Modules> {
  const [{ checkKind, readYaml }, { examplesIn }] = await Promise.all([
    import("../cli/yaml-file.ts"),
    import("../settings/kind-interface.ts"),
  ]);
  const problems: string[] = [];
  const kinds: Record<string, Kind> = {};
  const modules: Modules = new Map();
  const lines: string[] = [];
  for (const [name, text] of files) {
    const file = `${KINDS}/${name}.yaml`;
    try {
      const { openrpc, openapi, ...kind } = checkKind(readYaml(text, file, "a kind"));
      const examples = examplesIn({ openrpc, openapi })
        .map(({ place, pattern }) => [place, pattern]);
      if (examples.length > 0) Object.assign(kind, { examples: Object.fromEntries(examples) });
      if (openrpc?.path !== undefined) Object.assign(kind, { rpc_path: openrpc.path });
      kinds[name] = kind;
      if (openrpc || openapi) {
        // Compression reduces the OpenRPC or OpenAPI part of a kind to a seventh of its size.
        const INTERFACE = await packContent(
          Buffer.from(formatJson({ ...openrpc && { openrpc }, ...openapi && { openapi } })),
        );
        const module = `interfaces/${name}.js`;
        modules.set(module, moduleText({ INTERFACE }));
        lines.push(
          `  ${JSON.stringify(name)}: async () => (await import("./${module}")).INTERFACE,\n`,
        );
      }
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (problems.length > 0) {
    console.error(problems.join("\n"));
    process.exit(1);
  }
  modules.set("kinds.js", moduleText({ KINDS: kinds }));
  return modules.set("interfaces.js", `export const INTERFACES = {\n${lines.join("")}};\n`);
}

function moduleText(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 2)};\n`)
    .join("");
}

async function packContent(content: Buffer): Promise<PackedContent> {
  const compressed = await promisify(gzip)(content, { level: 9 });
  const isWorth = content.length > PACKET_SIZE && compressed.length < content.length;
  return isWorth
    ? { gzip: compressed.toString("base64") }
    : { identity: content.toString("base64") };
}

async function writeModules(modules: Modules): Promise<void> {
  for (const [path, content] of modules) {
    const file = join(TARGET, path);
    // Without this line, Deno would not find the type declarations.
    const types = path.includes("/") ? "" : `// @ts-self-types="./${basename(path, ".js")}.d.ts"\n`;
    const text = `// Made by "npm run assets"\n${types}${content}`;
    if (await readFile(file, "utf8").catch(() => undefined) === text) continue;
    await mkdir(dirname(file), { recursive: true });
    // A rename is atomic, so no process ever reads a partial module.
    const begun = `${file}.${process.pid}`;
    await writeFile(begun, text);
    await rename(begun, file);
  }
}

async function packageJson(folder: string): Promise<{ version: string }> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

function digest(files: Files): string {
  const sum = createHash("sha256");
  for (const part of [...files].flat()) sum.update(`${part.length}\0`).update(part);
  return sum.digest("hex").slice(0, 8);
}

/** The length of the commit is fixed, since Git's default length differs between clones. */
function shortCommit(): string | undefined {
  try {
    const [top, commit] = execFileSync("git", ["rev-parse", "--show-cdup", "--short=10", "HEAD"], {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).split("\n");
    return top === "" ? commit : undefined;
  } catch {
    return undefined;
  }
}
