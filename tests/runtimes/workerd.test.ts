import { createRequire } from "node:module";
import { run } from "../_server.ts";
import { ROOT } from "../_paths.ts";
import { runtimeSuite } from "./_suite.ts";
import process from "node:process";

const require = createRequire(new URL("../package.json", import.meta.url));
const { Miniflare } = require("miniflare") as typeof import("miniflare");

runtimeSuite("workerd", async () => {
  const { code, stderr } = await run([process.execPath, "--import", "tsx", "src/build/worker.ts"]);
  if (code !== 0) throw new Error(stderr);
  // Neither a compatibility flag nor a date that would switch Node's modules on.
  const worker = new Miniflare({
    modules: true,
    scriptPath: `${ROOT}dist/worker.js`,
    compatibilityDate: "2026-01-01",
    // Past Miniflare's own front, which would encode answers by itself.
    unsafeDirectSockets: [{}],
  });
  await worker.ready;
  return { url: String(await worker.unsafeGetDirectURL()), stop: () => worker.dispose() };
});
