import { execFileSync, spawn } from "node:child_process";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { until } from "../nodes/_daemon.ts";

const demo = suite("npm run demo");

const FLAGS = ["--import", "./src/build/signals-before-tsx.mjs", "--import", "tsx"];

async function startDemo(port: number, flags: readonly string[] = FLAGS) {
  const child = spawn(process.execPath, [...flags, "src/build/demo.ts"], {
    cwd: ROOT,
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => printed.stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => printed.stderr += text);
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`It ended: ${printed.stderr}`);
    return Promise.resolve(/Try .*\n/.test(printed.stdout));
  });
  return { child, printed, ended };
}

const processes = () =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,comm="], { encoding: "utf8" })
    .trim().split("\n").map((line) => {
      const [pid, parent, state, name] = line.trim().split(/\s+/);
      return { pid: Number(pid), parent: Number(parent), isZombie: state![0] === "Z", name: name! };
    });

/** The demo starts anvil through a shell, so the shell is anvil's parent process. */
function nodeOf(demo: { pid?: number | undefined }): number {
  const all = processes();
  const shells = all.filter(({ parent }) => parent === demo.pid).map(({ pid }) => pid);
  const node = all.find(({ parent, name }) => shells.includes(parent) && /anvil$/.test(name));
  assert.ok(node, "there is a node");
  return node.pid;
}

const isRunning = (wanted: number) =>
  processes().some(({ pid, isZombie }) => pid === wanted && !isZombie);

demo("the demo shows a growing chain at PORT, and the command that it suggests works", async () => {
  const port = await freePort();
  const { child, printed, ended } = await startDemo(port);
  const node = nodeOf(child);
  try {
    const url = `http://127.0.0.1:${port}/`;
    await until(() => Promise.resolve(printed.stdout.includes("The node is at")));
    const [suggested, address] = printed.stdout.split("The node is at ");
    assert.is(suggested, `Open ${url}v1/spec\nTry  curl ${url}v1/rpc/eth_blockNumber\n`);
    const call = { jsonrpc: "2.0", id: 1, method: "web3_clientVersion" };
    const [direct] = /^http:\S+(?=, as long as the demo runs\n$)/.exec(address!)!;
    const headers = { "content-type": "application/json" };
    const sent = await fetch(direct, { method: "POST", headers, body: JSON.stringify(call) });
    assert.match(await sent.text(), "anvil");
    const info = async () => await (await fetch(`${url}v1/info`)).json();
    const { software, height } = await info();
    assert.is(software, "anvil");
    await until(async () => (await info()).height > height);
    const page = await fetch(`${url}v1/spec`);
    assert.is(page.status, 200);
    await page.arrayBuffer();
    const count = `${url}v1/rpc/eth_getBlockTransactionCountByNumber?block=latest`;
    await until(async () => await (await fetch(count)).json() !== "0x0");
    assert.match(await (await fetch(/curl (\S+)/.exec(printed.stdout)![1]!)).text(), /^"0x\w+"$/);
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
  await until(() => Promise.resolve(!isRunning(node)));
});

for (const signal of ["SIGINT", "SIGKILL"] as const) {
  demo(`if Nodeface gets ${signal}, both processes end`, async () => {
    const { child, ended } = await startDemo(await freePort());
    const node = nodeOf(child);
    child.kill(signal);
    await ended;
    await until(() => Promise.resolve(!isRunning(node)));
  });
}

demo("if the node ends, both processes end", async () => {
  const { child, printed, ended } = await startDemo(await freePort());
  const node = nodeOf(child);
  process.kill(node, "SIGKILL");
  await ended;
  assert.not(isRunning(node));
  assert.is(child.exitCode, 1);
  assert.match(printed.stderr, "anvil has ended, so the demo ends too");
});

demo("a port in use is reported before anvil is started", async () => {
  const port = await freePort();
  const first = await startDemo(port);
  try {
    const error = await startDemo(port).then(() => undefined, ({ message }: Error) => message);
    assert.match(error ?? "", "The port is in use; choose another: PORT=8081 npm run demo");
  } finally {
    first.child.kill();
    await first.ended;
  }
});

demo(
  "if anvil is not available for the machine, the demo says so and serves without a node",
  async () => {
    const port = await freePort();
    const other =
      `data:text/javascript,Object.defineProperty(process, "arch", { value: "riscv64" })`;
    const { child, printed, ended } = await startDemo(port, [...FLAGS, "--import", other]);
    try {
      assert.match(
        printed.stderr,
        /^anvil is not available for \w+ on riscv64; serving without a node/,
      );
      const response = await fetch(/curl (\S+)/.exec(printed.stdout)![1]!);
      assert.is((await response.json()).software, "nodeface");
    } finally {
      child.kill();
      await ended;
    }
  },
);

demo.run();
