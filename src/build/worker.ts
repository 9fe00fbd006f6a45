/**
 * `npm run build:worker`: bundles the service with its files as one ES module for workerd and
 * other workers, `dist/worker.js`.
 *
 * @module
 */
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { embedFiles } from "./embed.ts";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

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
  plugins: [embedFiles],
  logLevel: "warning",
});
