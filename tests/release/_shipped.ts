/**
 * Names the packages whose code is shipped, by what source maps say, and those that `LICENSES.txt`
 * lists.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { ROOT } from "../_paths.ts";

const SCALAR = "@scalar/api-reference";
const BROWSER_BUILD = `node_modules/${SCALAR}/dist/browser`;
const SERVED = /^(?:chunks\/|standalone\.esm).*\.map$/;
const PACKAGE = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** The packages in Scalar's browser build, and Scalar itself. */
export function packagesInScalar(): Set<string> {
  const names = new Set([SCALAR]);
  for (const [file, sources] of mapsIn(join(ROOT, BROWSER_BUILD))) {
    if (!SERVED.test(file)) continue;
    for (const source of sources) {
      // Its folder in Scalar's repository.
      const place = posix.join("packages/api-reference/dist/browser", posix.dirname(file), source);
      const own = /^packages\/([^/]+)\//.exec(place)?.[1];
      const name = PACKAGE.exec(source)?.[1] ?? (own && `@scalar/${own}`);
      if (name) names.add(name);
    }
  }
  return names;
}

/** The packages in modules that esbuild has bundled. */
export function packagesIn(folder: string): Set<string> {
  const sources = mapsIn(folder).flatMap(([, sources]) => sources);
  return new Set(sources.flatMap((source) => PACKAGE.exec(source)?.[1] ?? []));
}

const mapsIn = (folder: string): (readonly [file: string, sources: readonly string[]])[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".map"))
    .map((file) => [file, JSON.parse(readFileSync(join(folder, file), "utf8")).sources]);

/** The packages of `LICENSES.txt`, as `name version`. */
export const licensedIn = (text: string): string[] =>
  [...text.matchAll(/^(\S+) (\d\S*) \(.+\)$/gm)].map(([, name, version]) => `${name} ${version}`);

/** The names that are in one of both alone. */
export function unlike(shipped: ReadonlySet<string>, listed: readonly string[]): string[] {
  const names = new Set(listed.map((entry) => entry.split(" ")[0]!));
  return [...shipped].filter((name) => !names.has(name))
    .concat([...names].filter((name) => !shipped.has(name))).sort();
}
