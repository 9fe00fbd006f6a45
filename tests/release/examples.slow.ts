import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { send } from "../_http.ts";
import { BUN, DENO, ROOT } from "../_paths.ts";
import { type Running, start } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";
import { HOME, ok } from "./_package.ts";

// Beside an install of the package, as they would be in a project that uses it.
const folder = join(HOME, "examples");
cpSync(`${ROOT}examples`, folder, { recursive: true });
mkdirSync(join(folder, "node_modules"));
symlinkSync(`${ROOT}tests/node_modules/hono`, join(folder, "node_modules/hono"));

const TSX = pathToFileURL(`${ROOT}node_modules/tsx/dist/loader.mjs`).href;
const NODE = [process.execPath, "--import", TSX];
const DENO_RUN = [DENO, "run", "--allow-net", "--allow-read", "--allow-env"];

const EXAMPLES: readonly [file: string, command: readonly string[]][] = [
  ["node-http.ts", NODE],
  ["hono.ts", NODE],
  ["deno.ts", [...DENO_RUN, "--node-modules-dir=manual"]],
  ["bun.ts", [BUN]],
];

for (const [file, command] of EXAMPLES) {
  const example = suite(`examples/${file}`);
  let server: Running;
  example.before(async () => {
    assert.ok(existsSync(join(folder, file)));
    server = await start([...command, join("examples", file)], { PORT: "0" }, { cwd: HOME });
  });
  example.after(async () => void await server?.stop());
  const ask = (path: string, init: Parameters<typeof send>[1] = {}) =>
    send(new URL(path, server.url), init);

  example("the server goes on answering its own paths", async () => {
    assert.is(await (await ask("/")).text(), "The node's own page\n");
  });

  example("the explorer and all its files are under the prefix", async () => {
    const html = await (await ask("/node/v1/spec")).text();
    const references = [...html.matchAll(/(?:href|src)="(\.\.\/[^"]+)"/g)].map(([, path]) => path!);
    assert.ok(references.length > 3);
    for (const reference of references) {
      const { pathname } = new URL(reference, `${server.url}node/v1/spec`);
      assert.match(pathname, /^\/node\//);
      assert.is((await ask(pathname)).status, 200, pathname);
    }
    const location = (await ask("/node")).headers.get("location")!;
    assert.is(new URL(location, `${server.url}node`).href, `${server.url}node/v1/spec`);
  });

  example("the info is the host's own, and live", async () => {
    const infoOf = async () => await (await ask("/node/v1/info")).json();
    const first = await infoOf();
    assert.is(first.software, "exampled");
    await until(async () => (await infoOf()).height > first.height, 5000);
  });

  example("its operation is answered, and described in both forms", async () => {
    assert.equal(await (await ask("/node/v1/peers/a1")).json(), { id: "a1", height: 40 });
    assert.is((await ask("/node/v1/peers/a2")).status, 404);
    assert.is((await ask("/node/v1/peers/a1", { method: "PUT" })).status, 405);
    const json = await (await ask("/node/spec.json")).json();
    assert.is(json.paths["/v1/peers/{id}"].get.operationId, "getPeer");
    assert.equal(parse(await (await ask("/node/spec.yaml")).text()), json);
  });

  example.run();
}

const types = suite("the examples' types");

types("Deno takes them", async () => {
  const check = [DENO, "check", "--node-modules-dir=manual"];
  await ok([...check, "examples/deno.ts", "examples/nodeface.ts"], HOME);
});

types("TypeScript takes those for Node", async () => {
  const tsc = [process.execPath, `${ROOT}node_modules/.bin/tsc`];
  const flags = ["--module", "nodenext", "--target", "es2023", "--strict", "--noEmit"];
  const node = ["--types", "node", "--typeRoots", `${ROOT}node_modules/@types`];
  const files = ["examples/node-http.ts", "examples/hono.ts"];
  await ok([...tsc, ...flags, ...node, "--allowImportingTsExtensions", ...files], HOME);
});

types.run();
