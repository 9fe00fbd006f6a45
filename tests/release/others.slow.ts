import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gzipSync } from "node:zlib";
import { DENO, ROOT } from "../_paths.ts";
import { run, start } from "../_server.ts";
import { runtimeSuite } from "../runtimes/_suite.ts";
import { NOWHERE } from "./_executable.ts";

const NODE = [`${ROOT}dist/nodeface-node`];
const ONE_MODULE = [
  DENO,
  "run",
  "--no-prompt",
  "--allow-net",
  "--allow-env",
  `${ROOT}dist/nodeface-deno.js`,
];

runtimeSuite("the executable that Node makes", () => start(NODE, {}, NOWHERE));
runtimeSuite("the one module that Deno compiles", () => start(ONE_MODULE, {}, NOWHERE));

const others = suite("other forms");

others("each says its version and commit", async () => {
  for (const [command, runtime] of [[NODE, "Node"], [ONE_MODULE, "Deno"]] as const) {
    const { stdout } = await run([...command, "--version"], {}, NOWHERE);
    assert.match(
      stdout,
      new RegExp(String.raw`^nodeface \S+ on ${runtime} \S+, built from [0-9a-f]{7,}\n$`),
    );
  }
});

others("each shows a node's own description", async () => {
  // The one module reads nothing but what it is allowed to.
  const [deno, ...rest] = ONE_MODULE;
  const module = [deno!, rest[0]!, "--allow-read", ...rest.slice(1)];
  for (const command of [NODE, module]) {
    const spec = `${ROOT}tests/description/three/openapi.yaml`;
    const { stdout, stderr, code } = await run([...command, "check", "--spec", spec], {}, NOWHERE);
    assert.match(stdout, "The description can be shown", stderr);
    assert.is(code, 0);
  }
});

others("the worker with its files is under 3 MiB gzipped", () => {
  const size = gzipSync(readFileSync(`${ROOT}dist/worker.js`)).length / 2 ** 20;
  assert.ok(size < 3, `${size} MiB`);
});

others.run();
