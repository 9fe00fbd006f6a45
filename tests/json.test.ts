import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readParts } from "../src/json/parts.ts";
import { decodePercent } from "../src/decode.ts";
import { formatJson, parseJson } from "../src/json/lossless.ts";
import { DEPTH_MAX, JsonScanner, JsonSyntaxError } from "../src/json/scan.ts";
import {
  formatPointer,
  isEqual,
  isObject,
  mapMembers,
  parsePointer,
  resolveFragment,
  resolvePointer,
  setMember,
  textOf,
} from "../src/json/values.ts";
import { readRpcResponse, type RpcResponse } from "../src/node/json-rpc.ts";
import { parse } from "../src/openapi/parse.ts";
import { draws } from "./_runtime.ts";

const json = suite("JSON");

const nested = (depth: number, inside = "") => "[".repeat(depth) + inside + "]".repeat(depth);

function thrownBy(act: () => unknown): Error | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function mistakeIn(text: string): [number, string] | undefined {
  const error = thrownBy(() => parseJson(text));
  if (error === undefined) return undefined;
  assert.instance(error, JsonSyntaxError);
  const { offset, message } = error as JsonSyntaxError;
  return [offset, message];
}

/** An earlier implementation used this placeholder for large numbers. */
const MARK = "\0\uffff";

const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.bigInt({ min: -(10n ** 300n), max: 10n ** 300n }),
    fc.string({ unit: "binary" }),
    fc.constantFrom(`${MARK}5`, `${MARK}-12345678901234567890`, "\ud800", "\u2028", "1e400"),
    fc.array(tie("value")),
    fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom("__proto__", "toJSON", `${MARK}7`, "")),
      tie("value"),
      { noNullPrototype: true },
    ),
  ),
})).value;

/** A JSON round trip turns `-0` into `0`, and a large integer into a `bigint`. */
function readAgain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readAgain);
  if (typeof value === "object" && value !== null) {
    const copy = {};
    for (const [key, member] of Object.entries(value)) setMember(copy, key, readAgain(member));
    return copy;
  }
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  if (typeof value !== "number") return value;
  const isWritten = Number.isInteger(value) && !Number.isSafeInteger(value) &&
    !String(value).includes("e");
  return isWritten ? BigInt(String(value)) : value + 0;
}

json("a value that is formatted and parsed again keeps all digits of its numbers", () => {
  fc.assert(
    fc.property(anyJson, fc.constantFrom(0, 1, 2), (value, indent) => {
      const text = formatJson(value, indent);
      JSON.parse(text);
      assert.ok(isEqual(parseJson(text), readAgain(value)), text);
    }),
    draws(1000),
  );
});

json("JSON without large numbers is parsed and formatted exactly as by the runtime", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.constantFrom(0, 1, 2), (value, indent) => {
    const text = JSON.stringify(value, null, indent);
    assert.is(formatJson(value, indent), text);
    assert.is(
      formatJson([value, 2n ** 64n], indent),
      formatJson([value, 0], indent)
        .replace(/0(?=\s*\]$)/, String(2n ** 64n)),
    );
  }));
  const odd = { a: undefined, b: [undefined, NaN], c: new Date(0), d: {}, e: [] };
  assert.is(formatJson({ ...odd, n: 1n }), JSON.stringify({ ...odd, n: 1 }));
  assert.is(formatJson({ ...odd, n: 1n }, 2), JSON.stringify({ ...odd, n: 1 }, null, 2));
  assert.is(formatJson(undefined), "null");
});

json("a number keeps its digits where a double would round it", () => {
  const numbers: [text: string, value: unknown][] = [
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", 9007199254740993n],
    ["-18446744073709551615", -18446744073709551615n],
    ['[1,{"a":12345678901234567890}]', [1, { a: 12345678901234567890n }]],
    ['{"12345678901234567890":"12345678901234567890"}', {
      "12345678901234567890": "12345678901234567890",
    }],
    [String.raw`{"a\"1234567890123456789":"x\\","b":1234567890123456789}`, {
      'a"1234567890123456789': "x\\",
      b: 1234567890123456789n,
    }],
    ['{"__proto__":12345678901234567890}', { ["__proto__"]: 12345678901234567890n }],
    ['{"a":12345678901234567890,"a":1}', { a: 1 }],
  ];
  for (const [text, value] of numbers) assert.equal(parseJson(text), value, text);
});

json("a number beyond the range of doubles becomes a string of its digits, even in a list", () => {
  const digits = "9".repeat(400);
  assert.equal(parseJson(`[1e400,-1E+999,${digits},{"a":1e400}]`), [
    "1e400",
    "-1E+999",
    digits,
    { a: "1e400" },
  ]);
  assert.is(parseJson("1e308"), 1e308);
});

