import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";

const tree = suite("the source tree");

/**
 * The layers, the lowest first: a file imports from its own folder and from layers below it. Folders
 * of one layer do not import from one another.
 */
const LAYERS: readonly (readonly string[])[] = [
  [
    ...[
      "untrusted-text.ts",
      "percent-decode.ts",
      "bytes.ts",
      "nearest.ts",
      "with-timeout.ts",
      "closeable.ts",
    ],
    "expand-path.ts",
  ],
  ["platform.ts", "lazy.ts", "run-one-at-a-time.ts", "json", "kinds"],
  ["http1-client", "file-access.ts"],
  ["call-out-for-gateway.ts"],
  ["http"],
  ["generated"],
  ["openapi", "info"],
  ["log.ts"],
  ["gateway"],
  ["explorer", "metrics"],
  ["description"],
  ["settings"],
  ["host-operations"],
  ["options.ts"],
  ["options-schema.ts"],
  ["resources"],
  ["app.ts"],
  ["create-nodeface.ts"],
  ["adapters", "index.ts", "not-in-browsers.ts"],
  ["cli"],
  ["main.ts"],
  ["build"],
];

/** What may touch a runtime's own API; everything else uses web standards only. */
const NOT_PORTABLE =
  /^(main|platform|call-out-for-gateway|file-access)\.ts$|^(adapters|build|http1-client|cli)\//;

/** No file is longer: STYLE asks for one subject, and two or three screens. */
const LINES_MAX = 500;

const SRC = join(ROOT, "src");
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replaceAll("\\", "/"));
const text = (file: string) => readFileSync(join(SRC, file), "utf8");
const imports = (file: string) =>
  [...text(file).matchAll(/(?:from |import\(|import )"([^"]+)"/g)].map(([, name]) => name!);
const roomOf = (file: string): string => file.split("/")[0]!;
const layerOf = (file: string) => LAYERS.findIndex((rooms) => rooms.includes(roomOf(file)));

tree("every file has a layer, and imports only from its own folder and from below", () => {
  for (const file of files) {
    const layer = layerOf(file);
    assert.ok(layer >= 0, `${file} is in no layer`);
    for (const name of imports(file).filter((name) => name.startsWith("."))) {
      const imported = relative(SRC, join(SRC, dirname(file), name)).replaceAll("\\", "/");
      const isOwn = roomOf(imported) === roomOf(file);
      assert.ok(isOwn || layerOf(imported) < layer, `${file} imports ${name}`);
    }
  }
});

tree("below the adapters there are web standards only", () => {
  for (const file of files.filter((file) => !NOT_PORTABLE.test(file))) {
    const code = text(file).replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "");
    assert.not.match(code, /\b(Deno|Bun|process|Buffer)\b|"node:/, file);
  }
});

tree("every file says at its head what it is for, and is short", () => {
  for (const file of files) {
    assert.match(text(file), /^(#!.*\n)?\/\*\*[^]*?@module\n \*\/\n/, file);
    const lines = text(file).split("\n").length;
    assert.ok(lines <= LINES_MAX, `${file} has ${lines} lines`);
  }
});

tree("itty-router is imported in one place", () => {
  const users = files.filter((file) => imports(file).includes("itty-router"));
  assert.equal(users, ["app.ts"]);
});

tree.run();
