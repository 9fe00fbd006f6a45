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

/** Bundles the worker and serves it, on a port of its own choice. */
export async function startWorkerd(): Promise<Server> {
  const { code, stderr } = await run([process.execPath, "--import", "tsx", "src/build/worker.ts"]);
  if (code !== 0) throw new Error(stderr);
  return await startWorker(readFileSync(`${ROOT}dist/worker.js`, "utf8"));
}

/** Serves a service with the options of all other runtimes, which the worker has not: any host. */
export async function startPlainWorkerd(): Promise<Server> {
  const contents = `import { createNodeface } from "./src/index.ts";
    export default createNodeface();`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT },
    ...{ bundle: true, write: false, format: "esm", platform: "neutral", external: ["node:*"] },
    mainFields: ["module", "main"],
    conditions: ["worker"],
  });
  return await startWorker(outputFiles[0]!.text);
}

/** Serves a bundle, on a port of its own choice. */
export async function startWorker(contents: string): Promise<Server> {
  const worker = new Miniflare({
    // As Wrangler gives it: Miniflare looks for no further modules.
    modules: [{ type: "ESModule", path: "worker.js", contents }],
    // No compatibility flag, and no date that would switch Node's modules on.
    compatibilityDate: "2026-01-01",
    // Past Miniflare's own front, which would encode answers by itself.
    unsafeDirectSockets: [{}],
  });
  await worker.ready;
  return { url: String(await worker.unsafeGetDirectURL()), stop: () => worker.dispose() };
}
