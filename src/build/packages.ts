/**
 * Packages: where they are installed, the licences of those that are bundled, and the software bill of materials of an
 * executable, as CycloneDX 1.6. These list what a bundle contains, not everything that is installed.
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

interface LockEntry {
  version: string;
  integrity?: string;
  license?: string;
}

export async function billOfMaterials(
  packages: readonly string[],
  runtime: Readonly<Record<string, string>>,
): Promise<string> {
  const { name, version, license } = await read("package.json");
  const lock = await read("package-lock.json");
  const locked = [...packages, "node_modules/@scalar/api-reference"].map((folder) =>
    library(folder.slice(folder.lastIndexOf("node_modules/") + 13), lock.packages[folder])
  );
  const runtimes = Object.entries(runtime).map(([name, program]) => {
    const version = /[\d.]+/.exec(execFileSync(program, ["--version"], { encoding: "utf8" }))?.[0];
    return { type: "platform", "bom-ref": `${name}@${version}`, name, version };
  });
  const components = [...runtimes, ...locked];
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

function library(name: string, { version, integrity, license }: LockEntry) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const [, sum] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    ...(license && { licenses: [{ license: { id: license } }] }),
    ...(sum && {
      hashes: [{ alg: "SHA-512", content: Buffer.from(sum, "base64").toString("hex") }],
    }),
  };
}
