/**
 * Tests a bundled host in three cases: in an empty folder, next to files that have the names of
 * Nodeface's own files, and with a large description. `BUNDLERS=webpack` selects bundlers by name.
 * If the bundlers are not installed, only esbuild and Bun are tested.
 */
import { build, type BuildOptions } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { send } from "../_http.ts";
import { makeFolder } from "../release/_folder.ts";
import { HOME } from "../release/_package.ts";
import { startWorker } from "../runtimes/_workerd.ts";
import {
  bundleExample,
  type BundleOptions,
  type Bundler,
  BUNDLERS,
  startBundle,
} from "./_bundled.ts";
import { type Check, CHECKS, LARGE_CHECKS } from "./_checks.ts";
import { copyExamples, NOT_INSTALLED, withVersion } from "./_folder.ts";
import { testHost } from "./_suite.ts";
import { tableOf } from "./_table.ts";

const STARTS: readonly (BundleOptions & { how: string; checks: readonly Check[] })[] = [
  { how: "in an empty folder", prefix: "", checks: CHECKS },
  {
    how: "beside similar files, below a path",
    prefix: "/deep/node",
    hasNamesakes: true,
    checks: CHECKS,
  },
  { how: "with a large description", prefix: "", isLarge: true, checks: LARGE_CHECKS },
];

const examples = copyExamples(HOME);
const only = new RegExp(process.env.BUNDLERS ?? "");
const bundles = new Map<string, Promise<string>>();

function bundleOnce(bundler: Bundler): Promise<string> {
  const bundle = bundles.get(bundler.name) ?? bundleExample(bundler, examples);
  bundles.set(bundler.name, bundle);
  return bundle;
}

const rows = BUNDLERS.filter(({ name }) => only.test(name)).flatMap((bundler) => {
  const missing = bundler.packages ? NOT_INSTALLED : undefined;
  return STARTS.map(({ how, checks, ...options }) => {
    const start = async () => await startBundle(bundler, await bundleOnce(bundler), options);
    return testHost({ name: `${bundler.name}, ${how}`, missing, checks, start });
  });
});

const bundled = suite("a bundle");

/** The bundler options that Wrangler uses for a Worker. */
const FOR_WORKERD: BuildOptions = {
  format: "esm",
  platform: "browser",
  conditions: ["workerd", "worker", "browser"],
};

bundled("a bundle in workerd reports that the runtime cannot read files", async () => {
  const program = `
import { createNodeface } from "nodeface";

const told = [];
const nodeface = createNodeface({ description: "openapi.yaml", log: (said) => told.push(said) });
export default { fetch: async (request) => (await nodeface.fetch(request), Response.json(told)) };
`;
  const server = await startWorker(await bundle(program, FOR_WORKERD));
  const [told] = await (await send(new URL("spec.json", server.url))).json();
  assert.is(told, "openapi.yaml:1:1 cannot be shown: this runtime cannot read files");
  await server.stop();
});

bundled("a bundle of nodeface/worker responds to any host name", async () => {
  const program = 'export { default } from "nodeface/worker";';
  const server = await startWorker(await bundle(program, FOR_WORKERD));
  const headers = { host: "my.workers.example" };
  assert.is((await send(new URL("v1/spec", server.url), { headers })).status, 200);
  await server.stop();
});

bundled("a bundle omits unused parts of the package", async () => {
  const program =
    'import { createNodeface } from "nodeface"; import { serve } from "nodeface/node";';
  assert.is(await bundle(program, { platform: "node", format: "esm" }), "");
});

bundled.run();

async function bundle(program: string, options: BuildOptions): Promise<string> {
  const entry = join(HOME, "bundled.mjs");
  writeFileSync(entry, program);
  const outfile = join(makeFolder(), "bundled.js");
  const { warnings } = await build({
    ...{ entryPoints: [entry], outfile, bundle: true, minify: true, logLevel: "silent" },
    ...options,
  });
  assert.equal(warnings.map(({ text }) => text), []);
  return readFileSync(outfile, "utf8");
}

const packages = new Set(BUNDLERS.flatMap(({ packages = [] }) => packages));
const versions = [...packages].map(withVersion).filter((text) => text !== undefined);
process.on("exit", () => console.log(`\n${tableOf(rows)}\n\n${versions.join(", ")}`));
