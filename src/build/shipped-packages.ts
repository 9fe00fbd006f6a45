/**
 * Names the packages whose code is shipped: those of a bundle, and those in Scalar's browser build,
 * which its source maps tell. Their licences come from the packages themselves.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { packageFolder } from "./bundle-for-runtime.ts";
import { readScalar } from "./scalar.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DOWNLOADS = join(ROOT, "node_modules/.cache/nodeface/packages");
const SCALAR = "@scalar/api-reference";

/** A package or a runtime, with its SPDX licence expression and the texts of its licence files. */
export interface Licensed {
  name: string;
  version: string;
  license: string;
  texts: string[];
}

export interface ShippedPackage extends Licensed {
  /** As npm has it: `sha512-` and Base64. */
  integrity: string;
  /** Whether the package is shipped as a part of Scalar. */
  isInScalar: boolean;
}

/**
 * @param bundled the folders of the packages in a bundle
 * @returns the packages, sorted by name and version
 */
export async function shippedPackages(bundled: readonly string[]): Promise<ShippedPackage[]> {
  const { packages: locked } = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8"));
  const found = await Promise.all([
    ...(await downloaded(await packagesInScalar())).map(async (folder) =>
      readPackage(folder, await readFile(`${folder}.integrity`, "utf8"), true)
    ),
    ...[...bundled, `node_modules/${SCALAR}`].map((folder) =>
      readPackage(join(ROOT, folder), locked[folder].integrity, false)
    ),
  ]);
  // A package that is in the bundle and in Scalar, too, is named once.
  const packages = new Map(found.map((shipped) => [nameWithVersion(shipped), shipped]));
  return [...packages].sort(([a], [b]) => a < b ? -1 : 1).map(([, shipped]) => shipped);
}

const nameWithVersion = ({ name, version }: ShippedPackage) => `${name}@${version}`;

/** The content of `LICENSES.txt`. */
export function licenses(packages: readonly Licensed[]): string {
  const parts = packages.map(({ name, version, license, texts }) => {
    const text = texts.join("\n").trim() || "The package contains no licence file.";
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return parts.join(`\n${"-".repeat(72)}\n\n`);
}

/** Where Bun's makers tell its licence, those of its parts, and how to link it anew. */
const LICENSE_OF_BUN = "docs/project/license.mdx";

/** Resolves to Bun with its licences, which are in the package of its types alone. */
export async function licensedBun(version: string): Promise<Licensed> {
  const [folder] = await fetchPackages([`bun-types@${version}`], [`package/${LICENSE_OF_BUN}`]);
  const text = await readFile(join(folder!, LICENSE_OF_BUN), "utf8");
  return { name: "bun", version, license: "MIT", texts: [text] };
}

/** The content of `nodeface.cdx.json` (CycloneDX 1.6). */
export async function billOfMaterials(
  packages: readonly ShippedPackage[],
  bun: string,
): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const runtime = { type: "platform", "bom-ref": `bun@${bun}`, name: "bun", version: bun };
  const component = { type: "application", "bom-ref": name, name, version, ...licensed(license) };
  const reference = (shipped: ShippedPackage) => componentOf(shipped)["bom-ref"];
  const own = packages.filter(({ isInScalar }) => !isInScalar);
  const scalar = own.find(({ name }) => name === SCALAR)!;
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component },
    components: [runtime, ...packages.map(componentOf)],
    dependencies: [
      { ref: name, dependsOn: [runtime["bom-ref"], ...own.map(reference)] },
      {
        ref: reference(scalar),
        dependsOn: packages.filter(({ isInScalar }) => isInScalar).map(reference),
      },
    ],
  };
  return JSON.stringify(bill, null, 2) + "\n";
}

function componentOf({ name, version, license, integrity }: ShippedPackage) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const content = Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex");
  const hashes = [{ alg: "SHA-512", content }];
  return { type: "library", "bom-ref": purl, name, version, purl, ...licensed(license), hashes };
}

const licensed = (id: string) => ({ licenses: [{ license: { id } }] });

/**
 * @returns `name@version` of each package of which a file is in Scalar's browser build, but Scalar
 *   itself; without `@version` for packages of Scalar's own repository
 */
