import { build, type BuildOptions } from "esbuild";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PATHS } from "../_app.ts";
import { send } from "../_http.ts";
import { ROOT } from "../_paths.ts";
import { start } from "../_server.ts";
import { startWorker } from "../runtimes/_workerd.ts";
import { makeFolder } from "./_folder.ts";
import { HOME } from "./_package.ts";

const bundled = suite("a host that is bundled");

/** Refuses every read of a file that is not named. */
const NODE = [`${ROOT}tests/node_modules/node24/bin/node`, "--permission"];

const HOST = `
import { createServer } from "node:http";
import { createNodeface } from "nodeface";
import { listener } from "nodeface/node";

const nodeface = createNodeface({ info: () => ({ height: 7 }) });
const server = createServer(listener(nodeface)).listen(0, "127.0.0.1", () => {
  console.error("nodeface bundled on http://127.0.0.1:" + server.address().port + "/");
});
process.on("SIGTERM", () => process.exit(0));
`;

const WORKER = `
import { createNodeface } from "nodeface";

export default createNodeface({ hosts: "*", info: () => ({ height: 7 }) });
`;

/** As Wrangler bundles. */
const FOR_WORKERD: BuildOptions = {
  format: "esm",
  platform: "browser",
  conditions: ["workerd", "worker", "browser"],
  external: ["node:*"],
};

for (const [format, extension] of [["esm", "mjs"], ["cjs", "cjs"]] as const) {
  bundled(`as one file of ${format} it serves everything, and reads no other file`, async () => {
    const file = join(makeFolder(), `host.${extension}`);
    copyFileSync(await bundle(HOST, { format, platform: "node" }), file);
    const server = await start([...NODE, `--allow-fs-read=${file}`, file], {}, {
      cwd: makeFolder(),
    });
    await servesEverything(server.url);
    await server.stop();
  });
}

bundled("in workerd without flags it serves everything, with options", async () => {
  const server = await startWorker(readFileSync(await bundle(WORKER, FOR_WORKERD), "utf8"));
  await servesEverything(server.url);
  await server.stop();
});

bundled("in workerd it says that it can read no file", async () => {
  const program = `
import { createNodeface } from "nodeface";

let told = "";
const nodeface = createNodeface({ description: "openapi.yaml", log: (said) => told += said });
export default { fetch: async (request) => (await nodeface.fetch(request), new Response(told)) };
`;
  const server = await startWorker(readFileSync(await bundle(program, FOR_WORKERD), "utf8"));
  const told = await (await send(new URL("spec.json", server.url))).text();
  assert.is(told, "openapi.yaml:1:1 cannot be shown: no file can be read here");
  await server.stop();
});

bundled("nodeface/worker answers for any name", async () => {
  const file = await bundle('export { default } from "nodeface/worker";', FOR_WORKERD);
  const server = await startWorker(readFileSync(file, "utf8"));
  const headers = { host: "my.workers.example" };
  assert.is((await send(new URL("v1/spec", server.url), { headers })).status, 200);
  await server.stop();
});

bundled("what is not used of the package is left out", async () => {
  const file = await bundle(
    'import { createNodeface } from "nodeface"; import { serve } from "nodeface/node";',
    {
      platform: "node",
      format: "esm",
    },
  );
  assert.is(readFileSync(file, "utf8"), "");
});

bundled.run();

let count = 0;

/** Bundles a program as one file, without a warning; resolves to its path. */
async function bundle(program: string, options: BuildOptions): Promise<string> {
  const entry = join(HOME, `bundled-${++count}.mjs`);
  writeFileSync(entry, program);
  const outfile = join(HOME, `bundled-${count}.out.js`);
  const { warnings } = await build({
    ...{ entryPoints: [entry], outfile, bundle: true, minify: true, logLevel: "silent" },
    ...options,
  });
  assert.equal(warnings.map(({ text }) => text), []);
  return outfile;
}

/** Asks for every path, and for every file that the page names in every coding. */
async function servesEverything(url: string): Promise<void> {
  for (const [path, type] of PATHS) {
    const answer = await send(new URL(path, url));
    assert.is(answer.status, 200, path);
    assert.is(answer.headers.get("content-type"), type);
  }
  assert.is((await (await send(new URL("v1/info", url))).json()).height, 7);
  const html = await (await send(new URL("v1/spec", url))).text();
  const files = [...html.matchAll(/"(\.\.\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  assert.ok(files.length > 3);
  for (const file of files) {
    for (const coding of ["br", "gzip", "identity"]) {
      const headers = { "accept-encoding": coding };
      const answer = await send(new URL(file, new URL("v1/", url)), { headers });
      assert.is(answer.status, 200, file);
      assert.ok((await answer.arrayBuffer()).byteLength > 0);
    }
  }
}
