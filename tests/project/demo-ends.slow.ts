/** The ends of `npm run demo`, and a machine that anvil does not support. */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { freePort } from "../_port.ts";
import { until } from "../nodes/_daemon.ts";
import { FLAGS, isRunning, nodeOf, startDemo } from "./_demo.ts";

const demo = suite("the end of npm run demo");

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
