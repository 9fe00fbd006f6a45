import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { importedBy } from "../_imports.ts";
import { ROOT } from "../_paths.ts";

const tree = suite("the source tree");

/** Each room may import from itself and from the rooms named here: imports point one way. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  "main.ts": [
    "adapters",
    "app.ts",
    "command",
    "config",
    "description",
    "explorer",
    "info",
    "kinds",
    "once.ts",
    "platform.ts",
  ],
  "index.ts": [
    "app.ts",
    "options.ts",
    "description",
    "http",
    "once.ts",
    "info",
    "kinds",
    "platform.ts",
  ],
  "app.ts": ["options.ts", "prepare.ts", "http", "once.ts", "platform.ts"],
  "prepare.ts": [
    "options.ts",
    "explorer",
    "description",
    "info",
    "kinds",
    "http",
    "once.ts",
    "platform.ts",
  ],
  "options.ts": ["description", "info", "http", "platform.ts"],
  "once.ts": [],
  "platform.ts": [],
  "json.ts": [],
  command: ["adapters", "app.ts", "info", "kinds", "http", "json.ts", "once.ts"],
  config: ["info", "kinds", "http"],
  adapters: ["app.ts", "http", "once.ts"],
  explorer: ["http", "once.ts", "platform.ts"],
  description: ["http", "json.ts", "once.ts", "platform.ts"],
  info: ["kinds", "http", "json.ts", "once.ts", "platform.ts"],
  kinds: [],
  http: ["platform.ts"],
  build: ["main.ts", "adapters", "config", "explorer", "http", "platform.ts"],
};

/** What may touch a runtime's own API; everything else runs wherever the web's standards do. */
const NOT_PORTABLE =
  /^(main|platform)\.ts$|^(adapters|build)\/|^config\/file|^info\/sources\/(file|command)\.ts$/;

/** A kind is data, and begins with where it was read. */
const KIND = /^kinds\/(?!kind\.ts|index\.ts)/;

const SRC = join(ROOT, "src");
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replaceAll("\\", "/"));
const text = (file: string) => readFileSync(join(SRC, file), "utf8");
const imports = (file: string) =>
  [...text(file).matchAll(/(?:from |import\(|import )"([^"]+)"/g)].map(([, name]) => name!);

for (const file of files) {
  tree(`${file} imports only from the rooms below it`, () => {
    const room = roomOf(file);
    for (const name of imports(file).filter((name) => name.startsWith("."))) {
      const imported = roomOf(relative(SRC, join(SRC, dirname(file), name)).replaceAll("\\", "/"));
      assert.ok(imported === room || ROOMS[room]?.includes(imported), `${file} imports ${name}`);
    }
  });

  tree(`${file} says what it is for, and is short`, () => {
    const lines = text(file).split("\n");
    const head = KIND.test(file) ? /^\/\/ Read from / : /^(#!.*\n)?\/\*\*[^]*?@module\n \*\/\n/;
    assert.match(text(file), head);
    assert.ok(lines.length <= 250, `${file} has ${lines.length} lines`);
  });

  if (NOT_PORTABLE.test(file)) continue;
  tree(`${file} uses web standards only`, () => {
    const code = text(file).replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "");
    assert.not.match(code, /\b(Deno|Bun|process|Buffer)\b|"node:/);
  });
}

tree("itty-router is imported in one place", () => {
  assert.equal(files.filter((file) => imports(file).includes("itty-router")), ["app.ts"]);
});

tree("what only some are in need of is not read when a service starts", async () => {
  const read = await importedBy(SRC, "main.ts");
  const late = [
    "adapters/node.ts",
    "config/file.ts",
    "description/load.ts",
    "description/write.ts",
    "explorer/page.ts",
    "info/ask.ts",
    "info/info.ts",
    "info/recognise.ts",
    "info/sources/file.ts",
    "kinds/index.ts",
  ];
  assert.ok(read.has("http/respond.ts"));
  assert.equal(late.filter((file) => read.has(file)), []);
});

function roomOf(file: string): string {
  return file.split("/")[0]!;
}

tree.run();
