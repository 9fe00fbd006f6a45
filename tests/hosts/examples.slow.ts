/**
 * Tests the examples over real sockets: at the root, below a path, and with a large description.
 * The packed package is installed in a separate folder. `HOSTS=Express` selects hosts by name.
 */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere } from "../_needs.ts";
import { DENO, ROOT } from "../_paths.ts";
import { HOME, ok } from "../release/_package.ts";
import { CHECKS, LARGE_CHECKS } from "./_checks.ts";
import { EXAMPLES } from "./_examples.ts";
import { copyExamples, NOT_INSTALLED, withVersion } from "./_folder.ts";
import { startExample } from "./_start.ts";
import { testHost } from "./_suite.ts";
import { tableOf } from "./_table.ts";

const folder = copyExamples(HOME);
const only = new RegExp(process.env.HOSTS ?? "");

const STARTS = [
  { how: "at the root", prefix: "", isLarge: false, checks: CHECKS },
  { how: "below a path", prefix: "/deep/node", isLarge: false, checks: CHECKS },
  { how: "with a large description", prefix: "/deep/node", isLarge: true, checks: LARGE_CHECKS },
];

const rows = EXAMPLES.filter(({ name }) => only.test(name)).flatMap((example) => {
  const missing = example.packages.length > 0 ? NOT_INSTALLED : undefined;
  return STARTS.map(({ how, checks, ...options }) => {
    const start = () => startExample(example, { folder, ...options });
    return testHost({ name: `${example.name}, ${how}`, missing, checks, start });
  });
});

const types = suite("the types of the examples");

testWhere(types, NOT_INSTALLED, "TypeScript accepts the examples for Node", async () => {
  const tsc = [process.execPath, `${ROOT}node_modules/.bin/tsc`];
  const flags = ["--module", "nodenext", "--target", "es2023", "--strict", "--noEmit"];
  const node = ["--types", "node", "--typeRoots", `${ROOT}node_modules/@types`];
  const files = EXAMPLES.filter(({ runtime }) => runtime === "node" || runtime === "workerd")
    .map(({ file }) => file);
  const quick = ["--skipLibCheck", "--allowImportingTsExtensions"];
  await ok([...tsc, ...flags, ...node, ...quick, ...files, "elysia.ts"], folder);
});

types("Deno accepts the example for Deno", async () => {
  await ok([DENO, "check", "--node-modules-dir=manual", "deno.ts"], folder);
});

types("the worker starts without `process`, a flag or an import of Node's modules", async () => {
  const worker = EXAMPLES.find(({ runtime }) => runtime === "workerd")!;
  const { base, stop } = await startExample(worker, { folder, prefix: "/node" });
  try {
    assert.is((await fetch(`${base}/v1/info`)).status, 200);
  } finally {
    await stop();
  }
});

types.run();

const packages = new Set(EXAMPLES.flatMap(({ packages }) => packages));
const versions = [...packages].map(withVersion).filter((text) => text !== undefined);
process.on("exit", () => console.log(`\n${tableOf(rows)}\n\n${versions.join(", ")}`));
