/**
 * `npm run build:exe`: compiles the executable `dist/nodeface` with Bun. With `--all`, also
 * compiles an executable for each platform into `dist/executables/`, with images, Debian packages,
 * checksums, licences and a bill of materials.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundle } from "./bundle-for-runtime.ts";
import { writeDebianPackage } from "./debian.ts";
import { ARCHITECTURES, findLibraries, writeImage } from "./image.ts";
import { writeChecksums } from "./release.ts";
import { billOfMaterials, licensedBun, licenses, shippedPackages } from "./shipped-packages.ts";

export const TARGETS: readonly string[] = [
  ...["linux-x64", "linux-arm64", "linux-x64-musl", "linux-arm64-musl"],
  ...["macos-x64", "macos-arm64", "windows-x64"],
];

export const fileOf = (target: string): string =>
  `nodeface-${target}${target.startsWith("windows") ? ".exe" : ""}`;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ALL = join(ROOT, "dist/executables");

/** The executable must not read `.env` or `bunfig.toml` in the working directory. */
const FLAGS = [
  "--compile",
  "--bytecode",
  "--format=esm",
  "--splitting",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(process.argv.includes("--all")).catch((error: Error) => {
    console.error(`build:exe: ${error.message}`);
    process.exit(1);
  });
}

async function main(all: boolean) {
  // What is missing is told before minutes are spent on compiling.
  if (all) ARCHITECTURES.forEach(findLibraries);
  const installed = join(ROOT, "tests/runtimes/node_modules/bun/bin/bun.exe");
  const bun = existsSync(installed) ? installed : "bun";
  await mkdir(join(ROOT, "dist"), { recursive: true });
  const stage = await mkdtemp(join(ROOT, "dist/stage-"));
  try {
    const packages = await bundle("bun", join(stage, "main.js"));
    const compile = async (outfile: string, ...flags: string[]) => {
      const command = ["build", ...FLAGS, ...flags, "main.js", `--outfile=${outfile}`];
      await promisify(execFile)(bun, command, { cwd: stage, maxBuffer: 1e8 });
      const { size } = await stat(outfile);
      console.error(`${basename(outfile)}: ${Math.round(size / 1e6)} MB`);
    };
    await compile(join(ROOT, `dist/nodeface${process.platform === "win32" ? ".exe" : ""}`));
    // Executables of an earlier build must not be published.
    await rm(ALL, { recursive: true, force: true });
    if (!all) return;
    await mkdir(ALL, { recursive: true });
    for (const target of TARGETS) {
      const runtime = `--target=bun-${target.replace("macos", "darwin")}`;
      await compile(join(ALL, fileOf(target)), runtime);
    }
    const shipped = await shippedPackages(packages);
    const version = (await promisify(execFile)(bun, ["--version"])).stdout.trim();
    await writeFile(join(ALL, "nodeface.cdx.json"), await billOfMaterials(shipped, version));
    await writeFile(join(ALL, "LICENSES.txt"), licenses([await licensedBun(version), ...shipped]));
    await writeImages();
    await writeDebianPackages();
    writeChecksums(ALL);
  } finally {
    await rm(stage, { recursive: true });
  }
}

async function writeImages(): Promise<void> {
  const { version, license } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const labels = {
    "org.opencontainers.image.title": "Nodeface",
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.licenses": license,
    "org.opencontainers.image.description": "Gives any network node a REST face",
  };
  for (const architecture of ARCHITECTURES) {
    const program = join(ALL, fileOf(architecture.target));
    const image = await writeImage(architecture, program, join(ALL, "LICENSES.txt"), ALL, labels);
    console.error(`${basename(image)}: ${Math.round((await stat(image)).size / 1e6)} MB`);
  }
}

async function writeDebianPackages(): Promise<void> {
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const git = await promisify(execFile)("git", ["log", "-1", "--format=%cI"], { cwd: ROOT });
  for (const { name: architecture, target } of ARCHITECTURES) {
    const file = writeDebianPackage({
      version,
      architecture,
      program: join(ALL, fileOf(target)),
      licenses: await readFile(join(ALL, "LICENSES.txt"), "utf8"),
      license: await readFile(join(ROOT, "LICENSE"), "utf8"),
      units: join(ROOT, "deploy"),
      date: new Date(git.stdout.trim()),
      maintainer: process.env.DEBIAN_MAINTAINER || "Nodeface <maintainer@nodeface.invalid>",
    }, ALL);
    console.error(`${basename(file)}: ${Math.round((await stat(file)).size / 1e6)} MB`);
  }
}
