import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";
import { NOT_TRIED } from "./_manual.ts";

const pages = suite("the documents of this project");

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
  pages(`every npm script that ${page} names exists`, () => {
    for (const [, name] of text(page).matchAll(/\bnpm run ([\w:]+)/g)) {
      assert.ok(name! in scripts, name);
    }
  });

  pages(`every file and heading to which ${page} links exists`, () => {
    for (const [, target] of text(page).matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      const [path, heading] = target!.split("#");
      const there = path ? join(dirname(page), path) : page;
      assert.ok(existsSync(join(ROOT, there)), target);
      if (heading) assert.ok(headings(there).includes(heading), target);
    }
  });
}

function headings(page: string): string[] {
  const found = [...text(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!);
  return found.map((heading) =>
    heading.toLowerCase().replaceAll(/[^\w -]/g, "").replaceAll(" ", "-")
  );
}

/** What is made, code blocks, HTML comments, rules and table bars do not count as words. */
function wordsOf(page: string): number {
  const prose = text(page).replaceAll(/<!-- make [^]*?<!-- made -->/g, "")
    .replaceAll(/^( *)```[^]*?^\1```$/gm, "").replaceAll(/<!--[^]*?-->/g, "");
  return prose.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;
}

const MANUAL = PAGES.filter((page) => page.startsWith("docs/"));

pages("no document exceeds its word limit", () => {
  const counts = new Map(PAGES.map((page) => [page, wordsOf(page)]));
  const assertAtMost = (words: number, limit: number, page: string) =>
    assert.ok(words <= limit, `${page} has ${words} words, but at most ${limit} are allowed`);
  assertAtMost(counts.get("README.md")!, 900, "README.md");
  assertAtMost(counts.get("ARCHITECTURE.md")!, 2350, "ARCHITECTURE.md");
  for (const page of MANUAL) assertAtMost(counts.get(page)!, 1100, page);
  const all = MANUAL.reduce((sum, page) => sum + counts.get(page)!, 0);
  assertAtMost(all, 12_500, "the manual");
});

pages("README.md has the commands that start the demo and the tests in a fresh clone", () => {
  for (const command of ["npm ci && npm run demo", "npm ci && npm test"]) {
    assert.ok(text("README.md").includes(`\`\`\`sh\n${command}\n\`\`\``), command);
  }
});

pages("the manual's table of contents has every page", () => {
  const contents = text("docs/README.md");
  for (const page of MANUAL.filter((page) => page !== "docs/README.md")) {
    assert.ok(contents.includes(`(${page.slice("docs/".length)}`), page);
  }
});

pages("every file and every build step that ARCHITECTURE.md names exists", () => {
  const page = text("ARCHITECTURE.md");
  const blocks = [...page.matchAll(/^```(.*)\n([^]*?)^```$/gm)]
    .flatMap(([, language, block]) => language === "" ? [block!] : []);
  const steps = blocks.flatMap((block) => block.trim().split(/(?:^|\n)[a-z]+:\s+|\s*→\s*/))
    .filter((step) => step !== "");
  assert.ok(steps.length > 30, "the steps were not found");
  for (const step of steps) assert.ok(existsSync(join(ROOT, `src/${step}.ts`)), step);
  const prose = page.replaceAll(/^```.*\n[^]*?^```$/gm, "");
  const named = [
    ...prose.matchAll(/`([\w./-]+\.(?:ts|mjs|js|yaml|html|md|json)|(?!\/)[\w./-]+\/)`/g),
  ]
    .map(([, path]) => path!);
  assert.ok(named.length > 25, "the files were not found");
  for (const path of named) assert.ok(existsSync(join(ROOT, path)), path);
});

pages("a page says in the words that the manual's tests know what they do not run", () => {
  for (const page of MANUAL) {
    const paragraphs = text(page).split("\n\n");
    const excluding = paragraphs.filter((paragraph) => /manual's\s+tests/.test(paragraph));
    for (const paragraph of excluding) assert.match(paragraph, NOT_TRIED, page);
  }
});

pages("each version in CHANGELOG.md has the types of change in the usual order", () => {
  const kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
  const [, ...versions] = text("CHANGELOG.md").split(/^## /m);
  for (const version of versions) {
    assert.match(version, /^\d+\.\d+\.\d+ - (?:unreleased|\d{4}-\d{2}-\d{2})\n/);
    const found = [...version.matchAll(/^### (.+)$/gm)].map(([, kind]) => kind!);
    assert.equal(found, kinds.filter((kind) => found.includes(kind)), version.slice(0, 5));
  }
});

pages.run();
