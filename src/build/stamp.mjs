/**
 * Tells whether the modules in `src/generated/` are made of the current sources.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = ["package.json", "package-lock.json", "spec", "src", "static"];
const PACKAGES = ["@scalar/api-reference", "esbuild", "yaml"];
const stampIn = (root) => join(root, "src/generated/stamp.js");

/** Must be called when all modules have been written. */
export function writeStamp(stamp, root = ROOT) {
  if (isCurrent(root, stamp)) return;
  writeFileSync(stampIn(root), `// The sources of the modules in this folder: ${stamp}\n`);
}

export function isCurrent(root = ROOT, stamp = stampOf(root)) {
  try {
    return readFileSync(stampIn(root), "utf8").includes(`: ${stamp}\n`);
  } catch {
    return false;
  }
}

/** A digest of the times and sizes of all sources, and of the commit, which the modules contain. */
export function stampOf(root = ROOT) {
  const sum = createHash("sha256").update(commitOf(root));
  for (const path of SOURCES) addStats(sum, root, path);
  for (const name of PACKAGES) addStats(sum, root, `node_modules/${name}/package.json`);
  return sum.digest("hex");
}

function addStats(sum, root, path) {
  if (path === "src/generated") return;
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (!stats?.isDirectory()) sum.update(`${path}\0${stats?.size}\0${stats?.mtimeMs}\0`);
  else {for (const name of readdirSync(join(root, path)).sort()) {
      addStats(sum, root, `${path}/${name}`);
    }}
}

function commitOf(root) {
  try {
    const options = { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
    return execFileSync("git", ["rev-parse", "HEAD"], options);
  } catch {
    return "";
  }
}
