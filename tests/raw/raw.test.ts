import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CASES } from "./_cases.ts";
import { DIFFERENCES } from "./_differences.ts";
import { RUNTIMES } from "./_servers.ts";
import { rawSuite } from "./_table.ts";

rawSuite("the same bytes on every runtime", RUNTIMES);

const differences = suite("the list of differences");

differences("every difference in the list exists", () => {
  const names = new Set(CASES.map(({ name }) => name));
  for (const { runtime, cases } of DIFFERENCES) {
    assert.ok([...RUNTIMES.keys()].some((name) => name.startsWith(runtime)));
    for (const name of Object.keys(cases)) assert.ok(names.has(name), name);
  }
  assert.ok(DIFFERENCES.length <= 19);
  assert.ok(CASES.length >= 120);
});

differences.run();
