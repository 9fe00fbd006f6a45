import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  excerpt,
  printable,
  printableJson,
  quote,
  shorten,
  startOf,
  withoutKeys,
} from "../src/untrusted-text.ts";

const text = suite("untrusted text");

const RIGHT_TO_LEFT = "\u202e", ISOLATE = "\u2066", MARK = "\u200f", LINE = "\u2028";

text("a text is truncated at the end of a word if a word ends near the limit", () => {
  assert.is(shorten("a short text", 12), "a short text");
  assert.is(shorten("a text that is longer", 16), "a text that is…");
  assert.is(shorten("a veryverylongword", 12), "a veryveryl…");
  assert.is(shorten("", 0), "");
});

text("a truncated text never contains half a surrogate pair, and never exceeds its limit", () => {
  assert.is(shorten("abc\u{1f600}\u{1f600}", 5), "abc…");
  assert.is(startOf("ab\u{1f600}", 3), "ab");
  assert.is(startOf("ab\ud83d", 3), "ab\ud83d");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 20 }), (value, length) => {
      for (const cut of [shorten(value, length), startOf(value, length)]) {
        assert.ok(cut.length <= length, cut);
        new TextDecoder("utf-8", { fatal: true }).decode(new TextEncoder().encode(cut));
        assert.not.match(cut, /\ufffd/.test(value) ? /$^/ : /[\ud800-\udbff](?![\udc00-\udfff])/);
      }
    }),
  );
});

text("a text from the network stays on one log line, without control characters", () => {
  const hostile = ` a\r\nb${LINE}c\td${RIGHT_TO_LEFT}e${ISOLATE}${MARK}f\x1b[31m\x9b1m\x00 `;
  assert.is(excerpt(hostile), "a b c d e f [31m 1m");
  assert.is(excerpt("word ".repeat(100)).length <= 120, true);
  assert.is(excerpt("a b c", 3), "a…");
});

text("secrets in a URL are replaced before it is printed", () => {
  for (
    const [printed, ...written] of [
      [
        "GET https://a.example/x?api_key=***&b=***#c",
        "GET https://a.example/x?api_key=k.1:2,3&b=2#c",
      ],
      ["http://***@a.example/", "http://user:pass@a.example/", "http://u:p@ss@a.example/"],
      ['"https://a.example/?***"', '"https://a.example/?secret"'],
      ["/path?token=***", "/path?token=k"],
      // The keys of hosted nodes. Names of methods have no digit, and a host is shown.
      [
        "at https://a.example/v3/***/eth_getBlockTransactionCount by x",
        "at https://a.example/v3/0123456789abcdef01234567/eth_getBlockTransactionCount by x",
      ],
      [
        "http://0123456789abcdef01234567/***",
        "http://0123456789abcdef01234567/a-1_b2C3d4e5f6g7h8i9j0",
      ],
      ["is it? a=b, ^(?:x)?(?=y)$, me@a.example, GET /blocks/{height}"],
    ] as const
  ) {
    for (const text of [printed, ...written]) assert.is(withoutKeys(text), printed);
  }
});

// If masking takes quadratic time, this test takes hours.
text("secrets are masked in linear time", () => {
  const many = "://".repeat(300_000);
  assert.is(withoutKeys(`${many}?a=`), `${many}?a=`);
  assert.is(withoutKeys(`?${many}`), "?***");
  assert.is(withoutKeys(`${"://?a".repeat(200_000)}=`), `://${"?***".repeat(199_999)}?a=`);
  assert.is(withoutKeys(`${many}a${"/".repeat(300_000)}`), `${many}a${"/".repeat(300_000)}`);
  assert.is(withoutKeys(`${many}${"a/1".repeat(300_000)}`), `${many}${"a/1".repeat(300_000)}`);
  assert.is(withoutKeys(`${many}?secret`), `${many}?***`);
  assert.is(withoutKeys(`${many}?secret&${many}a?b`), `${many}?***&${many}a?***`);
});

/**
 * Invisible characters: zero-width, soft hyphen, fillers, variation selectors, tags and lone
 * surrogates.
 */
const UNSEEN = [
  ..."\u200b\u200d\u2060\u2064\ufeff\u00ad\u061c\u034f\u3164\ufe0f\u{1d173}",
  ..."\u{e0001}\u{e0041}\u{e007f}\u{e0100}",
  "\ud800",
  "\udc00",
];

text("no invisible character of a node reaches the log or a terminal as it is", () => {
  for (const character of UNSEEN) {
    const code = character.codePointAt(0)!.toString(16);
    assert.is(excerpt(`a${character}${character}b`), "a b", code);
    assert.is(printable(`a${character}b`), "a\ufffdb", code);
    for (const shown of [quote(`a${character}b`), printableJson(`["a${character}b"]\n`)]) {
      assert.match(shown, /^[\n -~]*$/, code);
      assert.is([JSON.parse(shown)].flat().join(), `a${character}b`, code);
    }
  }
  const visible = "naïve 日本語 עברית ελληνικά 🜁 e\u0301";
  assert.is(excerpt(visible), visible);
  assert.is(quote(visible), `"${visible}"`);
});

text("a quoted text stays on one line, with escapes for invisible characters", () => {
  assert.is(quote(`a"b\n${RIGHT_TO_LEFT}${LINE}\x7f`), '"a\\"b\\n\\u202e\\u2028\\u007f"');
  assert.equal([1, null, undefined, 2n ** 64n, ["a"]].map(quote), [
    "1",
    "null",
    "undefined",
    "18446744073709551616",
    '["a"]',
  ]);
});

text.run();
