import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";

const pages = suite("the pages of this project");

const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
  "examples/README.md",
];
const text = (page: string) => readFileSync(join(ROOT, page), "utf8");
const { scripts } = JSON.parse(text("package.json")) as {
  scripts: Record<string, string>;
};

for (const page of PAGES) {
  pages(`every script that ${page} names is there`, () => {
    for (const [, name] of text(page).matchAll(/\bnpm run ([\w:]+)/g)) {
      assert.ok(name! in scripts, name);
    }
  });

  pages(`every file and every heading that ${page} leads to is there`, () => {
    for (const [, target] of text(page).matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      const [path, heading] = target!.split("#");
      const there = path ? join(dirname(page), path) : page;
      assert.ok(existsSync(join(ROOT, there)), target);
      if (heading) assert.ok(headings(there).includes(heading), target);
    }
  });
}

/** The names under which the headings of a page can be led to. */
function headings(page: string): string[] {
  const found = [...text(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!);
  return found.map((heading) =>
    heading.toLowerCase().replaceAll(/[^\w -]/g, "").replaceAll(" ", "-")
  );
}

pages.run();
