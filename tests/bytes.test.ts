import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createCollector, gatherBytes, joinBytes, partsOf } from "../src/bytes.ts";
import { digest } from "../src/http/content-coding.ts";
import { decodeParts, encodeTexts } from "../src/utf8.ts";

const bytes = suite("bytes in parts");

/** The position at which long content is split into parts. */
const JOINT = 65_536;

const isSame = (one: Uint8Array, other: Uint8Array) =>
  one.byteLength === other.byteLength && one.every((byte, i) => byte === other[i]);

bytes("content has the same bytes in parts and in one piece", () => {
  for (const length of [0, 1, 65_535, 65_536, 65_537, 200_000]) {
    const whole = new Uint8Array(length).map((_, at) => at);
    assert.ok(isSame(joinBytes([...partsOf(whole)]), whole));
  }
});

bytes("short parts are joined into fewer and longer parts, in the same order", () => {
  const content = crypto.getRandomValues(new Uint8Array(60_000));
  for (const lengths of [[1], [5000], [1, 5000, 3], [4095, 4096], [17, 1, 16_000, 2, 2]]) {
    const collector = createCollector();
    const taken: Uint8Array[] = [];
    for (let at = 0, count = 1; at < content.length; count++) {
      const end = at + lengths[count % lengths.length]!;
      collector.push(content.slice(at, end));
      at = end;
      if (count % 1000 === 0) taken.push(...collector.empty());
    }
    taken.push(...collector.empty());
    assert.ok(isSame(joinBytes(taken), content), lengths.join());
    const held = new Set(taken.map(({ buffer }) => buffer));
    const size = [...held].reduce((sum, { byteLength }) => sum + byteLength, 0);
    assert.ok(size < 1.5 * content.length + 32_768, `${lengths.join()}: ${size}`);
    if (lengths.length === 1) assert.ok(taken.length < 150, `${taken.length} parts`);
    assert.equal(collector.empty(), []);
  }
});

bytes("parts are collected up to a limit, and their source is cancelled beyond it", async () => {
  const sizes = [1, 65_535, 2, 300_000, 0, 7];
  const parts = sizes.map((size, i) => new Uint8Array(size).fill(i + 1));
  const whole = joinBytes(parts);
  let cancelled = 0;
  async function* chunks() {
    try {
      yield* parts;
    } finally {
      cancelled++;
    }
  }
  assert.ok(isSame((await gatherBytes(chunks(), whole.byteLength))!, whole));
  assert.is(await gatherBytes(chunks(), whole.byteLength - 1), undefined);
  assert.is((await gatherBytes((async function* () {})(), 0))!.byteLength, 0);
  assert.is(cancelled, 2);
});

bytes("a long text is the same after it was encoded and decoded in parts", async () => {
  for (const [character, size] of [["a", 1], ["é", 2], ["€", 3], ["😀", 4]] as const) {
    for (const before of [0, 1, 2, 3]) {
      const long = "x".repeat(JOINT - before) + character.repeat(40_000);
      const texts = ["short", long, "", character, "y".repeat(JOINT), character];
      const bytes = await encodeTexts(texts);
      const whole = new TextEncoder().encode(texts.join(""));
      assert.ok(isSame(bytes, whole), `${character} after ${before}`);
      for (const length of [JOINT, JOINT + 1, 40_001]) {
        const cut: Uint8Array<ArrayBuffer>[] = [];
        for (let at = 0; at < whole.length; at += length) cut.push(whole.slice(at, at + length));
        const text = await decodeParts(cut, whole.length);
        assert.ok(text === texts.join(""), `${size} bytes in parts of ${length}`);
      }
    }
  }
});

bytes("bytes that are not UTF-8 are no text, and a byte order mark is kept", async () => {
  const long = new Uint8Array(JOINT).fill(0x61);
  for (const end of [[0xff], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xc3]]) {
    const wrong = new Uint8Array(end);
    assert.is(await decodeParts([wrong], wrong.length), undefined);
    assert.is(await decodeParts([long, wrong], JOINT + wrong.length), undefined);
    assert.is(await decodeParts([wrong, long], JOINT + wrong.length), undefined);
  }
  const mark = new Uint8Array([0xef, 0xbb, 0xbf]);
  assert.is(await decodeParts([mark], 3), "\ufeff");
  assert.is((await decodeParts([mark, long], JOINT + 3))?.length, JOINT + 1);
  assert.equal(await encodeTexts([]), new Uint8Array());
});

bytes("two contents have different digests, even if only one part differs", async () => {
  const text = "a".repeat(3 * JOINT);
  const contents = [
    "",
    "a",
    text,
    ...[0, JOINT, text.length - 1].map((at) => `${text.slice(0, at)}b${text.slice(at + 1)}`),
  ];
  const digests = await Promise.all(contents.map(digest));
  assert.is(new Set(digests).size, contents.length);
  for (const each of digests) assert.match(each, /^[\w-]{22}$/);
  assert.equal(
    await Promise.all(contents.map((content) => digest(new TextEncoder().encode(content)))),
    digests,
  );
});

bytes.run();