json("a fraction is rounded to a double, and minus zero is formatted as zero", () => {
  assert.is(parseJson("0.12345678901234567890"), 0.12345678901234568);
  assert.is(parseJson("12345678901234567890.0"), 12345678901234567000);
  assert.is(parseJson("1e-400"), 0);
  assert.ok(Object.is(parseJson("-0"), -0));
  assert.is(formatJson([-0, 2n ** 64n]), "[0,18446744073709551616]");
});

json("a syntax error is found at any position, with the same message on every runtime", () => {
  const mistakes: Record<string, [number, string]> = {
    '{"a":1,}': [7, 'expected a key in double quotes, not "}"'],
    '{"a" 1}': [5, 'expected a colon, not "1"'],
    "{a:1}": [1, 'expected a key in double quotes or }, not "a"'],
    '["x" "y"]': [5, "expected a comma or ], not a string"],
    "[1,]": [3, 'expected a value, not "]"'],
    '{"a":tru}': [5, 'expected a value, not "t"'],
    '["x\ny"]': [1, "this string does not end, or has a character that must be escaped"],
    '["\\x"]': [1, "this string does not end, or has a character that must be escaped"],
    '["\\u00g0"]': [1, "this string does not end, or has a character that must be escaped"],
    '"x': [0, "this string does not end, or has a character that must be escaped"],
    '{"a":01}': [5, 'expected a value, not "0"'],
    "-": [0, 'expected a value, not "-"'],
    "NaN": [0, 'expected a value, not "N"'],
    '{"a":1 // x\n}': [7, 'expected a comma or }, not "/"'],
    '{"a":[1': [7, "expected a comma or ] before the end"],
    "": [0, "expected a value before the end"],
    "[12345678901234567890,tru]": [22, 'expected a value, not "t"'],
    "{}]": [2, 'expected the end, not "]"'],
    "\u00a01": [0, 'expected a value, not "\u00a0"'],
    "\u202e": [0, 'expected a value, not "\\u202e"'],
    "\u{1f600}": [0, 'expected a value, not "\u{1f600}"'],
  };
  for (const [text, mistake] of Object.entries(mistakes)) {
    assert.equal(mistakeIn(text), mistake, text);
  }
  fc.assert(fc.property(fc.json(), fc.nat(), (text, n) => {
    assert.is(mistakeIn(text), undefined);
    const offset = n % (text.length + 1);
    const [found, message] = mistakeIn(`${text.slice(0, offset)}\x01${text.slice(offset)}`)!;
    assert.ok(found <= offset && !message.includes("ends"));
  }));
});

json("the scanner accepts the same texts as the runtime's JSON.parse", () => {
  const piece = fc.constantFrom(...'{}[],:"\\-+.eE0123u \n'.split(""), "true", "null", '"a"', "1");
  const text = fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(text, (text) => {
      const scanner = new JsonScanner(text);
      const isScanned = !thrownBy(() => {
        while (scanner.next());
      });
      assert.is(isScanned, !thrownBy(() => JSON.parse(text)), text);
    }),
    draws(5000),
  );
});

json("every token has an offset, a nesting depth and a value", () => {
  const scanner = new JsonScanner(' {"\\u0061":\t[-1.5e3, true]} ');
  const tokens: unknown[] = [];
  while (scanner.next()) {
    const { kind, start, depth, raw } = scanner;
    tokens.push([kind, start, depth, kind === "key" ? scanner.string : raw]);
  }
  assert.equal(tokens, [
    ["{", 1, 1, "{"],
    ["key", 2, 1, "a"],
    ["[", 12, 2, "["],
    ["number", 13, 2, "-1.5e3"],
    ["literal", 21, 2, "true"],
    ["]", 25, 1, "]"],
    ["}", 26, 0, "}"],
  ]);
});

json("a long string is read in pieces, and its token is the same", () => {
  const plain = new JsonScanner('{"a\\u00e9b\\n":"cd\\"\\u0041e"}');
  const inPieces = new JsonScanner('{"a\\u00e9b\\n":"cd\\"\\u0041e"}', {
    depthMax: 9,
    pieceMax: 2,
  });
  let pieces = 0;
  const nextWhole = () => {
    const isMore = inPieces.next();
    if (inPieces.kind !== "piece") return isMore;
    pieces++;
    return nextWhole();
  };
  while (plain.next()) {
    assert.ok(nextWhole());
    assert.equal([inPieces.kind, inPieces.raw], [plain.kind, plain.raw]);
  }
  assert.not.ok(nextWhole());
  assert.is(pieces, 5);
});

