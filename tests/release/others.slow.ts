import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gzipSync } from "node:zlib";
import { DENO, ROOT } from "../_paths.ts";
import { run, start } from "../_server.ts";
import { runtimeSuite } from "../runtimes/_suite.ts";
import { NOWHERE } from "./_executable.ts";

const ONE_MODULE = [
  DENO,
  "run",
  "--no-prompt",
  "--allow-net",
  "--allow-env",
  `${ROOT}dist/nodeface-deno.js`,
];

runtimeSuite("the single module for Deno", () => start(ONE_MODULE, {}, NOWHERE));

const others = suite("other forms");

others("the module for Deno prints its version and its commit", async () => {
  const { stdout } = await run([...ONE_MODULE, "--version"], {}, NOWHERE);
  assert.match(stdout, /^nodeface \S+ on Deno \S+, built from [0-9a-f]{7,}\n$/);
});

others("the module for Deno shows a node's own description", async () => {
  const [deno, ...rest] = ONE_MODULE;
  const command = [deno!, rest[0]!, "--allow-read", ...rest.slice(1)];
  const spec = `${ROOT}tests/description/petstore-3.1.yaml`;
  const { stdout, stderr, code } = await run([...command, "check", "--spec", spec], {}, NOWHERE);
  assert.match(stdout, "The description can be shown", stderr);
  assert.is(code, 0);
});

others("the worker bundle has less than 3 MiB when gzipped", () => {
  const size = gzipSync(readFileSync(`${ROOT}dist/worker.js`)).length / 2 ** 20;
  assert.ok(size < 3, `${size} MiB`);
});

others.run();
