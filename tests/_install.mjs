// Installs the packages that a lock file pins, unless they are installed already.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";

/**
 * Installs the packages of a folder's `package-lock.json`, unless they are installed already.
 *
 * @param folder its path, with a trailing slash
 * @param message printed before a long installation
 * @param flags further flags of `npm ci`
 */
export function install(folder, message, ...flags) {
  once(`${folder}package-lock.json`, `${folder}node_modules/.installed`, () => {
    console.error(message);
    run("npm", ["ci", ...flags, "--no-audit", "--no-fund", "--loglevel=error"], folder);
  });
}

/**
 * Does some work, unless its source has not changed since the work was last done.
 *
 * @param source the file on which the result of the work depends
 * @param stamp the file that stores the digest of that source
 */
export function once(source, stamp, work) {
  const wanted = createHash("sha256").update(readFileSync(source)).digest("hex");
  if (read(stamp) === wanted) return;
  work();
  writeFileSync(stamp, wanted);
}

/**
 * Runs a program; ends this process if that fails.
 *
 * @returns its standard output
 */
export function run(program, args, cwd) {
  const { status, stdout } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
  return stdout;
}

function read(stamp) {
  try {
    return readFileSync(stamp, "utf8");
  } catch {
    return undefined;
  }
}
