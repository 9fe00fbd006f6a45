/**
 * `npm run assets`: writes the modules of `src/generated/`, so that the service reads no files: the page,
 * the explorer's files and Scalar's in every content coding, the service's own description, and the kinds
 * of node, each checked. What a kind offers to be called is a module of its own.
 *
 * The first line of a module has a digest of its inputs; it is written only if that has changed. A new
 * module is renamed into place, so that an interrupted or concurrent run does no harm.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { isMap, isScalar, parse, parseDocument } from "yaml";
import type { PageFiles } from "../generated/page.js";
import { type PackedContent, PACKET_SIZE } from "../http/content-coding.ts";
import { formatJson } from "../json/lossless.ts";
import type { KindInterface } from "../kinds/interface.ts";
import type { Kind } from "../kinds/kind.ts";
import { markServers } from "../openapi/relative-servers.ts";
import { writeJson } from "../openapi/write.ts";
import { packageFolder } from "./packages.ts";
import { readScalar, staticImports } from "./patch-scalar.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TARGET = join(ROOT, "src/generated");
const KINDS = "spec/kinds";
const SCALAR = packageFolder("@scalar/api-reference");

/** The files of `static/` that the page loads. */
const EXPLORER = ["explorer.js", "try.js", "header.js", "description-for-scalar.js"];

/** The folders with one module for each of some things. */
const MODULE_FOLDERS = ["assets", "interfaces"];

/** Every module depends on this code as well. */
const STEP = [
  "src/build/generated-modules.ts",
  "src/build/patch-scalar.ts",
  "src/openapi/relative-servers.ts",
];

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Smaller files of a folder, in bytes, share one module. */
const OWN_MODULE_SIZE = 8192;

type Files = Map<string, Buffer>;

interface Module {
  path: string;
  /** Everything that its text is made from. */
  inputs: (string | Buffer)[];
  make(): Promise<string>;
}

await main();

async function main() {
  const kinds = await readKindFiles();
  // What checks the kinds imports their names.
  await writeChangedModules([kindNamesModule(kinds)]);
  const { kindsModule, interfaces } = await checkedKinds(kinds);
  const { version } = await packageJson(ROOT);
  const scalarVersion = (await packageJson(SCALAR)).version;
  const explorer = await readFiles(join(ROOT, "static"), EXPLORER);
  const scalar = await readScalar(SCALAR);
  const folders = {
    explorer: `explorer-${hash([...explorer].flat()).slice(0, 8)}`,
    scalar: `scalar-${scalarVersion}-${hash([...scalar].flat()).slice(0, 8)}`,
  };
  const preload = ["try.js", "header.js"].map((name) => `${folders.explorer}/${name}`);
  const modules = [
    `${folders.explorer}/description-for-scalar.js`,
    ...staticImports(scalar).map((path) => `${folders.scalar}/${path}`),
  ];
  const files: Files = new Map();
  for (const [path, content] of explorer) files.set(`${folders.explorer}/${path}`, content);
  for (const [path, content] of scalar) files.set(`${folders.scalar}/${path}`, content);

  const contents = contentModules(files);
  // The tables import these, so they come after them.
  await writeChangedModules([...contents, ...interfaces]);
  await writeChangedModules([
    tableModule(files),
    interfacesModule(interfaces),
    ...await descriptionModules(),
    await pageModule({ ...folders, preload, modules }),
    await threadProgramModule(),
    buildInfoModule(version, shortCommit()),
    kindsModule,
  ]);
  await removeOthers([...contents, ...interfaces].map(({ path }) => path));
}

function contentModules(files: Files): Module[] {
  const modules = new Map<string, Files>();
  for (const [path, content] of files) {
    const module = modulePath(path, content);
    const group: Files = modules.get(module) ?? new Map();
    if (group.has(basename(path))) throw new Error(`Two files are called ${basename(path)}`);
    modules.set(module, group.set(basename(path), content));
  }
  return [...modules].map(([path, group]) => ({
    path,
    inputs: [...group].flat(),
    async make() {
      const packed: Record<string, PackedContent> = {};
      for (const [name, content] of group) packed[name] = await packContent(content);
      return moduleText({ FILES: packed });
    },
  }));
}

