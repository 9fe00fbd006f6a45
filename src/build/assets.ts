/**
 * `npm run assets`: prepares the explorer's files once, in every content coding, under
 * `dist/assets/`: Scalar's browser modules, the files of `static/`, and both forms of the service's
 * own description. What the last run made of the same file is taken from there; where nothing has
 * changed it only notes the commit.
 *
 * @module
 */
import { createHash } from "node:crypto";
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parse } from "yaml";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type Asset, fileName, MANIFEST, type Manifest } from "../explorer/manifest.ts";
import type { ContentCoding } from "../http/content-coding.ts";
import { shortCommit } from "./git-commit.ts";
import { readScalar, staticImports } from "./patch-scalar.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SCALAR = "node_modules/@scalar/api-reference";

/** This service's own description. */
const DESCRIPTION = "spec/openapi.yaml";

/** The files of `static/` that the page loads; the page itself is prepared when it is served. */
const OWN = ["explorer.js", "header.js", "explorer.css", "favicon.svg"];

/** The code of this step, which makes other files where it changes. */
const STEP = ["src/build/assets.ts", "src/build/patch-scalar.ts", "src/explorer/manifest.ts"];

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Contents by their path in a folder. */
type Files = Map<string, Buffer>;

await main();

async function main() {
  const { version } = await packageJson(".");
  const scalarVersion = (await packageJson(SCALAR)).version;
  const own = await readFiles(join(ROOT, "static"), OWN);
  const scalar = await readScalar(join(ROOT, SCALAR));
  const explorerFolder = `explorer-${hash(own)}`;
  const scalarFolder = `scalar-${scalarVersion}-${hash(scalar)}`;
  const commit = shortCommit(ROOT);
  const description = hash(await readFiles(ROOT, [DESCRIPTION]));
  const step = hash(await readFiles(ROOT, STEP));
  const inputs = [version, explorerFolder, scalarFolder, description, step].join(" ");
  const done = await lastRun();
  if (done?.inputs === inputs) return await setCommit(done, commit);
  const before = done?.inputs.endsWith(` ${step}`) ? done.files : {};

  const files: Files = new Map();
  for (const [path, content] of own) files.set(`${explorerFolder}/${path}`, content);
  for (const [path, content] of scalar) files.set(`${scalarFolder}/${path}`, content);

  const target = join(ROOT, dirname(MANIFEST));
  await mkdir(dirname(target), { recursive: true });
  await removeAbandoned(dirname(target));
  const folder = await mkdtemp(`${target}-`);
  // Whoever runs the service may read them, not only who builds it.
  await chmod(folder, 0o755);
  const manifest: Manifest = {
    version,
    inputs,
    explorer: explorerFolder,
    scalar: scalarFolder,
    preload: [
      `${explorerFolder}/header.js`,
      ...staticImports(scalar).map((path) => `${scalarFolder}/${path}`),
    ],
    ...(commit && { commit }),
    files: await prepare(files, folder, before),
    description: await prepareDescription(folder),
  };
  await writeFile(join(folder, "manifest.json"), textOf(manifest));
  await putInPlace(folder, target, inputs);
}

/** Removes what runs that were interrupted have left; one that is under way is younger. */
async function removeAbandoned(folder: string): Promise<void> {
  const hourAgo = Date.now() - 3_600_000;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!name.startsWith("assets-") || (await stat(path)).mtimeMs > hourAgo) continue;
    await rm(path, { recursive: true, force: true });
  }
}

async function packageJson(folder: string): Promise<{ version: string }> {
  return JSON.parse(await readFile(join(ROOT, folder, "package.json"), "utf8"));
}

/** What the last run made; nothing where there was none. */
async function lastRun(): Promise<Manifest | undefined> {
  try {
    return JSON.parse(await readFile(join(ROOT, MANIFEST), "utf8")) as Manifest;
  } catch {
    return undefined;
  }
}

/** Says in the manifest which commit the files are of now; they are the same ones. */
async function setCommit(manifest: Manifest, commit: string | undefined): Promise<void> {
  if (manifest.commit === commit) return;
  const { commit: _, ...rest } = manifest;
  const path = join(ROOT, MANIFEST);
  await writeFile(`${path}.new`, textOf({ ...rest, ...(commit && { commit }) }));
  await rename(`${path}.new`, path);
}

