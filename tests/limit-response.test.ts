import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readResponse, readSourceText, RESPONSE_LIMITS } from "../src/info/limit-response.ts";
import { buildJson, formatJson, parseJson, readNumber } from "../src/json/lossless.ts";
import { JsonScanner } from "../src/json/scan.ts";
import { isEqual, isObject } from "../src/json/values.ts";
import { createRandom } from "./_random.ts";
import { sampleSize } from "./_runtime.ts";

const bounds = suite("node responses within limits");

const nested = (levels: number, inside = "1") => "[".repeat(levels) + inside + "]".repeat(levels);

function refused(text: string, reason: string): void {
  try {
    readResponse(text);
  } catch (error) {
    const { name, code, message } = error as {
      name: string;
      code: string;
      message: string;
    };
    assert.equal([name, code, message], ["SourceError", "bad_answer", reason]);
    return;
  }
  assert.unreachable();
}

bounds(
  "a response within the limits is read unchanged, and integers keep all digits",
  () => {
    const text = '{"a":[1,2.5,"x",null,true,{}],"big":18446744073709551615,"__proto__":{"b":[]}}';
    const { value, omitted } = readResponse(text);
    assert.is(formatJson(value), text);
    assert.equal(omitted, []);
    assert.is(readResponse("9".repeat(40)).value, BigInt("9".repeat(40)));
    assert.is(readResponse(`-${"9".repeat(40)}`).value, -BigInt("9".repeat(40)));
  },
);

bounds("a member that exceeds a limit is omitted, and the other members are used", () => {
  const long = "x".repeat(RESPONSE_LIMITS.string + 1);
  const text =
    `{"a":1,"long":"${long}","digits":${"1".repeat(41)},"list":[1,1e400,3],"deep":${nested(40)},` +
    `"${long}":{"in":[1]},"b":2}`;
  const { value, omitted } = readResponse(text);
  assert.is(
    formatJson(value),
    `{"a":1,"list":[1,null,3],"deep":${nested(31, "null")},"b":2}`,
  );
  assert.equal(omitted, [
    "/long: more than 4096 characters",
    "/digits: more than 40 digits",
    "/list/1: a number out of range",
  ]);
});

bounds("a response may be nested 32 levels deep, but not deeper", () => {
  assert.is(formatJson(readResponse(nested(32)).value), nested(32));
  const { value, omitted } = readResponse(`{"a":${nested(32)},"b":[1]}`);
  assert.is(formatJson(value), `{"a":${nested(31, "null")},"b":[1]}`);
  assert.is(omitted.length, 1);
  assert.match(omitted[0]!, /^\/a(\/0){31}: more than 32 levels deep$/);
});

bounds(
  "a member nested half a million levels deep is skipped like any other",
  () => {
    const { value } = readResponse(`[${nested(500_000, "")},7]`);
    assert.is((value as unknown[])[1], 7);
  },
);

bounds("a number of a million digits is never created", () => {
  const digits = "7".repeat(1_000_000);
  assert.is(
    formatJson(readResponse(`{"height":${digits},"a":1}`).value),
    '{"a":1}',
  );
  assert.is(
    formatJson(readResponse(`{"height":0.${digits},"a":1}`).value),
    '{"a":1}',
  );
  assert.is(
    formatJson(readResponse(`{"height":1e${digits},"a":1}`).value),
    '{"a":1}',
  );
  assert.is(readResponse(digits).value, undefined);
});

bounds("if a key occurs twice, the last value wins, even if that value is omitted", () => {
  const long = JSON.stringify("x".repeat(5000));
  assert.is(formatJson(readResponse(`{"a":1,"a":2}`).value), '{"a":2}');
  assert.is(formatJson(readResponse(`{"a":1,"a":${long}}`).value), "{}");
});

bounds(
  "omissions are reported briefly, without terminal control characters",
  () => {
    const long = JSON.stringify("x".repeat(5000));
    const odd = JSON.stringify(`\u001b[2J\n\u202e${"k".repeat(4000)}`);
    const { omitted } = readResponse(
      `{${odd}:${long},"a":${long},"b":${long},"c":${long}}`,
    );
    assert.is(omitted.length, 3);
    for (const out of omitted) {
      assert.ok(out.length < 130, out);
      // deno-lint-ignore no-control-regex
      assert.not.match(out, /[\x00-\x1f\u202e]/);
    }
  },
);

bounds(
  "a response is refused if it is not JSON, is larger than 1 MiB or has too many values",
  () => {
    refused("", "returned something other than JSON: nothing");
    refused(" \n", "returned something other than JSON: nothing");
    refused("<p>\n\u001b[2J", 'returned something other than JSON: "<p> [2J"');
    refused('{"a":1}}', 'returned something other than JSON: "{\\"a\\":1}}"');
    refused(
      nested(40).slice(1),
      `returned something other than JSON: "${nested(40).slice(1, 40)}…"`,
    );
    refused(`"${"x".repeat(1024 * 1024)}"`, "sent a response of more than 1 MiB");
    refused(
      `[${"[],".repeat(RESPONSE_LIMITS.values)}[]]`,
      "sent a response of more than 50,000 values",
    );
    const most = `[${"1,".repeat(RESPONSE_LIMITS.values - 2)}1]`;
    assert.is(formatJson(readResponse(most).value), most);
  },
);

