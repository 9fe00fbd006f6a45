/**
 * `npm run build:worker`: bundles the service with its files as one ES module for workerd and
 * other workers, `dist/worker.js`.
 *
 * @module
 */
import { build, type Plugin } from "esbuild";
import { fileURLToPath } from "node:url";
import { embedFiles } from "./embed.ts";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** A worker has no disk and runs no programs: importing what has fails, which its callers expect. */
const withoutNode: Plugin = {
  name: "without-node",
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "absent" }));
    build.onLoad({ filter: /^/, namespace: "absent" }, ({ path }) => ({
      contents: `throw new Error("There is no ${path} here");`,
    }));
  },
};

await build({
  entryPoints: [path("../adapters/worker.ts")],
  outfile: path("../../dist/worker.js"),
  bundle: true,
  format: "esm",
  platform: "neutral",
  mainFields: ["module", "main"],
  conditions: ["worker", "import"],
  target: "es2023",
  minify: true,
  plugins: [embedFiles, withoutNode],
  logLevel: "warning",
});