function modulePath(path: string, content: Buffer): string {
  if (content.length < OWN_MODULE_SIZE) return `assets/small-files-of-${path.split("-")[0]}.js`;
  return `assets/${basename(path).replace(/\.js$/, "")}.js`;
}

/** The table of the files. Each `import()` has a literal, so that bundlers follow it. */
function tableModule(files: Files): Module {
  const lines = [...files].map(([path, content]) => {
    const type = TYPES[extname(path)];
    if (!type) throw new Error(`No media type is known for ${path}`);
    const module = JSON.stringify(`./${modulePath(path, content)}`);
    const importContent = `async () => (await import(${module})).FILES[${
      JSON.stringify(basename(path))
    }]`;
    return `  ${JSON.stringify(path)}: { type: ${
      JSON.stringify(type)
    }, importContent: ${importContent} },\n`;
  });
  const text = `export const ASSETS = {\n${lines.join("")}};\n`;
  return { path: "assets.js", inputs: [text], make: () => Promise.resolve(text) };
}

/** The service's own description, of services with metrics and of those without. */
async function descriptionModules(): Promise<Module[]> {
  const whole = await readFile(join(ROOT, "spec/openapi.yaml"), "utf8");
  return [
    descriptionModule("description.js", withoutPath(whole, "/v1/metrics")),
    descriptionModule("description-with-metrics.js", whole),
  ];
}

function descriptionModule(path: string, yaml: string): Module {
  return {
    path,
    inputs: [yaml],
    async make() {
      const marked = markServers(parse(yaml));
      const json = marked.read(writeJson(marked.document));
      return moduleText({
        SPEC_JSON: await packContent(Buffer.from(json.text)),
        SPEC_YAML: await packContent(Buffer.from(yaml)),
        SPEC_DOTS: { json: json.dots, yaml: [placeOfDot(yaml)] },
      });
    },
  };
}

/** The lines of a description without those of one path. */
function withoutPath(yaml: string, path: string): string {
  const { contents } = parseDocument(yaml);
  const pairsOf = (map: unknown) => isMap(map) ? map.items : [];
  const isNamed = (name: string) => ({ key }: { key: unknown }) =>
    isScalar(key) && key.value === name;
  const lineOf = ({ key }: { key: unknown }) =>
    yaml.lastIndexOf("\n", isScalar(key) && key.range ? key.range[0] : 0) + 1;
  const parts = pairsOf(contents);
  const section = parts.findIndex(isNamed("paths"));
  const paths = pairsOf(parts[section]?.value);
  const index = paths.findIndex(isNamed(path));
  const next = paths[index + 1] ?? parts[section + 1];
  if (index < 0 || !next) {
    throw new Error(`spec/openapi.yaml: there is no ${path}, or nothing after`);
  }
  return yaml.slice(0, lineOf(paths[index]!)) + yaml.slice(lineOf(next));
}

/** Where the one server of the service's own description begins, in bytes. */
function placeOfDot(yaml: string): number {
  const url = parseDocument(yaml).getIn(["servers", 0, "url"], true);
  if (!isScalar(url) || url.value !== "." || !url.range) {
    throw new Error("spec/openapi.yaml: the server must be .");
  }
  return Buffer.byteLength(yaml.slice(0, yaml.indexOf(".", url.range[0])));
}

async function pageModule(files: PageFiles): Promise<Module> {
  const names = ["explorer.html", "favicon.svg", "explorer.css", "hide-until-found.js"];
  const parts = await readFiles(join(ROOT, "static"), names);
  return {
    path: "page.js",
    inputs: [...[...parts].flat(), JSON.stringify(files)],
    async make() {
      const { transform } = await import("esbuild");
      const minify = async (name: string, loader: "css" | "js") =>
        (await transform(`${parts.get(name)}`, { loader, minify: true })).code.trim();
      const style = await minify("explorer.css", "css");
      const finding = await minify("hide-until-found.js", "js");
      return moduleText({
        TEMPLATE: `${parts.get("explorer.html")}`,
        FAVICON: `${parts.get("favicon.svg")}`,
        FILES: files,
        INLINE: { style, finding, digest: createHash("sha256").update(finding).digest("base64") },
      });
    },
  };
}

