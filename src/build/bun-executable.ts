/**
 * `npm run build:exe`: compiles the executable `dist/nodeface` with Bun. With `--all`, also one for each
 * platform of `executable-targets.ts`, in `dist/executables/`, with checksums and a bill of materials.
 *
 * @module
 */
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle-for-runtime.ts";
import { findProgram, runProgram } from "./runtime-programs.ts";
import { makeStage } from "./stage.ts";
import { billOfMaterials } from "./bill-of-materials.ts";
import { writeChecksums } from "./checksums.ts";
import { fileOf, TARGETS } from "./executable-targets.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ALL = join(ROOT, "dist/executables");

const SUFFIX = process.platform === "win32" ? ".exe" : "";

/** The executable must not read `.env` and `bunfig.toml` of the working directory. */
const FLAGS = [
  "--compile",
  "--bytecode",
  "--format=esm",
  "--splitting",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];

const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

try {
  await main(process.argv.includes("--all"));
} catch (error) {
  console.error(`build:exe: ${(error as Error).message}`);
  process.exit(1);
}

async function main(all: boolean) {
  const started = performance.now();
  const bun = findProgram("bun", "bun/bin/bun.exe");
  const stage = await makeStage();
  try {
    const packages = await bundle("bun", join(stage, "main.js"));
    const compile = async (outfile: string, ...flags: string[]) => {
      const since = performance.now();
      const command = ["build", ...FLAGS, ...flags, "main.js", `--outfile=${outfile}`];
      await runProgram(bun, command, stage);
      const { size } = await stat(outfile);
      console.error(`${basename(outfile)}: ${Math.round(size / 1e6)} MB, ${seconds(since)}`);
    };
    await compile(join(ROOT, "dist", `nodeface${SUFFIX}`));
    // Executables of an earlier build must not be published.
    await rm(ALL, { recursive: true, force: true });
    if (!all) return;
    await mkdir(ALL, { recursive: true });
    for (const [i, target] of TARGETS.entries()) {
      // Bun downloads the runtimes of other platforms from the npm registry.
      process.stderr.write(`${i + 1} of ${TARGETS.length}: `);
      await compile(join(ALL, fileOf(target)), `--target=${target.bun}`);
    }
    const bill = await billOfMaterials(packages, { bun });
    await writeFile(join(ALL, "nodeface.cdx.json"), bill);
    await writeChecksums(ALL);
    console.error(`All of them, checksums and bill of materials: ${seconds(started)}`);
  } finally {
    await rm(stage, { recursive: true });
  }
}
