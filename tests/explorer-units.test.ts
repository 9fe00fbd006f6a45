import { suite } from "uvu";
import * as assert from "uvu/assert";
import { writeEvent } from "../src/http/event-stream.ts";
import { readLines } from "../src/explorer/json-lines.ts";
import { readEvent } from "../src/explorer/page-event.ts";
import { describeNumber, unitsOf } from "../src/explorer/units.ts";

const units = suite("readable results");

units("a number is converted to its unit; rounded values begin with ≈", () => {
  assert.is(describeNumber('"0x13b"', "quantity"), "= 315");
  assert.is(describeNumber("315", "quantity"), "");
  assert.is(describeNumber('"0x21e19e0c9bab2400000"', "wei"), "= 10\u202f000 ether");
  assert.is(describeNumber('"0x21e19de14bdc079776e"', "wei"), "≈ 9\u202f999.99923805 ether");
  assert.is(describeNumber('"0x77359400"', "wei"), "= 2 gwei");
  assert.is(describeNumber('"0x1"', "wei"), "= 1 wei");
  assert.is(describeNumber("5000000000", "satoshi"), "= 50 coins");
  assert.is(describeNumber("1", "satoshi"), "= 0.00000001 coins");
  assert.is(describeNumber('"0x6b02a894"', "unix-time"), "= 2026-11-22 08:32:20 UTC");
  assert.is(describeNumber("0", "unix-time"), "= 1970-01-01 00:00:00 UTC");
});

units("only numbers of up to 78 digits and times until the year 9999 are converted", () => {
  assert.match(describeNumber(`"0x${"f".repeat(64)}"`, "quantity"), /^= 115\u202f792/);
  assert.is(describeNumber(`"0x${"f".repeat(65)}"`, "quantity"), "");
  assert.is(describeNumber("9".repeat(79), "satoshi"), "");
  assert.is(describeNumber("253402300799", "unix-time"), "= 9999-12-31 23:59:59 UTC");
  for (const token of ["253402300800", "-1", "1e9", '"latest"', "null", '"0x"', '"1.5"']) {
    assert.is(describeNumber(token, "unix-time"), "", token);
  }
});

units("units are found by member name; a name with several different units has none", () => {
  const schemas = {
    Quantity: { type: "string", "x-unit": "quantity" },
    Block: {
      type: "object",
      properties: {
        number: { oneOf: [{ $ref: "#/components/schemas/Quantity" }, { type: "null" }] },
        nonce: { type: "string" },
        fees: { type: "array", items: { type: "string", "x-unit": "wei" } },
        odd: { "x-unit": "__proto__", type: "string" },
        strange: { "x-unit": { toString: null }, $ref: { toString: null } },
        parent: { $ref: "#/components/schemas/Block" },
        inner: { properties: { nonce: { $ref: "#/components/schemas/Quantity" } } },
        "a b": { $ref: "#/components/schemas/Quantity" },
      },
    },
  };
  const of = (name: string) => {
    const schema = { $ref: `#/components/schemas/${name}` };
    const responses = { 200: { content: { "application/json": { schema } } } };
    return unitsOf({ components: { schemas } }, { responses });
  };
  assert.equal(of("Block"), { number: "quantity", fees: "wei", "a b": "quantity" });
  assert.equal(of("Quantity"), { "": "quantity" });
  assert.is(of("Nothing"), undefined);
});

const textsOf = (text: string) => readLines(text)?.map((line) => line.text).join("\n");

units("JSON is indented without changing any number", () => {
  const text = '{"n":18446744073709551615,"d":1.00000000,"list":[1,{"a":[]}],"o":{},"s":"{\\"[,"}';
  assert.is(
    textsOf(text),
    '{\n  "n": 18446744073709551615,\n  "d": 1.00000000,\n  "list": [\n    1,\n    {\n' +
      '      "a": []\n    }\n  ],\n  "o": {},\n  "s": "{\\"[,"\n}',
  );
  assert.is(textsOf('"x"'), '"x"');
  assert.is(readLines("{"), undefined);
});

units("each line of JSON has a value, a member name, and the number of its closing line", () => {
  const lines = readLines('{"a":[["0x1",2]],"b":{"c":null}}')!;
  assert.equal(
    lines.map(({ name, value, end, count }) => [name, value, end, count]),
    [
      ["", "", 10, 2],
      ["a", "", 6, 1],
      ["a", "", 5, 2],
      ["a", '"0x1"', 3, 0],
      ["a", "2", 4, 0],
      ["", "", 5, 0],
      ["", "", 6, 0],
      ["b", "", 9, 1],
      ["c", "", 8, 0],
      ["", "", 9, 0],
      ["", "", 10, 0],
    ],
  );
});

units("deeply nested JSON can be formatted, and its indentation is limited", () => {
  const depth = 5000;
  const lines = readLines("[".repeat(depth) + "1" + "]".repeat(depth))!;
  assert.is(lines.length, 2 * depth + 1);
  assert.ok(lines.every(({ text }) => text.length <= 130));
});

units("an event shows its name and data; the service's own last event says why it ends", () => {
  const ofService = writeEvent('{"reason":"The node is gone"}', "event: end\n").trimEnd();
  assert.equal(readEvent(ofService), { reason: "The node is gone" });
  assert.equal(readEvent("event: head\nid: 1\ndata: a\ndata: b"), { text: "head a\nb" });
  assert.equal(readEvent("data:a"), { text: "a" });
  for (const none of [":", "retry: 2000", "event: end"]) assert.equal(readEvent(none), {}, none);
  // Operations of hosts name their events as they like.
  for (const data of ["done", "[]", "null", '{"reason":7}']) {
    assert.equal(readEvent(`event: end\ndata: ${data}`), { text: `end ${data}` });
  }
});

units.run();
