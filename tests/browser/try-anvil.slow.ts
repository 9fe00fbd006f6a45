import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { sendWrong, testResults } from "./_try-node.ts";

const { path, start } = PROGRAMS.ethereum!;

const anvil = suite("read-only operations of anvil, called from the simple page");

testResults(anvil, "ethereum", 30);

testWhere(anvil, without(path), "an invalid parameter is marked at its field", async () => {
  const node = await start();
  try {
    const body = '{ "nonsense": 1 }';
    const said = await sendWrong(node, "ethereum", "eth_call", { body }, "body");
    assert.match(said, "nonsense is unknown");
  } finally {
    await node.stop();
  }
});

anvil.run();
