/**
 * Bundles a program for Node: `node _bundlers.mjs BUNDLER ENTRY FOLDER`. Exits with 1 if the bundler prints a warning.
 *
 * Each bundler has the settings of a user who wants a single file. A bundler is loaded only when it is used, since it
 * may not be installed.
 */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";

const BUN = new URL("../runtimes/node_modules/bun/bin/bun.exe", import.meta.url).pathname;

const BUNDLERS = {
  "esbuild, esm": (entry, folder) => esbuild(entry, join(folder, "host.mjs"), "esm"),
  "esbuild, cjs": (entry, folder) => esbuild(entry, join(folder, "host.cjs"), "cjs"),

  async rollup(entry, folder) {
    const [{ rollup }, { nodeResolve }, { default: commonjs }] = await Promise.all([
      import("rollup"),
      import("@rollup/plugin-node-resolve"),
      import("@rollup/plugin-commonjs"),
    ]);
    const onwarn = ({ message }) => warn(message);
    const plugins = [nodeResolve({ exportConditions: ["node"] }), commonjs()];
    const bundle = await rollup({ input: entry, plugins, onwarn });
    await bundle.write({
      file: join(folder, "host.mjs"),
      format: "es",
      inlineDynamicImports: true,
    });
  },

  async "vite, SSR"(entry, folder) {
    const { build, createLogger } = await import("vite");
    const customLogger = { ...createLogger("warn"), warn, warnOnce: warn };
    const output = { entryFileNames: "host.mjs", codeSplitting: false };
    await build({
      configFile: false,
      root: dirname(entry),
      customLogger,
      ssr: { noExternal: true },
      build: { ssr: entry, outDir: folder, emptyOutDir: true, rolldownOptions: { output } },
    });
  },

  async webpack(entry, folder) {
    const { default: webpack } = await import("webpack");
    const output = { path: folder, filename: "host.cjs", asyncChunks: false };
    const stats = await new Promise((resolve, reject) =>
      webpack(
        { entry, target: "node", mode: "production", output },
        (error, stats) => error ? reject(error) : resolve(stats),
      )
    );
    for (const { message } of [...stats.compilation.errors, ...stats.compilation.warnings]) {
      warn(message);
    }
  },

  ncc(entry, folder) {
    const ncc = createRequire(import.meta.url).resolve("@vercel/ncc/dist/ncc/cli.js");
    run(process.execPath, [ncc, "build", entry, "--out", folder]);
  },

  "bun build, for Node"(entry, folder) {
    run(BUN, ["build", entry, "--target=node", "--outfile", join(folder, "host.mjs")]);
  },

  "bun build, for Bun"(entry, folder) {
    run(BUN, ["build", entry, "--target=bun", "--outfile", join(folder, "host.mjs")]);
  },
};

async function esbuild(entry, outfile, format) {
  const { build } = await import("esbuild");
  const options = { entryPoints: [entry], outfile, format, bundle: true, platform: "node" };
  const { warnings } = await build({ ...options, logLevel: "silent" });
  for (const { text } of warnings) warn(text);
}

function run(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0 || /warn/i.test(stderr)) warn(`${stdout}\n${stderr}`);
}

function warn(message) {
  console.error(message);
  process.exitCode = 1;
}

const [bundler, entry, folder] = process.argv.slice(2);
await BUNDLERS[bundler](entry, folder);
