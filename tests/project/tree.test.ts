import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import typescript from "typescript";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";

const tree = suite("the source tree");

/**
 * The layers, beginning with the lowest. Each layer is a list of rows of files and folders. A file
 * may import from its own folder and from earlier rows. The files and folders of a row must not
 * import from each other.
 */
const LAYERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  json: [
    [
      ...["abort-signal.ts", "bytes.ts", "closeable.ts", "decode.ts", "listeners.ts", "nearest.ts"],
      ...["run-id.ts", "throughput.ts", "units.ts", "untrusted-text.ts", "with-timeout.ts"],
    ],
    ["file-queue.ts"],
    ["platform.ts"],
    ["slices.ts"],
    ["lazy.ts", "regular-expression.ts", "utf8.ts", "json", "kinds"],
  ],
  http: [["http"]],
  node: [["generated"], ["node"], ["setting-types.ts"]],
  info: [["info"]],
  "explorer, openapi, gateway": [
    ["openapi"],
    ["log.ts"],
    ["gateway"],
    ["sockets"],
    ["explorer", "metrics"],
    ["description"],
    ["settings"],
  ],
  app: [
    ["host-operations"],
    ["options.ts", "nodeface.ts"],
    ["options-schema.ts"],
    ["resources"],
    ["drop-in.ts"],
    ["call-routes.ts"],
    ["own-routes.ts"],
    ["app.ts"],
    ["index.ts"],
  ],
  "cli, adapters": [["adapters", "not-in-browsers.ts"], ["cli"]],
  main: [["main.ts"], ["build"]],
};

/** Only these files may use APIs that are specific to a runtime. */
const NOT_PORTABLE = [
  ...["main.ts", "platform.ts", "node/connection.ts"],
  ...["adapters/", "build/", "cli/"],
];

/** A file should have one subject and fit on a few screens. */
const LINES_MAX = 500;

const SRC = join(ROOT, "src");
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replaceAll("\\", "/"));
const text = (file: string) => readFileSync(join(SRC, file), "utf8");
const imports = (file: string) =>
  [...text(file).matchAll(/(?:from |import\(|import )"([^"]+)"/g)].map(([, name]) => name!);
const local = (file: string) =>
  imports(file).filter((name) => name.startsWith("."))
    .map((name) => relative(SRC, join(SRC, dirname(file), name)).replaceAll("\\", "/"));
const roomOf = (file: string): string => file.split("/")[0]!;
const rows = Object.values(LAYERS).flat();
const rowOf = (file: string) => rows.findIndex((rooms) => rooms.includes(roomOf(file)));

tree("ARCHITECTURE.md names the layers, beginning with the highest", () => {
  const layers = Object.keys(LAYERS).toReversed().join(" → ");
  assert.ok(readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8").includes(`\n${layers}\n`), layers);
});

tree("every file has a layer, and imports only from its own folder and lower rows", () => {
  for (const file of files) {
    assert.ok(rowOf(file) >= 0, `${file} is in no layer`);
    for (const imported of local(file)) {
      const isOwn = roomOf(imported) === roomOf(file);
      assert.ok(isOwn || rowOf(imported) < rowOf(file), `${file} imports ${imported}`);
    }
  }
});

tree("there are no circular imports", () => {
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, way: readonly string[]) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" → "));
    else if (!done.has(file) && files.includes(file)) {
      for (const imported of local(file)) walk(imported, [...way, file]);
      done.add(file);
    }
  };
  for (const file of files) walk(file, []);
  assert.equal(circles, []);
});

/** The files that a file needs when it runs. */
const needed = (file: string) =>
  [...text(file).matchAll(/(?:import|export) ([^;]*?) from "(\.[^"]+)"|import\("(\.[^"]+)"\)/g)]
    .filter(([, names = ""]) => !/^type |^\{(?:\s*type \w+(?: as \w+)?,?)+\s*\}$/.test(names))
    .map(([, , name, loaded]) => join(dirname(file), (name ?? loaded)!).replaceAll("\\", "/"));

tree("a fresh clone makes its generated files from nothing but the first of them", () => {
  const seen = new Map<string, readonly string[]>();
  const walk = (file: string, way: readonly string[]) => {
    if (seen.has(file)) return;
    seen.set(file, [...way, file]);
    if (!files.includes(file)) return;
    for (const other of needed(file)) walk(other, [...way, file]);
  };
  walk("build/generated-modules.ts", []);
  assert.ok(seen.size > 30);
  const early = [...seen].filter(([file]) =>
    file.startsWith("generated/") && file !== "generated/kind-names.js"
  );
  assert.equal(early.map(([, way]) => way.join(" → ")), []);
});

tree("the types of the library need no types of Node", () => {
  const { config } = typescript.readConfigFile(
    join(ROOT, "tsconfig.build.json"),
    typescript.sys.readFile,
  );
  const { options } = typescript.parseJsonConfigFileContent(config, typescript.sys, ROOT);
  const program = typescript.createProgram([join(SRC, "index.ts")], options);
  const seen = new Set<string>();
  const walk = (file: string, way: readonly string[]) => {
    if (seen.has(file)) return;
    seen.add(file);
    program.emit(
      program.getSourceFile(join(SRC, file)),
      (name, types) => {
        if (!name.endsWith(".d.ts")) return;
        assert.not.match(types, /"node:/, [...way, file].join(" → "));
        for (const [, imported] of types.matchAll(/(?:from |import\()"(\.[^"]+)"/g)) {
          walk(join(dirname(file), imported!).replaceAll("\\", "/"), [...way, file]);
        }
      },
      undefined,
      true,
    );
  };
  walk("index.ts", []);
  assert.ok(seen.size > 10);
});

tree("every listed folder and exception exists", () => {
  const listed = [...rows.flat(), ...NOT_PORTABLE];
  const isThere = (path: string) =>
    files.some((file) => file === path || file.startsWith(path.replace(/\/?$/, "/")));
  assert.equal(listed.filter((path) => !isThere(path)), []);
});

tree("files below the adapters use only web standards", () => {
  const isPortable = (file: string) => !NOT_PORTABLE.some((path) => file.startsWith(path));
  for (const file of files.filter(isPortable)) {
    const code = text(file).replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "");
    assert.not.match(code, /"node:/, file);
    // Samples of code that the page shows are texts.
    assert.not.match(code.replaceAll(/"[^"\n]*"/g, ""), /\b(Deno|Bun|process|Buffer)\b/, file);
  }
});

tree("every file has a header comment, and does not exceed the line limit", () => {
  for (const file of files) {
    assert.match(text(file), /^(#!.*\n)?\/\*\*[^]*?@module\n \*\/\n/, file);
    const lines = text(file).split("\n").length;
    assert.ok(lines <= LINES_MAX, `${file} has ${lines} lines`);
  }
});

tree("itty-router is imported in only one file", () => {
  const users = files.filter((file) => imports(file).includes("itty-router"));
  assert.equal(users, ["http/routes.ts"]);
});

tree.run();
