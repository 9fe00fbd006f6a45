import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";

const surface = suite("the exports of the library");

const MODULES = ["index.ts", "adapters/node.ts", "adapters/deno.ts", "adapters/bun.ts"];
const NAMES_MAX = 60;

interface Exported {
  readonly name: string;
  /** The comment before the declaration. */
  readonly comment: string;
}

function exportsOf(module: string): Exported[] {
  const file = join(ROOT, "src", module);
  const text = readFileSync(file, "utf8");
  const again = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)";/gm)];
  const passedOn = again.flatMap(([, names, path]) =>
    names!.split(",").map((name) => name.trim()).filter(Boolean).map((name) => {
      const [own = name, other = name] = name.split(" as ");
      return { name: other, comment: commentOn(own, join(dirname(file), path!)) };
    })
  );
  const declared = [...text.matchAll(/^export (?:async )?(?:function|type|interface) (\w+)/gm)];
  return [
    ...passedOn,
    ...declared.map(([, name]) => ({
      name: name!,
      comment: commentOn(name!, file),
    })),
  ];
}

function commentOn(name: string, file: string): string {
  const text = readFileSync(file, "utf8");
  const kinds = "(?:async )?(?:function|const|type|interface)";
  const declaration = new RegExp(`^export ${kinds} ${name}\\b`, "m").exec(text);
  assert.ok(declaration, `${file} does not declare ${name}`);
  const before = text.slice(0, declaration.index).replace(/^\/\/.*\n$/m, "");
  return /\/\*\*(?:[^*]|\*(?!\/))*\*\/\s*(?:\/\/.*\s*)?$/.exec(before)?.[0] ?? "";
}

const all = MODULES.flatMap(exportsOf);
const names = [...new Set(all.map(({ name }) => name))];

surface(`at most ${NAMES_MAX} names are exported`, () => {
  assert.ok(names.length <= NAMES_MAX, names.join(", "));
});

surface("every export has a comment with an example or a link", () => {
  const without = all.filter(({ comment }) => !/@example|\{@link|\]\(/.test(comment));
  assert.equal(without.map(({ name }) => name), []);
});

surface("the manual has every export", () => {
  const folder = join(ROOT, "docs");
  const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));
  const manual = pages.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  assert.equal(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(manual)), []);
});

surface.run();