/** The program of the thread, as a text; bundlers of a host would not find a file of its own. */
async function threadProgramModule(): Promise<Module> {
  const entry = "src/description/thread-program.ts";
  const names = await readdir(join(ROOT, "src"), { recursive: true });
  const paths = names.filter((name) => name.endsWith(".ts")).map((name) => join("src", name));
  const sources = [
    ...await readFiles(ROOT, paths),
    ...await readFiles(packageFolder("yaml"), ["package.json"]),
  ];
  return {
    path: "thread-program.js",
    inputs: [...sources].flat(),
    async make() {
      const { bundleText } = await import("./bundle-for-runtime.ts");
      return moduleText({ PROGRAM: await bundleText(join(ROOT, entry)) });
    },
  };
}

/** The files of `spec/kinds/` by the names of their kinds, in alphabetical order. */
async function readKindFiles(): Promise<Map<string, string>> {
  const folder = join(ROOT, KINDS);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".yaml")).sort();
  const files = await readFiles(folder, names);
  return new Map([...files].map(([name, text]) => [basename(name, ".yaml"), text.toString()]));
}

function kindNamesModule(kinds: ReadonlyMap<string, string>): Module {
  const aliases = [...kinds].flatMap(([kind, text]) =>
    aliasesIn(text).map((alias) => [alias, kind] as const)
  );
  const text = moduleText({
    KIND_NAMES: [...kinds.keys()],
    KIND_ALIASES: Object.fromEntries(aliases.sort()),
  });
  return { path: "kind-names.js", inputs: [text], make: () => Promise.resolve(text) };
}

/** The aliases of a kind; what is wrong with its file is said when it is checked. */
function aliasesIn(text: string): readonly string[] {
  try {
    const { aliases } = parse(text) as { aliases?: unknown };
    return Array.isArray(aliases) ? aliases.map(String) : [];
  } catch {
    return [];
  }
}

/**
 * The kinds, each checked by the schema that an operator's own is checked by, and what they offer to be
 * called, each by itself.
 */
