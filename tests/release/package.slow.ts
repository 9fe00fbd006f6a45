import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { importedBy } from "../_imports.ts";
import { BUN, DENO, ROOT } from "../_paths.ts";
import { start } from "../_server.ts";
import { runtimeSuite } from "../runtimes/_suite.ts";
import { HOME, ok, TARBALL } from "./_package.ts";

const PROGRAM = `
import { createNodeface, type Nodeface, type NodefaceOptions, type Operation } from "nodeface";
import { listener, serve as serveOnNode } from "nodeface/node";
import { serve as serveOnDeno } from "nodeface/deno";
import { serve as serveOnBun } from "nodeface/bun";
import worker from "nodeface/worker";

const operation: Operation = {
  method: "GET",
  path: "/v1/peers",
  operation: { summary: "List peers", responses: { 200: { description: "All of them" } } },
  handle: () => Response.json([]),
};
const options: NodefaceOptions = { prefix: "/a", info: () => ({ height: 7 }), operations: [operation] };
const nodeface: Nodeface = createNodeface(options);
const served: Nodeface[] = [nodeface, worker];
export const all = [serveOnNode, serveOnDeno, serveOnBun, listener, served];

const response: Response = await nodeface.fetch(new Request("http://localhost/a/v1/info"));
console.log((await response.json()).height, await nodeface.ready());
// @ts-expect-error: there is no such option
export const wrong = () => createNodeface({ hots: [] });
`;
writeFileSync(join(HOME, "program.ts"), PROGRAM);

const INSTALLED = join(HOME, "node_modules/nodeface");

runtimeSuite(
  "the package",
  () => start([join(HOME, "node_modules/.bin/nodeface")], {}, { cwd: HOME }),
);

const pack = suite("what is published");

pack("npx runs it", async () => {
  assert.match(await ok(["npx", "nodeface", "--version"], HOME), /^nodeface \d\S+ on Node /);
});

pack("it shows a node's own description", async () => {
  for (const file of ["petstore-2.0.json", "three/openapi.yaml"]) {
    const command = ["npx", "nodeface", "check", "--spec", `${ROOT}tests/description/${file}`];
    assert.match(await ok(command, HOME), "The description can be shown");
  }
});

pack("it reads a configuration", async () => {
  writeFileSync(join(HOME, "nodeface.yaml"), "info: { static: { name: here } }\n");
  const command = ["npx", "nodeface", "check", "--config", "nodeface.yaml"];
  assert.match(await ok(command, HOME), '"name": "here"');
});

pack("it brings the licences of what is put into it", () => {
  const text = readFileSync(join(HOME, "node_modules/nodeface/dist/LICENSES.txt"), "utf8");
  for (const name of ["@noble/hashes", "itty-router", "negotiator", "valibot", "yaml"]) {
    assert.match(text, new RegExp(`^${name} [\\d.]+ \\((?:MIT|ISC)\\)\\n\\n[^]{500}`, "m"));
  }
});

pack("CommonJS requires it where Node can", async () => {
  const node = `${ROOT}tests/node_modules/node26/bin/node`;
  const program = 'require("nodeface"); console.log(typeof require("nodeface/node").listener)';
  assert.match(await ok([node, "-e", program], HOME), "function");
});

pack("each way into it imports five more of its files at most, and no other package", async () => {
  const { exports, bin } = JSON.parse(readFileSync(join(INSTALLED, "package.json"), "utf8"));
  const entries = Object.values<{ default?: string }>(exports).map((entry) => entry.default ?? "");
  for (const entry of [bin.nodeface, ...entries.filter((path) => path.endsWith(".js"))]) {
    const [, ...imported] = await importedBy(INSTALLED, entry.replace(/^\.\//, ""));
    const isOurs = imported.every((path) => path.startsWith("dist/"));
    assert.ok(isOurs && imported.length <= 5, `${entry}: ${imported.join(", ")}`);
  }
});

pack("it carries each content once, and no types but those of what it exports", () => {
  const dist = join(INSTALLED, "dist");
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(dist, name)).isFile());
  const sizes = files.map((file) => statSync(join(dist, file)).size);
  const mega = sizes.reduce((sum, size) => sum + size) / 1e6;
  assert.ok(mega < 4 && files.length < 120, `${mega} MB in ${files.length} files`);
  assert.not.ok(files.some((file) => file.startsWith("cli") || file === "main.d.ts"));
});

pack("it installs six packages at most", () => {
  const lock = JSON.parse(readFileSync(join(HOME, "node_modules/.package-lock.json"), "utf8"));
  const names = Object.keys(lock.packages);
  assert.ok(names.length <= 6, names.join(", "));
});

for (
  const [resolution, module] of [["nodenext", "nodenext"], ["bundler", "esnext"]] as const
) {
  pack(`its types are understood under ${resolution}`, async () => {
    const project = join(HOME, resolution);
    mkdirSync(project);
    const compilerOptions = {
      module,
      moduleResolution: resolution,
      target: "es2023",
      lib: ["ES2023", "DOM", "DOM.Iterable"],
      types: ["node"],
      typeRoots: [`${ROOT}node_modules/@types`],
      strict: true,
      noEmit: true,
    };
    const config = { compilerOptions, files: ["../program.ts"] };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
    await ok([process.execPath, `${ROOT}node_modules/.bin/tsc`, "--project", project], HOME);
  });
}

pack("Deno takes its types, and runs it", async () => {
  const cached = { DENO_DIR: join(HOME, "deno") };
  await ok([DENO, "check", "--node-modules-dir=manual", "program.ts"], HOME, cached);
  const flags = ["run", "--allow-read", "--allow-env", "--node-modules-dir=manual"];
  assert.match(await ok([DENO, ...flags, "program.ts"], HOME, cached), /^7 undefined$/m);
});

pack("Bun and Node run it", async () => {
  assert.match(await ok([BUN, "program.ts"], HOME), /^7 undefined$/m);
  await ok([BUN, "build", "program.ts", "--target=bun", "--outfile=program.js"], HOME);
});

const NODE = `${ROOT}tests/node_modules/node24/bin/node`;

pack("publint finds nothing", async () => {
  const publint = [NODE, `${ROOT}tests/node_modules/.bin/publint`, "run", "--strict"];
  assert.match(await ok([...publint, join(HOME, "node_modules/nodeface")], HOME), "All good!");
});

pack("Are the types wrong? finds nothing", async () => {
  const attw = [
    NODE,
    `${ROOT}tests/node_modules/.bin/attw`,
    TARBALL,
    "--profile=esm-only",
    "--format=ascii",
  ];
  // It is published as ES modules only: what CommonJS would make of it is left out.
  const said = await ok([...attw, "--no-emoji"], HOME);
  assert.is(said.match(/from ESM\): OK \(ESM\)\nbundler: OK/g)?.length, 5, said);
});

pack.run();
