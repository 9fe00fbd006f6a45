import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseJsonPieces } from "../src/description/json-pieces.ts";
import { parseJson } from "../src/json.ts";

const pieces = suite("a description in JSON that is read in pieces");

/** So long that what holds it is taken apart. */
const LONG = "x".repeat(140_000);

const leaf = fc.oneof(fc.jsonValue(), fc.constant(LONG));
const object = fc.dictionary(fc.string(), leaf, { noNullPrototype: true });
const document = fc.dictionary(fc.string(), fc.oneof(leaf, object), { noNullPrototype: true });

const read = (text: string) => parseJsonPieces(new TextEncoder().encode(text));

pieces("it says what it says as a whole (100 documents)", async () => {
  await fc.assert(
    fc.asyncProperty(document, fc.constantFrom(0, 1, 2), async (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      assert.equal((await read(text))?.value, parseJson(text));
    }),
    { numRuns: 100 },
  );
});

pieces("what is no JSON is not read, wherever the mistake is (300 documents)", async () => {
  const character = fc.constantFrom(...'"{}[],:\\1 ');
  const change = fc.record({ at: fc.nat(), character, isAdded: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(document, change, async (value, { at, character, isAdded }) => {
      const short = JSON.stringify(value).replaceAll(LONG, "@");
      const offset = at % (short.length + 1);
      const [before, after] = [short.slice(0, offset), short.slice(isAdded ? offset : offset + 1)];
      const text = (before + (isAdded ? character : "") + after).replaceAll("@", LONG);
      const result = await read(text);
      if (result) assert.equal(result.value, parseJson(text));
    }),
    { numRuns: 300 },
  );
});

pieces("a key that stands twice is not passed over, near or far apart", async () => {
  for (const between of ['"b":1', `"b":"${LONG}"`, `"b":{"c":"${LONG}","c":1}`]) {
    assert.is(await read(`{"a":1,${between},"a":2}`), undefined);
  }
  assert.is(await read(`{"b":{"c":"${LONG}","c":1}}`), undefined);
});

pieces.run();