bounds("plain text from a file or program is used without surrounding white space", () => {
  assert.is(readSourceText(" 1.10\n").value, "1.10");
  assert.is(readSourceText('"quoted"').value, '"quoted"');
  assert.is(formatJson(readSourceText('\n{"a":1}').value), '{"a":1}');
  assert.is(readSourceText("x".repeat(4096)).value, "x".repeat(4096));
  const { value, omitted } = readSourceText("x".repeat(4097));
  assert.is(value, undefined);
  assert.equal(omitted, ["the text: more than 4096 characters"]);
  assert.throws(() => readSourceText("{ broken"), /something other than JSON/);
});

const TEXTS = [
  "",
  "a",
  "__proto__",
  "toString",
  "\ud800",
  "\u0000\u2028\u202e",
  '"\\',
  "é".repeat(40),
];

function writeRandom(random: () => number, depth = 0): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const digits = () => `${1 + Math.floor(random() * 9)}`.repeat(1 + Math.floor(random() * 50));
  const text = () =>
    JSON.stringify(
      random() < 0.01 ? "x".repeat(4100) : pick(TEXTS) + pick(TEXTS),
    );
  const kind = random();
  if (kind < 0.01) return nested(Math.floor(random() * 3000), text());
  if (kind < 0.3 && depth < 45) {
    const members = Array.from(
      { length: Math.floor(random() * 4) },
      () => writeRandom(random, depth + 1),
    );
    return `[${members.join(" , ")}]`;
  }
  if (kind < 0.6 && depth < 45) {
    const members = Array.from(
      { length: Math.floor(random() * 4) },
      () => `${text()} :${writeRandom(random, depth + 1)}`,
    );
    return `{${members.join()}}`;
  }
  if (kind < 0.75) return text();
  if (kind < 0.8) return pick(["true", "false", "null"]);
  const number = `${pick(["", "-"])}${digits()}`;
  return number + pick(["", "", ".5", "e400", "E-3", `e${digits()}`]);
}

function assertBounded(value: unknown, depth = 0): void {
  if (typeof value === "string") assert.ok(value.length <= RESPONSE_LIMITS.string);
  if (typeof value === "bigint") {
    assert.ok(String(value).replace("-", "").length <= RESPONSE_LIMITS.digits);
  }
  if (typeof value === "number") assert.ok(Number.isFinite(value));
  if (typeof value !== "object" || value === null) return;
  assert.ok(depth < RESPONSE_LIMITS.depth, "nested too deep");
  for (const [key, member] of Object.entries(value)) {
    assert.ok(key.length <= RESPONSE_LIMITS.string);
    assertBounded(member, depth + 1);
  }
}

function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.length === whole.length &&
      part.every((item, index) => item === null || isPartOf(item, whole[index]));
  }
  if (!isObject(part)) return isEqual(part, whole);
  return isObject(whole) &&
    Object.entries(part).every(([key, member]) =>
      Object.hasOwn(whole, key) && isPartOf(member, whole[key])
    );
}

bounds(
  "random responses are truncated to the limits",
  () => {
    const random = createRandom(20261121);
    for (let round = 0; round < sampleSize(2000); round++) {
      const text = writeRandom(random);
      const { value, omitted } = readResponse(text);
      assertBounded(value);
      assert.ok(omitted.length <= 3);
      if (omitted.length === 0) {
        assert.ok(
          isEqual(value, buildJson(new JsonScanner(text, { depthMax: Infinity }), readNumber)),
          text,
        );
      }
      // Limiting a value twice must give the same result as limiting the value once.
      if (value === undefined) continue;
      const again = readResponse(formatJson(value));
      assert.equal(again.omitted, [], text);
      assert.is(formatJson(again.value), formatJson(value));
      if (!/\[{400}/.test(text)) {
        assert.ok(
          isPartOf(value, parseJson(text)),
          text,
        );
      }
    }
  },
);

bounds("a text is refused with one short line, wherever its error is", () => {
  const random = createRandom(7);
  for (let round = 0; round < sampleSize(2000); round++) {
    const text = writeRandom(random);
    const at = Math.floor(random() * text.length);
    const broken = text.slice(0, at) +
      ["", "\u0000", "]", '"', "}", ",", "e"][round % 7] +
      text.slice(at + (round % 2));
    try {
      assertBounded(readResponse(broken).value);
    } catch (error) {
      assert.is((error as Error).name, "SourceError", broken);
      assert.ok((error as Error).message.length < 120);
    }
  }
});

bounds.run();
