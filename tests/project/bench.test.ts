import { suite } from "uvu";
import * as assert from "uvu/assert";
import { median, ratio, spread } from "../bench/statistics.ts";

const arithmetic = suite("the arithmetic of the benchmark");

arithmetic("a spread is the median, the lowest and the highest value", () => {
  assert.is(spread([34.5, 36, 33.9]), "34.5 (33.9–36.0)");
  assert.is(spread([]), "–");
});

arithmetic("a ratio is the quotient of the medians, between the quotients of the rounds", () => {
  assert.is(ratio([57.7, 50, 60], [46.9, 49, 40]), "1.23 (1.02–1.50)");
  assert.is(ratio([1, 10, 100], [2, 10, 400]), "1.00 (0.25–1.00)");
});

arithmetic("if there are no rounds, the median is NaN", () => {
  assert.ok(Number.isNaN(median([])));
});

arithmetic.run();
