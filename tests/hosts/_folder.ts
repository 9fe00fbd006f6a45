/**
 * Copies the examples into a user's project in which Nodeface and the server packages are
 * installed.
 */
import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../_paths.ts";

export const PACKAGES: string = `${ROOT}tests/hosts/node_modules`;

/** The reason to skip tests that need `PACKAGES`, or `undefined` if the packages are installed. */
export const NOT_INSTALLED: string | undefined = existsSync(`${PACKAGES}/.installed`)
  ? undefined
  : "needs node tests/hosts/setup.mjs";

export function copyExamples(project: string): string {
  const folder = join(project, "examples");
  if (existsSync(folder)) return folder;
  cpSync(`${ROOT}examples`, folder, { recursive: true });
  // The examples find Nodeface itself in the `node_modules` of the parent folder.
  if (existsSync(PACKAGES)) symlinkSync(PACKAGES, join(folder, "node_modules"), "junction");
  return folder;
}

export function withVersion(name: string): string | undefined {
  const file = join(PACKAGES, name, "package.json");
  if (!existsSync(file)) return undefined;
  return `${name} ${JSON.parse(readFileSync(file, "utf8")).version}`;
}
