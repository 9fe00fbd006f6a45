/**
 * Tests the served descriptions with generators, linters, validators and a mock server.
 * `DOCUMENTS=Ergo` selects documents by name. With `DESCRIPTIONS=one.yaml:two.json`, the suite
 * tests the files `one.yaml` and `two.json` instead. The suite is skipped if the tools are not
 * installed; `npm run test:all` installs the tools.
 */
import { existsSync } from "node:fs";
import { suite } from "uvu";
import { testWhere } from "../_needs.ts";

const isInstalled = existsSync(new URL("node_modules/.installed", import.meta.url));

if (isInstalled) {
  const [{ FURTHER, OF_KINDS, REAL, SMALL }, { testPairs }, { TOOLS }] = await Promise.all([
    import("./_documents.ts"),
    import("./_suite.ts"),
    import("./_tools.ts"),
  ]);
  testPairs(FURTHER.length > 0 ? FURTHER : [...SMALL, ...REAL, ...OF_KINDS], TOOLS);
} else {
  const tools = suite("documents and tools");
  const missing = "needs node tests/tools/setup.mjs";
  testWhere(tools, missing, "each tool reads each document", () => Promise.resolve());
  tools.run();
}
