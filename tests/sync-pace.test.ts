import { suite } from "uvu";
import * as assert from "uvu/assert";
import { setScene } from "./_scene.ts";
import { play } from "./nodes/_recorded.ts";
import { recordingOf, syncAfter, SYNCING } from "./nodes/_syncing.ts";

const pace = suite("the pace of nodes that sync");

for (const name of Object.keys(SYNCING)) {
  pace(
    `${name}: the progress grows, and the time left is right within a factor of two`,
    async () => {
      const { info, pass, held } = setScene({
        fetch: (...request) => held.fetch(...request),
        node: { kind: name.split(",")[0]! },
      });
      const start = held.date;
      let before = 0;
      let earliest: number | undefined;
      for (let second = 0; second <= 600; second += 10) {
        const state = syncAfter(second, start);
        held.fetch = play(recordingOf(name, state));
        const { status, status_code, progress, seconds_left } = await info();
        assert.equal([status, status_code], ["syncing", "syncing"]);
        if (second >= 60) {
          assert.type(progress, "number", `after ${second} s`);
          assert.ok(Number(progress) >= before, `${progress} after ${before}`);
          before = Number(progress);
          earliest ??= before;
          const factor = Number(seconds_left) / state.left;
          assert.ok(factor > 0.5 && factor < 2, `${seconds_left} s left, not ${state.left}`);
        }
        pass(10_000);
      }
      assert.ok(before > earliest! + 0.1, `${earliest} to ${before}`);
    },
  );
}

pace.run();
