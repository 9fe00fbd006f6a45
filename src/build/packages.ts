/**
 * Finds the packages that the build reads: in `node_modules`, or in the cache of Deno, which makes no such folder.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Returns the path of a package's folder, with a slash at its end.
 *
 * @param name such as `yaml`
 * @throws {Error} if it is not installed
 */
export function packageFolder(name: string): string {
  for (let folder = new URL(".", import.meta.resolve(name)); folder.pathname !== "/";) {
    const file = new URL("package.json", folder);
    if (existsSync(file) && JSON.parse(readFileSync(file, "utf8")).name === name) {
      return fileURLToPath(folder);
    }
    folder = new URL("..", folder);
  }
  throw new Error(`"${name}" is not installed`);
}
