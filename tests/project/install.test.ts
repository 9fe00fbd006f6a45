import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";

const install = suite("installing");

const { engines, devDependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, "utf8"));

/** The range must not contain `||`. */
const lowest = (range: string) => range.match(/\d+/g)!.map(Number);

function isAbove(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((number, i) => number !== (b[i] ?? 0));
  return at >= 0 && a[at]! > (b[at] ?? 0);
}

install("no dependency requires a newer Node than Nodeface does, since npm would warn", () => {
  const own = lowest(engines.node);
  for (const [path, { engines }] of Object.entries<{ engines?: { node?: string } }>(packages)) {
    const ranges = engines?.node?.split("||") ?? [];
    const isFine = ranges.length === 0 || ranges.some((range) => !isAbove(lowest(range), own));
    assert.ok(isFine, `${path} asks for Node ${engines?.node}`);
  }
});

install("Scalar is installed alone, since its bundled files contain all that it depends on", () => {
  const { engines, dependencies, ...scalar } = packages["node_modules/@scalar/api-reference"];
  assert.is(scalar.version, devDependencies["@scalar/api-reference"]);
  assert.match(scalar.integrity, /^sha512-/);
  // Only browser files are read from the package, so it may ask for any version of Node.
  assert.is(engines, undefined, 'take "engines" out of the lock file');
  assert.is(dependencies, undefined, 'take "dependencies" out of the lock file');
  assert.not.ok("node_modules/vue" in packages);
});

install("every package is installed under its own name", () => {
  for (const [path, { name }] of Object.entries<{ name?: string }>(packages)) {
    if (path !== "") assert.is(name, undefined, `${path} is ${name}`);
  }
});

install.run();
