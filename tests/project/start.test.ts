import { suite } from "uvu";
import * as assert from "uvu/assert";
import { importedBy } from "../_imports.ts";
import { ROOT } from "../_paths.ts";

const start = suite("what a start reads");

/** What an answer about the service itself has no use for, and takes longer to read than all else. */
const LATER: Readonly<Record<string, RegExp>> = {
  "schemas": /^valibot$|-schemas?\.ts$|^src\/settings\/(kind|interface|node|info|openapi)\.ts$/,
  "YAML": /yaml/,
  "the kinds": /^src\/generated\/(kinds|interfaces)\b/,
  "what a node is asked with": /^src\/info\/(monitor|observe-node|query-|sources)/,
  "descriptions": /^src\/(description|openapi)\/(?!api-catalog\.ts$)/,
  "the explorer": /^src\/explorer\/(?!assets\.ts$)|^src\/generated\/(page|description|assets)\./,
  "other commands": /^src\/cli\/(check|kinds|usage|parse-configuration|kind-file)\.ts$/,
};

const read = importedBy(ROOT, "src/main.ts");

for (const [what, path] of Object.entries(LATER)) {
  start(`the command reads ${what} when they are needed, not before its first answer`, async () => {
    assert.equal([...await read].filter((name) => path.test(name)), []);
  });
}

start.run();
