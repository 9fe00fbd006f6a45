import { readdirSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { importedBy } from "../_imports.ts";
import { ROOT } from "../_paths.ts";

const start = suite("what a start reads");

/** What an answer about the service itself has no use for: the beginnings of names of packages and files. */
const LATER: Readonly<Record<string, readonly string[]>> = {
  "schemas": [
    ...["valibot", "src/options-schema.ts", "src/settings/schema-builders.ts"],
    ...["src/settings/text-schemas.ts", "src/settings/kind.ts", "src/settings/node-schema.ts"],
    ...["src/settings/info-schema.ts", "src/settings/kind-interface"],
  ],
  "YAML": ["yaml", "src/cli/parse-yaml.ts", "src/openapi/read-yaml.ts"],
  "the kinds": ["src/generated/kinds.", "src/generated/interfaces"],
  "what a node is asked with": [
    ...["src/info/info-monitor.ts", "src/info/observe-node.ts", "src/info/query-"],
    "src/info/sources/",
  ],
  "descriptions": [
    ...["src/description/", "src/openapi/load.ts", "src/openapi/parse.ts"],
    "src/openapi/bundle.ts",
  ],
  "the explorer": [
    ...["src/explorer/page.ts", "src/explorer/read-", "src/explorer/render-"],
    ...["src/generated/page.", "src/generated/description", "src/generated/assets."],
  ],
  "other commands": [
    ...["src/cli/check", "src/cli/kinds.ts", "src/cli/usage.ts", "src/cli/kind-file.ts"],
    "src/cli/parse-configuration.ts",
  ],
};

const files = [
  ...readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" })
    .map((file) => `src/${file.replaceAll("\\", "/")}`),
  ...readdirSync(`${ROOT}node_modules`),
];
const read = importedBy(ROOT, "src/main.ts");

for (const [what, paths] of Object.entries(LATER)) {
  start(`the command reads ${what} when they are needed, not before its first answer`, async () => {
    for (const path of paths) {
      assert.ok(files.some((file) => file.startsWith(path)), `there is no ${path}`);
      assert.equal([...await read].filter((imported) => imported.startsWith(path)), []);
    }
  });
}

start.run();
