import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../src/json/values.ts";
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

pace("the time that a node takes for its headers is not that for its blocks", async () => {
  const { info, pass, held } = setScene({
    fetch: (...request) => held.fetch(...request),
    node: { kind: "ergo" },
  });
  const start = held.date;
  const DAY = 86_400_000;
  const infoAt = async (fullHeight: number | null, headersHeight: number, headAt: number) => {
    const whole = recordingOf("ergo", syncAfter(0, start));
    const values = { fullHeight, headersHeight, maxPeerHeight: 1_000_000 };
    const answers = {
      "GET /info": { ...whole.answers["GET /info"] as JsonObject, ...values },
      "GET /blocks/lastHeaders/1": [{ timestamp: headAt }],
    };
    held.fetch = play({ ...whole, answers });
    const { status, seconds_left } = await info();
    assert.is(status, "syncing");
    pass(10_000);
    return seconds_left as number | undefined;
  };
  for (let step = 0; step < 60; step++) {
    const left = await infoAt(null, 400_000 + step * 10_000, start - (60 - step) * DAY);
    assert.is(left, undefined);
  }
  for (let step = 1; step <= 30; step++) {
    const left = await infoAt(step * 100, 1_000_000, held.date - 60_000);
    if (step <= 6) assert.is(left, undefined);
    if (step > 7) {
      const expected = (1_000_000 - step * 100) / 10;
      assert.ok(Math.abs(left! / expected - 1) < 0.3, `${left} s left, not ${expected}`);
    }
  }
});

pace.run();
