import { suite } from "uvu";
import * as assert from "uvu/assert";
import { isPartial, type Options, readOptions } from "../bench/cli/options.ts";
import { growth } from "../bench/parts/growth.ts";
import { inTurn, requests } from "../bench/parts/requests.ts";
import { start } from "../bench/parts/start.ts";

const plan = suite("the plan of the benchmark");

const told = (...args: string[]): Options => readOptions(args)!;

plan("each server is started, warmed up and measured with the bare one beside it", () => {
  const only = ["--only", "bun", "--paths", "info", "--seconds", "2"];
  const sized = told(...only, "--connections", "1,32", "--rounds", "3");
  // Four fields of two servers: a warm-up of 4 s, and three rounds of 2 s at both numbers.
  const { steps, seconds } = requests.plan(sized);
  assert.is(steps, 4 * 2 * (1 + 2 * 3));
  assert.ok(Math.abs(seconds - 4 * 2 * (1 + 4.1 + 2 * 3 * 2.1)) < 0.01, `${seconds} s`);
});

plan("what is compared goes first as often as last", () => {
  const turns = [0, 1, 2, 3].map((round) => inTurn(["a", "b"], round).join(""));
  assert.equal(turns, ["ab", "ba", "ab", "ba"]);
});

plan("quick, the requests, the start and growth take less than a quarter of the time", () => {
  for (const part of [requests, start, growth]) {
    const [whole, quick] = [part.plan(told()), part.plan(told("--quick"))];
    assert.ok(quick.steps > 0 && quick.steps < whole.steps);
    assert.ok(quick.seconds * 4 < whole.seconds, `${quick.seconds} s of ${whole.seconds} s`);
  }
});

plan("a part of a part is no report", () => {
  for (const args of [["--only", "deno"], ["--paths", "info"], ["--rounds", "2"]]) {
    assert.ok(isPartial(told(...args)), args.join(" "));
  }
  for (const args of [[], ["--quick"], ["requests"], ["--rounds", "3"]]) {
    assert.not(isPartial(told(...args)), args.join(" "));
  }
});

plan("what is not known is refused with what is", () => {
  const refused = (pattern: RegExp, ...args: string[]) =>
    assert.throws(() => readOptions(args), (error: Error) => pattern.test(error.message));
  refused(/^"speed" is no part; there are requests, start, explorer, growth$/, "speed");
  refused(/^"go" is none of node20, /, "--only", "go");
  refused(/^"0" is no whole number above 0$/, "--rounds", "0");
  refused(/^"1e3" is no whole number above 0$/, "--connections", "1,1e3");
});

plan.run();