function textOf(manifest: Manifest): string {
  return JSON.stringify(manifest, null, 1) + "\n";
}

/** Writes both forms of this service's own description. */
async function prepareDescription(folder: string): Promise<Manifest["description"]> {
  const yaml = await readFile(join(ROOT, DESCRIPTION));
  const json = Buffer.from(JSON.stringify(parse(yaml.toString())));
  return {
    "spec.json": await writeEncoded("spec.json", json, folder),
    "spec.yaml": await writeEncoded("spec.yaml", yaml, folder),
  };
}

async function readFiles(folder: string, paths: string[]): Promise<Files> {
  const entries = paths.map(async (path) => [path, await readFile(join(folder, path))] as const);
  return new Map(await Promise.all(entries));
}

function hash(files: Files): string {
  const sum = createHash("sha256");
  for (const [path, content] of files) sum.update(`${path}\0${content.length}\0`).update(content);
  return sum.digest("hex").slice(0, 8);
}

/**
 * Writes every file in every coding that makes it shorter, and says how far it is.
 *
 * @param before what the last run made in the same way
 */
async function prepare(
  files: Files,
  folder: string,
  before: Readonly<Record<string, Asset>>,
): Promise<Record<string, Asset>> {
  const assets: Record<string, Asset> = {};
  const progress = showProgress(files.size);
  const queue = [...files].sort(([, a], [, b]) => b.length - a.length);
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [path, content] = next;
      assets[path] = await copyPrepared(path, before[path], folder) ??
        await prepareFile(path, content, folder);
      progress();
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  return Object.fromEntries([...files.keys()].map((path) => [path, assets[path]!]));
}

/** Takes over what the last run made of a file, whose content its folder's name tells. */
async function copyPrepared(
  path: string,
  asset: Asset | undefined,
  folder: string,
): Promise<Asset | undefined> {
  if (!asset) return undefined;
  await mkdir(dirname(join(folder, path)), { recursive: true });
  const names = asset.codings.map((coding) => fileName(path, coding));
  const copies = names.map((name) =>
    copyFile(join(ROOT, dirname(MANIFEST), name), join(folder, name))
  );
  const copied = await Promise.allSettled(copies);
  return copied.every(({ status }) => status === "fulfilled") ? asset : undefined;
}

async function prepareFile(path: string, content: Buffer, folder: string): Promise<Asset> {
  const type = TYPES[extname(path)];
  if (!type) throw new Error(`No media type is known for ${path}`);
  return { type, codings: await writeEncoded(path, content, folder) };
}

async function writeEncoded(
  path: string,
  content: Buffer,
  folder: string,
): Promise<ContentCoding[]> {
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  const encoded: [ContentCoding, Buffer][] = [
    ["br", await promisify(brotliCompress)(content, { params })],
    ["gzip", await promisify(gzip)(content, { level: 9 })],
    ["identity", content],
  ];
  const kept = encoded.filter(([coding, bytes]) =>
    coding === "identity" || (content.length > 1400 && bytes.length < content.length)
  );
  await mkdir(dirname(join(folder, path)), { recursive: true });
  for (const [coding, bytes] of kept) await writeFile(join(folder, fileName(path, coding)), bytes);
  return kept.map(([coding]) => coding);
}

/** Moves the new files to where the service looks for them; a second run at once does no harm. */
async function putInPlace(folder: string, target: string, inputs: string) {
  try {
    await rm(target, { recursive: true, force: true });
    await rename(folder, target);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if ((await lastRun())?.inputs !== inputs) throw error;
  }
}

/** A line that is rewritten in a terminal, a line for each quarter elsewhere. */
function showProgress(total: number): () => void {
  const { stderr } = process;
  let done = 0;
  return () => {
    done++;
    const line = `Preparing the explorer's files: ${done} of ${total}`;
    if (stderr.isTTY) stderr.write(`\r${line}${done === total ? "\n" : ""}`);
    else if (Math.floor((4 * done) / total) > Math.floor((4 * (done - 1)) / total)) {
      stderr.write(`${line}\n`);
    }
  };
}
