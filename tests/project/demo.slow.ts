import { suite } from "uvu";
import * as assert from "uvu/assert";
import { freePort } from "../_port.ts";
import { until } from "../nodes/_daemon.ts";
import { isRunning, nodeOf, startDemo } from "./_demo.ts";

const demo = suite("npm run demo");

demo("the demo shows a growing chain at PORT, which a second demo finds in use", async () => {
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
    let height: number | undefined;
    // Until the node has been detected, the service says that it is starting.
    await until(async () => {
      const { software, height: found } = await info();
      height = found;
      return software === "anvil" && found !== undefined;
    });
    await until(async () => (await info()).height > height!);
    const page = await fetch(`${url}v1/spec`);
    assert.is(page.status, 200);
    await page.arrayBuffer();
    const count = `${url}v1/rpc/eth_getBlockTransactionCountByNumber?block=latest`;
    await until(async () => await (await fetch(count)).json() !== "0x0");
    assert.match(await (await fetch(/curl (\S+)/.exec(printed.stdout)![1]!)).text(), /^"0x\w+"$/);
    const second = await startDemo(port).then(() => undefined, ({ message }: Error) => message);
    assert.match(second ?? "", "The port is in use; choose another: PORT=8081 npm run demo");
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
  await until(() => Promise.resolve(!isRunning(node)));
});

demo.run();
