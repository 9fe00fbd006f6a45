import { suite } from "uvu";
import * as assert from "uvu/assert";
import { importedBy } from "../_imports.ts";
import { ROOT } from "../_paths.ts";

const start = suite("what a start reads");

/** What is large, and what most starts have no use for. */
const LATER: Readonly<Record<string, RegExp>> = {
  "YAML": /yaml/,
  "the kinds": /^src\/generated\/(kinds|interfaces)\b/,
  "the explorer's files": /^src\/generated\/(page|description|assets)\./,
};

const read = importedBy(ROOT, "src/main.ts");

for (const [what, path] of Object.entries(LATER)) {
  start(
    `the command reads ${what} when they are needed, not before its first response`,
    async () => {
      assert.equal([...await read].filter((name) => path.test(name)), []);
    },
  );
}

start.run();
