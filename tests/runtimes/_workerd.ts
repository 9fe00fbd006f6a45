/** Starts the worker bundle in workerd. */
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";
import { ROOT } from "../_paths.ts";
import { run } from "../_server.ts";
import type { Server } from "./_suite.ts";

const require = createRequire(new URL("../package.json", import.meta.url));
const { Miniflare } = require("miniflare") as typeof import("miniflare");

export async function startWorkerd(): Promise<Server> {
  const { code, stderr } = await run([
    process.execPath,
    "--import",
    "tsx",
    "src/build/bundle-for-runtime.ts",
    "worker",
  ]);
  if (code !== 0) throw new Error(stderr);
  return await startWorker(readFileSync(`${ROOT}dist/worker.js`, "utf8"));
}

/**
 * Starts a service with the same `hosts` as on other runtimes, whereas `dist/worker.js` allows any
 * host.
 *
 * @param options the options of the service, as JavaScript code
 */
export async function startPlainWorkerd(options = "", flags: string[] = []): Promise<Server> {
  return await startModule(`export default createNodeface(${options});`, flags);
}

export async function startModule(program: string, flags: string[] = []): Promise<Server> {
  const contents = `import { createNodeface } from "./src/index.ts";\n${program}`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT },
    ...{ bundle: true, write: false, format: "esm", platform: "neutral", external: ["node:*"] },
    mainFields: ["module", "main"],
    conditions: ["worker"],
  });
  return await startWorker(outputFiles[0]!.text, flags);
}

export async function startWorker(contents: string, flags: string[] = []): Promise<Server> {
  const worker = new Miniflare({
    // Miniflare searches for further modules unless `modules` is a list. Wrangler also passes a
    // list.
    modules: [{ type: "ESModule", path: "worker.js", contents }],
    // The compatibility date alone does not enable Node's built-in modules.
    compatibilityDate: "2026-01-01",
    compatibilityFlags: flags,
    // `unsafeDirectSockets` bypasses the entry worker of Miniflare, which would compress responses.
    unsafeDirectSockets: [{}],
  });
  await worker.ready;
  return { url: String(await worker.unsafeGetDirectURL()), stop: () => worker.dispose() };
}
