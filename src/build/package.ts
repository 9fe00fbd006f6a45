/**
 * The last part of `npm run build`: puts packages that only few modules need inside these modules, so
 * that installing this package installs nothing for them.
 *
 * @module
 */
import { build, type Plugin } from "esbuild";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));

/** The compiled modules that import such packages. */
const MODULES = [
  "config/config.js",
  "config/file.js",
  "config/schema.js",
  "description/bundle.js",
  "description/load.js",
];

/** The packages that go inside. */
const INSIDE = /^(valibot$|@scalar\/)/;

/** What else a module imports stays where it is, so that nothing is there twice. */
const onlyInside: Plugin = {
  name: "only-inside",
  setup(build) {
    build.onResolve(
      { filter: /./ },
      ({ path, importer }) =>
        importer.startsWith(DIST) && !INSIDE.test(path) ? { path, external: true } : undefined,
    );
  },
};

await build({
  entryPoints: MODULES.map((module) => join(DIST, module)),
  outbase: DIST,
  outdir: DIST,
  allowOverwrite: true,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "es2023",
  plugins: [onlyInside],
  logLevel: "warning",
});