export async function packagesInScalar(): Promise<Set<string>> {
  const folder = packageFolder(SCALAR);
  const found = new Set<string>();
  for (const path of (await readScalar(folder)).keys()) {
    const map = join(folder, "dist/browser", `${path}.map`);
    // Two modules of helpers have no map: they contain Scalar's and its bundler's own code.
    if (!existsSync(map)) continue;
    const { sources } = JSON.parse(await readFile(map, "utf8")) as { sources: string[] };
    const directory = posix.dirname(`packages/api-reference/dist/browser/${path}`);
    for (const source of sources) {
      const shipped = packageOf(posix.join(directory, source));
      if (shipped !== undefined && shipped !== SCALAR) found.add(shipped);
    }
  }
  return found;
}

const PNPM = /\/\.pnpm\/([^/]+)\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** @returns `undefined` for a module that the bundler made */
function packageOf(source: string): string | undefined {
  const [, entry, name] = PNPM.exec(`/${source}`) ?? [];
  if (entry !== undefined && name !== undefined) {
    const version = entry.slice(`${name.replace("/", "+")}@`.length).split("_")[0];
    return `${name}@${version}`;
  }
  const own = /^packages\/([^/]+)\//.exec(source)?.[1];
  if (own !== undefined) return `@scalar/${own}`;
  if (/^\0|rolldown|plugin-vue|vite\//.test(source)) return undefined;
  throw new Error(`Scalar's source map names "${source}", which belongs to no known package`);
}

/** Fetches the packages with npm, and returns their folders. */
async function downloaded(packages: ReadonlySet<string>): Promise<string[]> {
  await mkdir(DOWNLOADS, { recursive: true });
  const own = [...packages].filter((name) => !name.includes("@", 1));
  const folders = await fetchPackages([...packages].filter((name) => name.includes("@", 1)));
  const versions: Record<string, string> = {};
  // A package of Scalar's repository is named with its version by one that depends on it.
  let dependents = [packageFolder(SCALAR)];
  while (dependents.length > 0) {
    const added: string[] = [];
    for (const folder of dependents) {
      const { dependencies = {} } = JSON.parse(
        await readFile(join(folder, "package.json"), "utf8"),
      );
      for (const [name, version] of Object.entries<string>(dependencies)) {
        if (!own.includes(name) || versions[name] !== undefined) continue;
        versions[name] = version;
        added.push(`${name}@${version}`);
      }
    }
    dependents = await fetchPackages(added);
    folders.push(...dependents);
  }
  const unknown = own.filter((name) => versions[name] === undefined);
  if (unknown.length > 0) throw new Error(`Scalar's packages without version: ${unknown}`);
  return folders;
}

/** The manifest and the licence files lie at the top. */
const TOP = ["--exclude=*/*/*"];

/** @param files which files to extract, as `tar` has it */
async function fetchPackages(packages: readonly string[], files = TOP): Promise<string[]> {
  const folders = packages.map((found) => join(DOWNLOADS, found.replace("/", "+")));
  const missing = packages.filter((_, i) => !existsSync(`${folders[i]}.integrity`));
  if (missing.length === 0) return folders;
  const run = promisify(execFile);
  const pack = ["pack", "--json", "--prefer-offline", "--pack-destination", DOWNLOADS, ...missing];
  const { stdout } = await run("npm", pack, { maxBuffer: 1e9, cwd: DOWNLOADS });
  for (const { name, version, filename, integrity } of JSON.parse(stdout)) {
    const folder = join(DOWNLOADS, `${name.replace("/", "+")}@${version}`);
    await mkdir(folder, { recursive: true });
    const archive = join(DOWNLOADS, filename.replace("@", "").replace("/", "-"));
    await run("tar", ["-xzf", archive, "-C", folder, "--strip-components=1", ...files]);
    await writeFile(`${folder}.integrity`, integrity);
    await rm(archive);
  }
  return folders;
}

async function readPackage(
  folder: string,
  integrity: string,
  isInScalar: boolean,
): Promise<ShippedPackage> {
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const names = (await readdir(folder)).filter((name) =>
    /^(licen[cs]e|copying|notice)/i.test(name)
  );
  const texts = await Promise.all(names.sort().map((name) => readFile(join(folder, name), "utf8")));
  const { name, version, license } = manifest;
  if (typeof license !== "string") throw new Error(`${name} ${version} names no licence`);
  return { name, version, license, texts, integrity, isInScalar };
}