async function checkedKinds(
  files: ReadonlyMap<string, string>,
): Promise<{ kindsModule: Module; interfaces: Module[] }> {
  const { parseKind } = await import("../cli/kind-file.ts");
  const problems: string[] = [];
  const kinds: Record<string, Kind> = {};
  const interfaces: Module[] = [];
  const taken = new Map([...files.keys()].map((name) => [name, name]));
  for (const [name, text] of files) {
    const file = `${KINDS}/${name}.yaml`;
    try {
      const { openrpc, openapi, ...kind } = parseKind(text, file);
      kinds[name] = kind;
      if (openrpc || openapi) {
        const parts = { ...openrpc && { openrpc }, ...openapi && { openapi } };
        interfaces.push(interfaceModule(name, parts));
      }
      for (const alias of kind.aliases ?? []) {
        const other = taken.get(alias);
        if (other) problems.push(`${file}: the alias ${alias} stands for ${other} already`);
        taken.set(alias, name);
      }
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (problems.length > 0) {
    console.error(problems.join("\n"));
    process.exit(1);
  }
  const text = moduleText({ KINDS: kinds });
  const kindsModule = { path: "kinds.js", inputs: [text], make: () => Promise.resolve(text) };
  return { kindsModule, interfaces };
}

/** What a kind offers to be called, packed: as a literal it is seven times as long. */
function interfaceModule(kind: string, parts: KindInterface): Module {
  const json = formatJson(parts);
  return {
    path: `interfaces/${kind}.js`,
    inputs: [json],
    async make() {
      const { gzip, identity } = await packContent(Buffer.from(json));
      return moduleText({ INTERFACE: gzip ? { gzip } : { identity } });
    },
  };
}

/** The table of them. Each `import()` has a literal, so that bundlers follow it. */
function interfacesModule(interfaces: readonly Module[]): Module {
  const lines = interfaces.map(({ path }) => {
    const kind = JSON.stringify(basename(path, ".js"));
    return `  ${kind}: async () => (await import(${JSON.stringify(`./${path}`)})).INTERFACE,\n`;
  });
  const text = `export const INTERFACES = {\n${lines.join("")}};\n`;
  return { path: "interfaces.js", inputs: [text], make: () => Promise.resolve(text) };
}

function buildInfoModule(version: string, commit: string | undefined): Module {
  const text = moduleText({ VERSION: version, COMMIT: commit });
  return { path: "build-info.js", inputs: [text], make: () => Promise.resolve(text) };
}

function moduleText(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 2)};\n`)
    .join("");
}

async function packContent(content: Buffer): Promise<PackedContent> {
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  const br = await promisify(brotliCompress)(content, { params });
  const gz = await promisify(gzip)(content, { level: 9 });
  const isWorth = (encoded: Buffer) =>
    content.length > PACKET_SIZE && encoded.length < content.length;
  const base64 = (bytes: Buffer) => bytes.toString("base64");
  return {
    ...(isWorth(br) && { br: base64(br) }),
    ...(isWorth(gz) ? { gzip: base64(gz) } : { identity: base64(content) }),
  };
}

async function writeChangedModules(modules: readonly Module[]): Promise<void> {
  for (const folder of MODULE_FOLDERS) await mkdir(join(TARGET, folder), { recursive: true });
  const step = [...await readFiles(ROOT, STEP)].flat();
  const changed: { file: string; head: string; make: Module["make"] }[] = [];
  for (const { path, inputs, make } of modules) {
    const file = join(TARGET, path);
    const head = `// Made by "npm run assets" from ${hash([...step, ...inputs])}\n`;
    if (!await beginsWith(file, head)) changed.push({ file, head, make });
  }
  if (changed.length > 0) console.error(`Writing ${changed.length} modules of src/generated/`);
  await Promise.all(changed.map(async ({ file, head, make }) => {
    const part = `${file}.${process.pid}.new`;
    // Deno finds declarations by this line alone.
    const types = `// @ts-self-types="./${basename(file, ".js")}.d.ts"\n`;
    await writeFile(part, head + (dirname(file) === TARGET ? types : "") + await make());
    await rename(part, file);
  }));
}

async function beginsWith(path: string, head: string): Promise<boolean> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(head.length), 0, head.length, 0);
      return buffer.subarray(0, bytesRead).toString() === head;
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}

/** Removes the modules of former files, and the files of interrupted runs. */
async function removeOthers(contents: readonly string[]): Promise<void> {
  const hourAgo = Date.now() - 3_600_000;
  for (const name of await readdir(TARGET, { recursive: true })) {
    const path = name.replaceAll("\\", "/");
    const file = join(TARGET, name);
    const isLeft = path.endsWith(".new") && await isOlder(file, hourAgo);
    const isOld = MODULE_FOLDERS.includes(path.split("/")[0]!) && path.endsWith(".js") &&
      !contents.includes(path);
    if (isLeft || isOld) await rm(file, { force: true });
  }
}

/** Whether a file is older than a time; a run beside this one may have renamed it. */
async function isOlder(path: string, time: number): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
  return mtimeMs < time;
}

async function packageJson(folder: string): Promise<{ version: string }> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

async function readFiles(folder: string, paths: string[]): Promise<Files> {
  const files: Files = new Map();
  // One after the other: macOS allows 256 open files.
  for (const path of paths) files.set(path, await readFile(join(folder, path)));
  return files;
}

function hash(parts: readonly (string | Buffer)[]): string {
  const sum = createHash("sha256");
  for (const part of parts) sum.update(`${part.length}\0`).update(part);
  return sum.digest("hex").slice(0, 16);
}

/**
 * The commit that is checked out, with as many digits in every clone; `undefined` if this folder is not the root
 * of one.
 */
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
