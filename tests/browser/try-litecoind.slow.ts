/**
 * Calls the read-only operations of litecoind (`apt-get install litecoind`) from the simple page.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { sendReads } from "./_try-node.ts";

const { path, start } = PROGRAMS.bitcoin!;

const litecoind = suite("read-only operations of litecoind, called from the simple page");

testWhere(
  litecoind,
  without(path),
  "each operation shows the result that the node itself gives",
  async () => {
    const node = await start();
    try {
      const { sent, wrong } = await sendReads(node, "bitcoin");
      assert.equal(wrong, []);
      assert.ok(sent >= 40, `${sent} were sent`);
    } finally {
      await node.stop();
    }
  },
);

litecoind.run();
