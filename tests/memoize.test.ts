import { suite } from "uvu";
import * as assert from "uvu/assert";
import { bounded } from "../src/http/memoize.ts";

const remembered = suite("what is remembered");

/** A function that remembers two results, and the inputs it has run for. */
function remembering() {
  const worked: string[] = [];
  const lengthOf = bounded((input) => {
    worked.push(input);
    return input.length;
  }, 2);
  return { lengthOf, worked };
}

remembered("an input that comes again is not worked on again", () => {
  const { lengthOf, worked } = remembering();
  for (const input of ["a", "bb", "a", "bb"]) assert.is(lengthOf(input), input.length);
  assert.equal(worked, ["a", "bb"]);
});

remembered("however many inputs come, no more results are kept than was said", () => {
  const { lengthOf, worked } = remembering();
  const inputs = ["a", "b", "c", "d"];
  for (const input of inputs) lengthOf(input);
  worked.length = 0;
  for (const input of inputs) lengthOf(input);
  assert.ok(worked.length >= 2);
});

remembered("a long input is answered, and not kept", () => {
  const { lengthOf, worked } = remembering();
  const long = "a".repeat(513);
  assert.equal([lengthOf(long), lengthOf(long)], [513, 513]);
  assert.is(worked.length, 2);
});

remembered.run();
