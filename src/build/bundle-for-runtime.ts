/**
 * `npm run build:worker` and `npm run build:deno`: bundles the service for one runtime. Lists the
 * packages of a bundle with their licences, and writes the bill of materials of an executable
 * (CycloneDX 1.6).
 *
 * @module
 */
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Returns the path of a package's folder, with a trailing slash. */
export function packageFolder(name: string): string {
  for (let folder = new URL(".", import.meta.resolve(name));; folder = new URL("..", folder)) {
    const file = new URL("package.json", folder);
    if (existsSync(file) && JSON.parse(readFileSync(file, "utf8")).name === name) {
      return fileURLToPath(folder);
    }
  }
}

/** The build of `yaml` for Node calls `require`, which does not exist in ES modules. */
const YAML: string = `${packageFolder("yaml")}browser/index.js`;

export const COMMON = {
  bundle: true,
  metafile: true,
  mainFields: ["module", "main"],
  // Under Deno, there is no `node_modules`, so esbuild cannot find these packages itself.
  alias: { "yaml": YAML, "fastest-levenshtein": packageFolder("fastest-levenshtein") },
  target: "es2023",
  logLevel: "warning",
} satisfies BuildOptions;

type Runtime = "deno" | "bun" | "worker";

/**
 * For Bun, also writes modules beside `outfile`.
 *
 * @returns the folders of the bundled packages
 */
export async function bundle(runtime: Runtime, outfile: string): Promise<string[]> {
  const isWorker = runtime === "worker";
  const isSplit = runtime === "bun";
  const { metafile } = await build({
    ...COMMON,
    entryPoints: [join(ROOT, isWorker ? "src/adapters/worker.ts" : "src/main.ts")],
    ...(isSplit ? { outdir: dirname(outfile), splitting: true } : { outfile }),
    format: "esm",
    platform: isWorker ? "neutral" : "node",
    conditions: [runtime, "import"],
    external: ["node:*"],
    minify: true,
    plugins: isWorker ? [] : [onlyAdapter(runtime)],
  });
  return packagesOf(metafile);
}

export function packagesOf({ inputs }: Metafile): string[] {
  const packages = Object.keys(inputs).map((input) => PACKAGE_FOLDER.exec(input)?.[0]);
  return [...new Set(packages.filter((name) => name !== undefined))].sort();
}

const PACKAGE_FOLDER = /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/;

/**
 * Replaces the adapters for other runtimes with stubs, so that startup does not load their imports.
 */
function onlyAdapter(runtime: string): Plugin {
  return {
    name: "only-adapter",
    setup(build) {
      build.onLoad(
        { filter: /[\\/]adapters[\\/](node|deno|bun)\.ts$/ },
        ({ path }) =>
          path.endsWith(`${runtime}.ts`) ? undefined : { contents: "export const serve = null;" },
      );
    },
  };
}

const read = async (path: string) => JSON.parse(await readFile(join(ROOT, path), "utf8"));

export async function licenses(folders: readonly string[]): Promise<string> {
  const parts = await Promise.all(folders.map(async (folder) => {
    const { name, version, license } = await read(join(folder, "package.json"));
    const files = (await readdir(join(ROOT, folder))).filter((file) => /^licen[cs]e/i.test(file));
    const texts = files.map((file) => readFileSync(join(ROOT, folder, file), "utf8"));
    return `${name} ${version} (${license})\n\n${texts.join("\n").trim()}\n`;
  }));
  return parts.join(`\n${"-".repeat(72)}\n\n`);
}

export async function billOfMaterials(packages: readonly string[], bun: string): Promise<string> {
  const { name, version, license } = await read("package.json");
  const { packages: locked } = await read("package-lock.json");
  const ofBun = execFileSync(bun, ["--version"], { encoding: "utf8" }).trim();
  const components = [
    { type: "platform", "bom-ref": `bun@${ofBun}`, name: "bun", version: ofBun },
    ...[...packages, "node_modules/@scalar/api-reference"].map((folder) =>
      library(folder.slice(folder.lastIndexOf("node_modules/") + 13), locked[folder])
    ),
  ];
  const licenses = [{ license: { id: license } }];
  const component = { type: "application", "bom-ref": name, name, version, licenses };
  const dependsOn = components.map((component) => component["bom-ref"]);
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component },
    components,
    dependencies: [{ ref: name, dependsOn }],
  };
  return JSON.stringify(bill, null, 2) + "\n";
}

type LockEntry = Readonly<Record<"version" | "integrity" | "license", string>>;

function library(name: string, { version, integrity, license }: LockEntry) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const licenses = [{ license: { id: license } }];
  const content = Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex");
  const hashes = [{ alg: "SHA-512", content }];
  return { type: "library", "bom-ref": purl, name, version, purl, licenses, hashes };
}

const [, program, runtime] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  const name = runtime === "worker" ? "worker" : "nodeface-deno";
  await bundle(runtime as Runtime, join(ROOT, `dist/${name}.js`));
}
