/**
 * Calls the read-only operations of litecoind (`apt-get install litecoind`) from the simple page.
 */
import { suite } from "uvu";
import { testResults } from "./_try-node.ts";

const litecoind = suite("read-only operations of litecoind, called from the simple page");

testResults(litecoind, "bitcoin", 40);

litecoind.run();
