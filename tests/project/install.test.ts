import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";

const install = suite("installing");

const { engines } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
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
    // `package-lock.json` has no `engines` for `@scalar/api-reference`. Only browser files are
    // copied from that package, so the Node version that it requires does not matter.
    assert.ok(
      isFine,
      `${path} asks for Node ${engines?.node}; take "engines" out of the lock file`,
    );
  }
});

install.run();
