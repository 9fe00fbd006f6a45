/**
 * `npm run build:exe`: compiles the executable `dist/nodeface` with Bun. With `--all`, also one for each platform, in
 * `dist/executables/`, with checksums and a bill of materials.
 *
 * @module
 */
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundle } from "./bundle-for-runtime.ts";
import { billOfMaterials } from "./packages.ts";
import { writeChecksums } from "./release.ts";

export interface Target {
  /** The end of the executable's file name. */
  name: string;
  bun: string;
  /** `process.platform` (or `musl`) and `process.arch` of the machines that run it. */
  runsOn: string;
}

export const fileOf = ({ name }: Target): string => `nodeface-${name}`;

export const TARGETS: readonly Target[] = [
  { name: "linux-x64", bun: "bun-linux-x64", runsOn: "linux-x64" },
  { name: "linux-arm64", bun: "bun-linux-arm64", runsOn: "linux-arm64" },
  { name: "linux-x64-musl", bun: "bun-linux-x64-musl", runsOn: "musl-x64" },
  { name: "linux-arm64-musl", bun: "bun-linux-arm64-musl", runsOn: "musl-arm64" },
  { name: "macos-x64", bun: "bun-darwin-x64", runsOn: "darwin-x64" },
  { name: "macos-arm64", bun: "bun-darwin-arm64", runsOn: "darwin-arm64" },
  { name: "windows-x64.exe", bun: "bun-windows-x64", runsOn: "win32-x64" },
];

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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(process.argv.includes("--all")).catch((error: Error) => {
    console.error(`build:exe: ${error.message}`);
    process.exit(1);
  });
}

async function main(all: boolean) {
  const started = performance.now();
  const bun = findBun();
  await mkdir(join(ROOT, "dist"), { recursive: true });
  const stage = await mkdtemp(join(ROOT, "dist/stage-"));
  try {
    const packages = await bundle("bun", join(stage, "main.js"));
    const compile = async (outfile: string, ...flags: string[]) => {
      const since = performance.now();
      const command = ["build", ...FLAGS, ...flags, "main.js", `--outfile=${outfile}`];
      await promisify(execFile)(bun, command, { cwd: stage, maxBuffer: 1e8 });
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
    writeChecksums(ALL);
    console.error(`All of them, checksums and bill of materials: ${seconds(started)}`);
  } finally {
    await rm(stage, { recursive: true });
  }
}

function findBun(): string {
  const program = join(ROOT, "tests/node_modules/bun/bin/bun.exe");
  if (existsSync(program)) return program;
  if (spawnSync("bun", ["--version"], { stdio: "ignore" }).status === 0) return "bun";
  throw new Error('bun is not installed; "node tests/setup.mjs" installs it');
}
