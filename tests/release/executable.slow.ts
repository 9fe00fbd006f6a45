import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ASSETS } from "../../src/generated/assets.js";
import { COMMIT } from "../../src/generated/build-info.js";
import { ask } from "../_app.ts";
import { send } from "../_http.ts";
import { NOT_ROOT, testWhere } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { COMMANDS, run, start } from "../_server.ts";
import { rawSuite } from "../raw/_table.ts";
import { runtimeSuite } from "../runtimes/_suite.ts";
import { childrenOf, EXECUTABLE, NOWHERE, startExecutable } from "./_executable.ts";
import { makeFolder } from "./_folder.ts";

runtimeSuite("the executable in an empty folder", startExecutable);

rawSuite(
  "the executable sends the same bytes as Nodeface on Node",
  new Map([["Node", () => start(COMMANDS.Node)], ["Bun", startExecutable]]),
);

const executable = suite("the executable");
const nodeface = /^nodeface \S+ on Bun \S+, built from [0-9a-f]{7,}\n$/;

executable("--version prints the version, the runtime's version and the commit", async () => {
  const { stdout, code } = await run([EXECUTABLE, "--version"], {}, NOWHERE);
  assert.match(stdout, nodeface);
  assert.match(stdout, COMMIT!);
  assert.is(code, 0);
});

executable("the executable serves every file of the explorer in every content coding", async () => {
  const server = await startExecutable();
  for (const [file, { importContent }] of Object.entries(ASSETS)) {
    for (const coding of new Set([...Object.keys(await importContent()), "identity"])) {
      const headers = { "accept-encoding": coding };
      const path = `/assets/${file}`;
      const answer = await send(new URL(path, server.url), { headers });
      assert.is(answer.headers.get("content-encoding") ?? "identity", coding);
      assert.equal(await answer.bytes(), await (await ask(path, { headers })).bytes());
    }
  }
  await server.stop();
});

executable("the executable shows a node's own description", async () => {
  for (const file of ["petstore-2.0.json", "petstore-3.1.yaml"]) {
    const command = [EXECUTABLE, "check", "--spec", `${ROOT}tests/description/${file}`];
    const { stdout, code } = await run(command, {}, NOWHERE);
    assert.match(stdout, "The description can be shown");
    assert.is(code, 0);
  }
});

executable("the executable reads no settings from the folder in which it is started", async () => {
  const cwd = makeFolder();
  writeFileSync(join(cwd, ".env"), "PORT=http\n");
  writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./missing.ts"]\n');
  const { stderr, code } = await run([EXECUTABLE, "--version"], {}, { cwd, bare: true });
  assert.is(stderr, "");
  assert.is(code, 0);
});

testWhere(executable, NOT_ROOT, "any user can run the executable on a read-only disk", async () => {
  const readOnly = "mount --bind / /mnt && mount -o remount,ro,bind /mnt && " +
    'mount -t proc proc /mnt/proc && exec chroot --userspec=65534:65534 /mnt "$@"';
  const command = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", readOnly, "sh", EXECUTABLE];
  const server = await start(command, { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" }, NOWHERE);
  assert.is((await fetch(`${server.url}v1/spec`)).status, 200);
  const { code } = await server.stop();
  assert.is(code, 0);
});

testWhere(
  executable,
  NOT_ROOT,
  "as the first process of a container, the executable stops on SIGTERM",
  async () => {
    const server = await start(["/usr/bin/unshare", "--pid", "--fork", EXECUTABLE], {}, NOWHERE);
    const [first] = childrenOf(server.pid);
    assert.match(readFileSync(`/proc/${first}/status`, "utf8"), /^NSpid:\t\d+\t1$/m);
    process.kill(first!, "SIGTERM");
    const { code } = await server.ended;
    assert.is(code, 0);
  },
);

executable.run();
