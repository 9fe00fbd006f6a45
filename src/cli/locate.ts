/**
 * Where paths lead that a configuration file names.
 *
 * @module
 */
import { dirname, isAbsolute, join } from "node:path";
import { expandHome } from "./arguments.ts";

/**
 * A path of a configuration file, as the process sees it: relative to that file, wherever the command
 * runs. A URL, and the word `none`, stay what they are.
 */
export function locateBeside(path: string, file: string, home: string): string {
  if (path === "none" || /^(https?|file):/i.test(path)) return path;
  const expanded = expandHome(path, home);
  return isAbsolute(expanded) || path.startsWith("~/") ? expanded : join(dirname(file), expanded);
}
