/** Tests some of the examples with the files of this checkout instead of the installed package. */
import { build } from "esbuild";
import { ROOT } from "../_paths.ts";
import { makeFolder } from "../release/_folder.ts";
import { CHECKS, LARGE_CHECKS } from "./_checks.ts";
import { EXAMPLES } from "./_examples.ts";
import { startExample } from "./_start.ts";
import { testHost } from "./_suite.ts";

const FILES = ["node-http.ts", "itty-router.ts", "deno.ts", "bun.ts"];

const folder = makeFolder();
await build({
  entryPoints: FILES.map((file) => `${ROOT}examples/${file}`),
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  ...{ bundle: true, format: "esm", platform: "node", logLevel: "warning" },
  alias: {
    "nodeface": `${ROOT}src/index.ts`,
    "nodeface/node": `${ROOT}src/adapters/node.ts`,
    // The published package also contains the browser build of `yaml`.
    "yaml": `${ROOT}node_modules/yaml/browser/index.js`,
  },
});

for (const example of EXAMPLES.filter(({ file }) => FILES.includes(file))) {
  const bundled = { ...example, file: example.file.replace(/\.ts$/, ".mjs") };
  testHost({
    name: `${example.name}, below a path`,
    checks: [...CHECKS, ...LARGE_CHECKS.slice(0, 1)],
    start: () => startExample(bundled, { folder, prefix: "/deep/node", isLarge: true }),
  });
}
