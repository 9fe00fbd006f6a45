/**
 * `npm run build:sea`: makes the executable `dist/nodeface-node` with Node's single executable
 * applications. It is larger and starts more slowly than Bun's.
 *
 * @module
 */
import { rm, writeFile } from "node:fs/promises";
import type { Plugin } from "esbuild";
import { basename, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundle } from "./bundle-for-runtime.ts";
import { findProgram, runProgram } from "./runtime-programs.ts";
import { makeStage } from "./stage.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const stage = await makeStage();

const assets: Record<string, string> = {};

/**
 * Embeds the explorer's files as assets. In the module itself, which Node parses as a whole, they delay
 * the first answer by 9 % (Node 26.10).
 */
const contentsBeside: Plugin = {
  name: "contents-beside",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]generated[\\/]assets[\\/]/ }, async ({ path }) => {
      const { FILES } = await import(pathToFileURL(path).href);
      const name = `${basename(path)}on`;
      assets[name] = join(stage, name);
      await writeFile(join(stage, name), JSON.stringify(FILES));
      const files = `JSON.parse(getAsset("${name}", "utf8"))`;
      return { contents: `import { getAsset } from "node:sea"; export const FILES = ${files};` };
    });
  },
};

try {
  // `node --build-sea` needs Node 25.5.
  const node = findProgram("node", "node26/bin/node");
  await bundle("node", join(stage, "main.mjs"), [contentsBeside]);
  const config = {
    // Node writes this path into the executable: that of the stage would make each one another.
    main: "main.mjs",
    mainFormat: "module",
    output: join(ROOT, `dist/nodeface-node${process.platform === "win32" ? ".exe" : ""}`),
    disableExperimentalSEAWarning: true,
    // esbuild comes by them in any order.
    assets: Object.fromEntries(Object.entries(assets).sort()),
  };
  await writeFile(join(stage, "sea.json"), JSON.stringify(config));
  await runProgram(node, [`--build-sea=${join(stage, "sea.json")}`], stage);
} catch (error) {
  console.error(`build:sea: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  await rm(stage, { recursive: true });
}