json("duplicate keys are found, even if they are escaped differently", async () => {
  const findDuplicateKeys = async (text: string) => {
    const bytes = new TextEncoder().encode(text);
    const { diagnostics } = await parse("x", { bytes, isJson: true });
    return diagnostics.list().map(({ place, more }) => [place, more]);
  };
  const text = '{"a":{"b":1,"a":2},"\\u0061":[{"a":1},{"a":1}],"a":"a"}';
  assert.equal(await findDuplicateKeys(text), [[text.indexOf('"\\u0061"'), 1]]);
  assert.equal(await findDuplicateKeys('{"a":1,"b":{"a":1}}'), []);
  assert.equal(await findDuplicateKeys('{"__proto__":1,"constructor":2}'), []);
});

json("while a long response is read, others have their turns", async () => {
  let isRead = false, turns = 0;
  const take = () => {
    turns++;
    if (!isRead) setTimeout(take, 0);
  };
  take();
  const result = `[${"1,".repeat(4_000_000)}1]`;
  const response = await readRpcResponse(`{"id":1,"result":${result}}`, 64, "last");
  isRead = true;
  assert.is((response as RpcResponse).result, result);
  assert.ok(turns > 3, `${turns} turns`);
});

json("a result is found whole, whatever it holds, and missed if any of it is missing", async () => {
  const content = fc.tuple(anyJson, fc.nat());
  const property = fc.asyncProperty(content, async ([value, place]) => {
    const result = formatJson(value, 2);
    const text = `{"id":1,"result":[${result}],"error":null}`;
    const response = await readRpcResponse(text, DEPTH_MAX, "last");
    const { id, result: found, error } = response as RpcResponse;
    assert.equal([id, found, error], ["1", `[${result}]`, undefined]);
    const part = readRpcResponse(text.slice(0, place % text.length), DEPTH_MAX, "last");
    assert.instance(await part.catch((error) => error), JsonSyntaxError);
  });
  await fc.assert(property, draws(300));
});

json("of a batch, at most a thousand responses are read", async () => {
  const responses = await readRpcResponse(`[${"{},".repeat(300_000)}{}]`, 64, "last");
  assert.is((responses as RpcResponse[]).length, 1000);
});

json("reads that wait for each other's turns all end", async () => {
  const text = `{"id":1,"result":[${"1,".repeat(100_000)}1]}`;
  const all = Array.from({ length: 20 }, () => readRpcResponse(text, 64, "last"));
  assert.is((await Promise.all(all)).length, 20);
  const broken = Array.from({ length: 3 }, () => readRpcResponse(text.slice(0, -1), 64, "last"));
  const outcomes = await Promise.allSettled(broken);
  assert.ok(outcomes.every(({ status }) => status === "rejected"));
});

json("JSON may be nested at most 512 levels deep; deeper nesting overflows no stack", () => {
  assert.ok(parseJson(nested(DEPTH_MAX)));
  const deepest = nested(DEPTH_MAX, "12345678901234567890");
  assert.is(formatJson({ a: parseJson(deepest) }), `{"a":${deepest}}`);
  for (
    const text of [
      nested(DEPTH_MAX + 1),
      nested(DEPTH_MAX + 1, "12345678901234567890"),
      nested(1_000_000),
      "[".repeat(1_000_000),
      '{"a":'.repeat(1_000_000),
    ]
  ) {
    const error = thrownBy(() => parseJson(text)) as JsonSyntaxError;
    assert.instance(error, JsonSyntaxError);
    assert.is(error.message, "nested more than 512 levels deep");
    assert.is(error.offset, text.startsWith("{") ? 5 * DEPTH_MAX : DEPTH_MAX);
  }
});

json("a text of any length is parsed without a stack overflow", () => {
  const large = "12345678901234567890";
  const long = JSON.stringify("\n".repeat(4_000_000));
  assert.is((parseJson(`[${long},${large}]`) as [string])[0].length, 4_000_000);
  assert.is((parseJson(`[${"7".repeat(4_000_000)},${large}]`) as [string])[0].length, 4_000_000);
  assert.is(mistakeIn(long.slice(0, -1))?.[0], 0);
  assert.is(mistakeIn(`${" ".repeat(4_000_000)}x`)?.[0], 4_000_000);
});

json("a value that contains itself is refused with an error that says so", () => {
  const circle: { n: bigint; self?: unknown } = { n: 1n };
  circle.self = [circle];
  const error = thrownBy(() => formatJson(circle));
  assert.instance(error, RangeError);
  assert.match(error!.message, "cannot write JSON: the value contains itself");
});

/**
 * The examples of RFC 6901: the document and the pointers of section 5, and the URI fragments of
 * section 6.
 */
