/**
 * `npm run build:sea`: the executable as Node makes it, `dist/nodeface-node`, for those who trust
 * Node more than Bun. It is larger and starts later than `dist/nodeface`.
 *
 * @module
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";
import { embeddedPaths } from "./embed.ts";
import { findProgram, runProgram } from "./run-program.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const stage = await mkdtemp(join(ROOT, "dist/stage-"));
try {
  // The first release that can: `node --build-sea` came with 25.5.
  const node = findProgram("node", "node26/bin/node");
  await bundle({ runtime: "node", carrier: "sea" }, join(stage, "main.mjs"));
  const paths = await embeddedPaths();
  const config = {
    main: join(stage, "main.mjs"),
    mainFormat: "module",
    output: join(ROOT, `dist/nodeface-node${process.platform === "win32" ? ".exe" : ""}`),
    disableExperimentalSEAWarning: true,
    assets: Object.fromEntries(paths.map((path) => [path, join(ROOT, path)])),
  };
  await writeFile(join(stage, "sea.json"), JSON.stringify(config));
  await runProgram(node, [`--build-sea=${join(stage, "sea.json")}`], stage);
} catch (error) {
  console.error(`build:sea: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  await rm(stage, { recursive: true });
}
