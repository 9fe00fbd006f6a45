/**
 * The folders of packages, the licences of bundled ones, and the software bill of materials of an executable (CycloneDX
 * 1.6).
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { execFileSync } from "node:child_process";

/** Returns the path of a package's folder, with a slash at its end; throws where it is not installed. */
export function packageFolder(name: string): string {
  for (let folder = new URL(".", import.meta.resolve(name)); folder.pathname !== "/";) {
    const file = new URL("package.json", folder);
    if (existsSync(file) && JSON.parse(readFileSync(file, "utf8")).name === name) {
      return fileURLToPath(folder);
    }
    folder = new URL("..", folder);
  }
  throw new Error(`"${name}" is not installed`);
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const read = async (path: string) => JSON.parse(await readFile(join(ROOT, path), "utf8"));

export async function licenses(folders: readonly string[]): Promise<string> {
  const parts = await Promise.all(folders.map(async (folder) => {
    const { name, version, license } = await read(join(folder, "package.json"));
    const files = (await readdir(join(ROOT, folder))).filter((file) => /^licen[cs]e/i.test(file));
    const texts = await Promise.all(
      files.map((file) => readFile(join(ROOT, folder, file), "utf8")),
    );
    return `${name} ${version} (${license})\n\n${texts.join("\n").trim()}\n`;
  }));
  return parts.join(`\n${"-".repeat(72)}\n\n`);
}

/**
 * @param packages the folders of the bundled packages
 * @param bun the program of Bun, which the executable includes
 */
export async function billOfMaterials(packages: readonly string[], bun: string): Promise<string> {
  const { name, version, license } = await read("package.json");
  const lock = await read("package-lock.json");
  const locked = [...packages, "node_modules/@scalar/api-reference"].map((folder) =>
    library(folder.slice(folder.lastIndexOf("node_modules/") + 13), lock.packages[folder])
  );
  const bunVersion = execFileSync(bun, ["--version"], { encoding: "utf8" }).trim();
  const runtime = {
    type: "platform",
    "bom-ref": `bun@${bunVersion}`,
    name: "bun",
    version: bunVersion,
  };
  const components = [runtime, ...locked];
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": "nodeface",
        name,
        version,
        licenses: [{ license: { id: license } }],
      },
    },
    components,
    dependencies: [
      { ref: "nodeface", dependsOn: components.map((component) => component["bom-ref"]) },
    ],
  };
  return JSON.stringify(bill, null, 2) + "\n";
}

type LockEntry = Readonly<Record<"version" | "integrity" | "license", string>>;

function library(name: string, { version, integrity, license }: LockEntry) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const sum = Buffer.from(integrity.slice("sha512-".length), "base64");
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    licenses: [{ license: { id: license } }],
    hashes: [{ alg: "SHA-512", content: sum.toString("hex") }],
  };
}