const DOCUMENT = {
  "foo": ["bar", "baz"],
  "": 0,
  "a/b": 1,
  "c%d": 2,
  "e^f": 3,
  "g|h": 4,
  "i\\j": 5,
  'k"l': 6,
  " ": 7,
  "m~n": 8,
};
const POINTERS: [pointer: string, fragment: string, value: unknown][] = [
  ["", "", DOCUMENT],
  ["/foo", "/foo", ["bar", "baz"]],
  ["/foo/0", "/foo/0", "bar"],
  ["/", "/", 0],
  ["/a~1b", "/a~1b", 1],
  ["/c%d", "/c%25d", 2],
  ["/e^f", "/e%5Ef", 3],
  ["/g|h", "/g%7Ch", 4],
  ["/i\\j", "/i%5Cj", 5],
  ['/k"l', "/k%22l", 6],
  ["/ ", "/%20", 7],
  ["/m~0n", "/m~0n", 8],
  ["/foo/-", "/foo/-", undefined],
  ["/foo/2", "/foo/2", undefined],
  ["/foo/00", "/foo/00", undefined],
  ["/foo/length", "/foo/length", undefined],
  ["/toString", "/toString", undefined],
  ["/foo/0/length", "/foo/0/length", undefined],
  ["foo", "foo", undefined],
  ["/m~n", "/m~n", undefined],
  ["/m~2n", "/m~2n", undefined],
];

json("a JSON pointer finds the same value when it is a URI fragment (RFC 6901)", () => {
  for (const [pointer, fragment, value] of POINTERS) {
    assert.equal(resolvePointer(DOCUMENT, pointer), value, pointer);
    assert.equal(resolveFragment(DOCUMENT, fragment), value, fragment);
  }
  assert.is(resolveFragment(DOCUMENT, "/a%2Fb"), 1);
  assert.is(resolveFragment(DOCUMENT, "/c%d"), 2);
});

json("a path that is formatted as a pointer and parsed again stays the same", () => {
  const key = fc.string({ unit: fc.constantFrom(..."~/01a%".split("")) });
  fc.assert(fc.property(fc.array(key), (path) => {
    assert.equal(parsePointer(formatPointer(path)), path);
  }));
});

json("text that is not percent-encoded is returned unchanged", () => {
  assert.is(decodePercent("%C3%A9%20%2f"), "\u00e9 /");
  for (const text of ["100%", "%", "%zz", "%ff", "a"]) assert.is(decodePercent(text), text);
});

json("a number is converted to text, but no other type is", () => {
  assert.equal(["a", 1, 2n ** 64n].map(textOf), ["a", "1", "18446744073709551616"]);
  for (const value of [undefined, null, true, {}, []]) assert.is(textOf(value), undefined);
});

json("two values are equal if they have the same content, whatever the order of their keys", () => {
  const value = { a: [1, { b: null }], c: "x", ["__proto__"]: 2n ** 64n };
  assert.ok(isEqual(value, { ["__proto__"]: 2n ** 64n, c: "x", a: [1, { b: null }] }));
  const different: [unknown, unknown][] = [
    [[1], [1, 2]],
    [[1, 2], [1]],
    [[1], [2]],
    [[], {}],
    [{}, []],
    [{}, null],
    [null, {}],
    [{}, 1],
    [1, "1"],
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: undefined }, { b: undefined }],
    [{ toString: 1 }, {}],
  ];
  for (const [a, b] of different) assert.not.ok(isEqual(a, b), formatJson([a, b]));
});

json("a member can be set and replaced, even if its name is __proto__", () => {
  const object = {};
  for (const value of [1, 2]) {
    for (const key of ["a", "__proto__"]) setMember(object, key, value);
  }
  assert.is(formatJson(object), '{"a":2,"__proto__":2}');
  assert.is(Object.getPrototypeOf(object), Object.prototype);
  assert.equal([{}, [], null, 1, "a", undefined].map(isObject), [true, ...Array(5).fill(false)]);
});

json("changing no member returns the object itself, so that large values are not copied", () => {
  const object = { a: 1, b: [2] };
  assert.ok(mapMembers(object, (member) => member) === object);
  assert.equal(mapMembers(object, (_, key) => key === "a" ? undefined : 3), { b: 3 });
  assert.equal(object, { a: 1, b: [2] });
});

json("of the lists in a batch, no item is kept", async () => {
  const wanted = { levels: 2, member: () => true } as const;
  const { items } = await readParts('[[0,[1]],{"a":[2]}]', wanted, 64);
  const [list, object] = items!;
  assert.equal([list!.items, list!.count, object!.members!.get("a")!.items], [
    undefined,
    2,
    undefined,
  ]);
});

json.run();
