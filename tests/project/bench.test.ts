import { suite } from "uvu";
import * as assert from "uvu/assert";
import { median, ratiosOf } from "../bench/statistics.ts";

const arithmetic = suite("the arithmetic of the benchmark");

arithmetic("a ratio is the median of the ratios in all rounds", () => {
  assert.is(median(ratiosOf([1, 10, 100], [2, 10, 400])), 0.5);
  assert.is(median(ratiosOf([1, 3, 8, 2], [2, 4, 8, 8])), 0.625);
});

arithmetic("if there are no rounds, the median is NaN", () => {
  assert.ok(Number.isNaN(median([])));
});

arithmetic.run();
