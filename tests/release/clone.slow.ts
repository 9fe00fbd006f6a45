import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { BUN, DENO, ROOT } from "../_paths.ts";
import { run, start } from "../_server.ts";
import { freePort } from "../_port.ts";
import { until } from "../nodes/_daemon.ts";
import { makeFolder } from "./_folder.ts";

const clone = suite("a fresh clone");

/**
 * Deno must trust the machine's certificate authorities, because a proxy may intercept TLS
 * connections to a registry.
 */
const TRUST = {
  DENO_TLS_CA_STORE: "mozilla,system",
  ...Object.fromEntries(
    ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"]
      .flatMap((name) => process.env[name] ? [[name, process.env[name]]] : []),
  ),
};

/**
 * The clone contains only committed changes. `PATH` has only one runtime and basic shell commands.
 */
function prepare(runtime: string, program: string) {
  const folder = makeFolder();
  const [cwd, bin] = [join(folder, "clone"), join(folder, "bin")];
  execFileSync("git", ["clone", "--quiet", ROOT, cwd]);
  mkdirSync(bin);
  symlinkSync(program, join(bin, runtime));
  for (const name of ["sh", "env", "git", "uname"]) {
    symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(bin, name));
  }
  const env = { PATH: bin, HOME: process.env["HOME"] ?? dirname(cwd), ...TRUST };
  return { env, surroundings: { cwd, bare: true } };
}

async function assertServes(url: string): Promise<void> {
  for (const path of ["v1/info", "v1/spec", "spec.json", "spec.yaml"]) {
    const response = await fetch(new URL(path, url));
    assert.is(response.status, 200, path);
    await response.arrayBuffer();
  }
}

clone("`deno task start` works without a previous step, and without Node or npm", async () => {
  const { env, surroundings } = prepare("deno", DENO);
  const service = await start(["deno", "task", "start"], env, surroundings);
  try {
    await assertServes(service.url);
  } finally {
    await service.stop();
  }
});

clone("`bun src/main.ts` works after `bun install`, without Node or npm", async () => {
  const { env, surroundings } = prepare("bun", BUN);
  const { code, stderr } = await run(["bun", "install"], env, surroundings);
  assert.is(code, 0, stderr);
  const service = await start(["bun", "src/main.ts"], env, surroundings);
  try {
    await assertServes(service.url);
  } finally {
    await service.stop();
  }
});

clone("`npm ci && npm run demo` installs anvil, and starts the service and anvil", async () => {
  const cwd = join(makeFolder(), "clone");
  execFileSync("git", ["clone", "--quiet", ROOT, cwd]);
  const port = await freePort();
  const demo = spawn("sh", ["-c", "npm ci && exec npm run demo"], {
    cwd,
    env: { ...process.env, PORT: String(port) },
    stdio: "ignore",
    // A separate process group lets the test send SIGINT to all processes of the demo, like Ctrl+C
    // in a shell.
    detached: true,
  });
  let isOver = false;
  const ended = new Promise<void>((resolve) =>
    demo.on("close", () => {
      isOver = true;
      resolve();
    })
  );
  const info = async () => await (await fetch(`http://127.0.0.1:${port}/v1/info`)).json();
  try {
    // A registry may be slow.
    await until(async () => {
      assert.not(isOver, "the demo has ended");
      return await info().then(({ software }) => software === "anvil", () => false);
    }, Infinity);
    const { height } = await info();
    await until(async () => (await info()).height > height);
  } finally {
    if (!isOver) process.kill(-demo.pid!, "SIGINT");
    await ended;
  }
  await until(() => info().then(() => false, () => true));
});

clone("the files that Deno would publish pass `deno publish --dry-run`", async () => {
  const { code, stdout, stderr } = await run(
    [DENO, "publish", "--dry-run", "--allow-dirty"],
    {},
    { cwd: ROOT },
  );
  assert.is(code, 0, stdout + stderr);
});

clone.run();
