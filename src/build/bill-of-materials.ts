/**
 * The software bill of materials of an executable, as CycloneDX 1.6. It lists what the bundle contains,
 * not everything that is installed.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";

const read = async (path: string) =>
  JSON.parse(await readFile(new URL(`../../${path}`, import.meta.url), "utf8"));

interface LockEntry {
  version: string;
  integrity?: string;
  license?: string;
}

/**
 * Makes the bill of materials.
 *
 * @param packages the folders of the bundled packages, such as `node_modules/yaml`
 * @param runtime the program of the bundled runtime, by its name
 * @returns a CycloneDX document as text
 */
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
