/** Tests that `/v1/info` is small and valid and has status 200, whatever a node responds. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { encodeText } from "../src/bytes.ts";
import { KINDS } from "../src/generated/kinds.js";
import { printable } from "../src/untrusted-text.ts";
import { contentOf } from "./_representation.ts";
import { sampleSize } from "./_runtime.ts";
import { setScene } from "./_scene.ts";

const bounds = suite("info for arbitrary responses of a node");

/**
 * Creates a seeded random number generator (mulberry32). The numbers are at least 0 and less than
 * 1.
 */
function randomOf(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const ODD = [
  ...["null", "true", "false", "0", "-0", "1e305", "1e400", "-1e400", "8640000000000001"],
  ...["18446744073709551615", "9".repeat(40), "9".repeat(41), "0.1", "-1", '""', '"x"'],
  ...['"0x"', '"0x7a69"', `"0x${"f".repeat(300)}"`, '"\\u0000"', '"\\u2028nodeface: "'],
  ...['"\\ud800"', `"${"a".repeat(5000)}"`, `"${" ".repeat(3000)}x"`, "[]", "{}"],
  ...['{"toString":1}', '{"valueOf":1}', '{"toJSON":1}', '{"__proto__":1}', '{"constructor":1}'],
  ...['{"length":1e9}', '{"then":1}', `${"[".repeat(100)}${"]".repeat(100)}`],
  ...[
    '{"result":1}',
    '{"error":{"code":-28}}',
    '{"error":1}',
    '"2026-01-01T00:00:00Z"',
    '"mailto:x"',
  ],
];

/** All member names in the JSON pointers of the kinds. */
const KEYS = [
  ...new Set(
    Object.values(KINDS).flatMap(({ fields, detect }) =>
      [...JSON.stringify(fields).matchAll(/#(\/[^"]+)/g)].map(([, pointer]) => pointer!)
        .concat(Object.keys(detect).map((reference) => reference.replace(/^.*#/, "")))
    ).flatMap((pointer) => pointer.split("/").filter((key) => key !== "")),
  ),
];

function randomJson(random: () => number, depth = 0): string {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]!;
  const kind = random();
  if (depth > 5 || kind < 0.35) return pick(ODD);
  const size = Math.floor(random() * 6);
  if (kind < 0.45) {
    return `[${Array.from({ length: size }, () => randomJson(random, depth + 1)).join()}]`;
  }
  const members = Array.from(
    { length: size },
    () => `${JSON.stringify(pick(KEYS))}:${randomJson(random, depth + 1)}`,
  );
  return `{${members.join()}}`;
}

function randomNode(random: () => number): typeof fetch {
  return async (_, init) => {
    const calls = init?.body ? JSON.parse(String(init.body)) : undefined;
    const answer = ({ id }: { id?: unknown }) =>
      random() < 0.9
        ? `{"jsonrpc":"2.0","id":${JSON.stringify(id ?? null)},"result":${randomJson(random)}}`
        : randomJson(random);
    const isCall = (Array.isArray(calls) ? calls[0] : calls)?.jsonrpc !== undefined;
    const text = !isCall
      ? randomJson(random)
      : Array.isArray(calls)
      ? `[${calls.map(answer).join()}]`
      : answer(calls);
    const status = random() < 0.95 ? 200 : [204, 401, 404, 500, 503][Math.floor(random() * 5)]!;
    const body = status === 204 ? null : text;
    return await Promise.resolve(new Response(body, { status }));
  };
}

const ROUNDS = Number(globalThis.process?.env?.NODEFACE_RANDOM_ANSWERS ?? sampleSize(300));

bounds(
  `in ${ROUNDS} rounds of random responses, nothing throws, and the info is valid and below 64 kB`,
  async () => {
    const names = Object.keys(KINDS);
    for (let round = 0; round < ROUNDS; round++) {
      const kind = names[round % names.length]!;
      const { monitor, said } = setScene({ fetch: randomNode(randomOf(round)), node: { kind } });
      const { info, representation } = await monitor.snapshotNow();
      const text = await contentOf(representation);
      const about = `round ${round}, ${kind}`;
      assert.ok(encodeText(text).byteLength < 65_536, about);
      assert.type(JSON.parse(text), "object");
      for (const [key, value] of Object.entries(info)) {
        assert.ok(value !== null && value !== "" && value !== undefined, `${about}, ${key}`);
      }
      if (info.status !== "ok") assert.ok(info.status_code && info.status_reason, about);
      assert.not.match(said.join("\n"), /TypeError|RangeError|SyntaxError|\n +at /, about);
      for (const line of said) assert.is(line, printable(line), about);
    }
  },
);

bounds(
  "a member that exceeds a limit is omitted and logged once, and other members are used",
  async () => {
    const deep = `${"[".repeat(9000)}${"]".repeat(9000)}`;
    const odd: Record<string, string> = {
      deep,
      "very deep": `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
      "a long text": `"${"x".repeat(5000)}"`,
      "a number of 70,000 digits": "9".repeat(70_000),
      "a number above all": "1e400",
    };
    for (const [name, value] of Object.entries(odd)) {
      const { said, info, pass } = setScene({
        fetch: async () => await Promise.resolve(new Response(`{"odd":${value},"good":7}`)),
        node: { kind: "none" },
        info: {
          sources: { state: { get: "/" } },
          fields: { odd: "state#/odd", good: "state#/good" },
        },
      });
      const { good, status } = await info();
      assert.equal([good, status], [7, "ok"], name);
      pass(1000);
      await info();
      assert.is(said.length, 1, name);
      assert.match(said[0]!, /state.*\/odd/, name);
    }
  },
);

bounds("the info has at most 64 keys and at most 64 kB", async () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`key_${i}`, i]));
  const scene = setScene({ fetch, info: () => many, node: {} });
  assert.is(Object.keys(await scene.info()).length, 65);
  assert.match(scene.said.join(), /omitted, since \/v1\/info may have at most 64 keys/);
  const large = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`key_${i}`, "x".repeat(4000)]),
  );
  const { monitor } = setScene({ fetch, info: () => large, node: {} });
  const { representation, info } = await monitor.snapshotNow();
  assert.ok(encodeText(await contentOf(representation)).byteLength < 65_536);
  assert.is(info.status, "ok");
});

bounds.run();
