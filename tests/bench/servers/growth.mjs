// Nodeface with a description, as the package that was built. `growth.mjs FILE PORT`, with
// `--expose-gc`: prints how long the description took until it was shown, and the memory it keeps.
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { serve } from "../../../dist/adapters/node.js";
import { createNodeface } from "../../../dist/index.js";

const [, , file, port] = process.argv;
const used = () => {
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
};
/** What a stream or a worker has held is let go of a little later. */
const settle = async () => {
  for (let i = 0; i < 4; i++) {
    await wait(100);
    globalThis.gc();
  }
};

await createNodeface().ready();
await settle();
const before = used();
const since = performance.now();
const nodeface = createNodeface({
  description: file,
  node: { url: "http://127.0.0.1:9053", kind: "none" },
});
await nodeface.ready();
const load = performance.now() - since;
await settle();
process.stdout.write(`${JSON.stringify({ load, kept: used() - before })}\n`);
await serve(nodeface, { host: "127.0.0.1", port: Number(port) });
