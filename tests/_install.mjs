// Installs the packages that a lock file pins, unless they are installed already.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";

/**
 * @param folder the folder of the lock file, with a trailing slash
 * @param message the message to print before an installation
 * @param flags additional flags for `npm ci`
 */
export function install(folder, message, ...flags) {
  once(`${folder}package-lock.json`, `${folder}node_modules/.installed`, () => {
    console.error(message);
    run("npm", ["ci", ...flags, "--no-audit", "--no-fund", "--loglevel=error"], folder);
  });
}

/**
 * Runs `work` if its source file has changed since the last run.
 *
 * @param source the file that the result depends on
 * @param stamp the file that stores the digest of the source
 */
export function once(source, stamp, work) {
  const wanted = createHash("sha256").update(readFileSync(source)).digest("hex");
  if (read(stamp) === wanted) return;
  work();
  writeFileSync(stamp, wanted);
}

/**
 * Runs a program, and ends this process if the program fails.
 *
 * @returns the program's standard output
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
