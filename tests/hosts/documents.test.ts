import { readdirSync, readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";
import { EXAMPLES } from "./_examples.ts";

const documents = suite("the examples and their page");

const text = (path: string) => readFileSync(`${ROOT}${path}`, "utf8");

const PAGES = ["docs/embedding.md", "docs/embedding-node.md", "docs/embedding-fetch.md"];

const FILES = [...new Set(["nodeface.ts", ...EXAMPLES.map(({ file }) => file)])];

documents("every example has an entry in the table of examples", () => {
  const files = readdirSync(`${ROOT}examples`).filter((name) => /\.m?[jt]s$/.test(name));
  assert.equal(files.sort(), [...FILES].sort());
});

for (const file of FILES) {
  documents(`the manual shows ${file} unchanged`, () => {
    const shown = PAGES.flatMap((page) => [...text(page).matchAll(/^```ts\n([^]*?)^```/gm)]);
    assert.ok(shown.some(([, code]) => code === text(`examples/${file}`)), file);
  });

  documents(`examples/README.md names ${file}`, () => {
    assert.match(text("examples/README.md"), `(${file})`);
  });
}

documents.run();
