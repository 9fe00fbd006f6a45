/** Bundles hosts, moves the bundles to a folder without the sources, and starts them there. */
import { transform } from "esbuild";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { BUN, ROOT } from "../_paths.ts";
import { makeFolder } from "../release/_folder.ts";
import { ok } from "../release/_package.ts";
import { OWN_PAGE } from "./_checks.ts";
import { type StartOptions, startProgram } from "./_start.ts";
import type { Started } from "./_suite.ts";

export interface Bundler {
  readonly name: string;
  readonly runtime: "node" | "bun";
  readonly packages?: readonly string[];
}

export const BUNDLERS: readonly Bundler[] = [
  { name: "esbuild, esm", runtime: "node" },
  { name: "esbuild, cjs", runtime: "node" },
  {
    name: "rollup",
    runtime: "node",
    packages: ["rollup", "@rollup/plugin-node-resolve", "@rollup/plugin-commonjs"],
  },
  { name: "vite, SSR", runtime: "node", packages: ["vite"] },
  { name: "webpack", runtime: "node", packages: ["webpack"] },
  { name: "ncc", runtime: "node", packages: ["@vercel/ncc"] },
  { name: "bun build, for Node", runtime: "node" },
  { name: "bun build, for Bun", runtime: "bun" },
];

/** @returns the folder with the bundle */
export async function bundleExample({ name }: Bundler, examples: string): Promise<string> {
  const source = join(examples, "javascript");
  mkdirSync(source, { recursive: true });
  for (const file of ["node-http", "nodeface"]) {
    const { code } = await transform(readFileSync(join(examples, `${file}.ts`), "utf8"), {
      loader: "ts",
    });
    const text = code.replaceAll("./nodeface.ts", "./nodeface.mjs");
    writeFileSync(join(source, `${file}.mjs`), text);
  }
  const folder = makeFolder();
  const program = join(ROOT, "tests/hosts/_bundlers.mjs");
  await ok([process.execPath, program, name, join(source, "node-http.mjs"), folder], folder);
  return folder;
}

export interface BundleOptions extends Omit<StartOptions, "folder"> {
  readonly hasNamesakes?: boolean;
}

/** Files of an application that have the same names as files of earlier Nodeface versions. */
const NAMESAKES = ["assets/manifest.json", "assets/spec.json", "spec.json", "package.json"]
  .flatMap((name) => [`dist/${name}`, `build/dist/${name}`, `build/${name}`])
  .concat("static/simple.html", "static/favicon.svg", "generated/page.js", "CHANGELOG.md");

export async function startBundle(
  { runtime }: Bundler,
  bundle: string,
  { hasNamesakes = false, ...options }: BundleOptions,
): Promise<Started & { stderr(): string }> {
  const home = makeFolder();
  const folder = join(home, "build");
  cpSync(bundle, folder, { recursive: true });
  if (hasNamesakes) {
    for (const name of NAMESAKES) {
      mkdirSync(join(home, name, ".."), { recursive: true });
      writeFileSync(join(home, name), '{ "version": "of the host" }');
    }
  }
  const file = readdirSync(folder).find((name) => /^(?:host|index)\.[cm]?js$/.test(name))!;
  const runs = runtime === "bun" ? [BUN] : [process.execPath];
  const started = await startProgram([...runs, join(folder, file)], { ...options, folder });
  return {
    base: started.url.replace(/\/$/, "") + options.prefix,
    own: OWN_PAGE,
    stop: started.stop,
    stderr: started.stderr,
  };
}
