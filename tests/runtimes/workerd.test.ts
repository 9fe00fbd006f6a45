import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runtimeSuite } from "./_suite.ts";
import { startPlainWorkerd, startWorkerd } from "./_workerd.ts";

runtimeSuite("workerd", startWorkerd);

const threads = suite("workerd, which has no threads");

/** An expression for a service with a description of so many bytes, as the code of the worker. */
const optionsFor = (size: number) =>
  `{ description: { name: "a.json", text: JSON.stringify({
    openapi: "3.1.1",
    info: { title: "Large", version: "1", description: "x".repeat(${size}) },
    paths: {},
  }) } }`;

for (const flags of [[], ["nodejs_compat"]]) {
  threads(
    `serves a description of 3 MB, and none of 5 MB, with ${flags.join() || "no flags"}`,
    async () => {
      for (const [size, title] of [[3e6, "Large"], [5e6, "Nodeface"]] as const) {
        const { url, stop } = await startPlainWorkerd(optionsFor(size), flags);
        try {
          const answer = await fetch(new URL("spec.json", url));
          assert.is((await answer.json()).info.title, title);
        } finally {
          await stop();
        }
      }
    },
  );
}

threads.run();
