/** Tests the limits of descriptions from disk, and how the time grows with their size. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../src/index.ts";
import { formatDiagnostic, LIMITS, SIZES } from "../src/openapi/diagnostics.ts";
import { load } from "./description/_load.ts";

const limits = suite("the limits of a description from disk");

const HEAD = 'openapi: 3.1.1\ninfo: { title: a, version: "1" }\npaths: {}\n';
const JSON_HEAD = '"openapi":"3.1.1","info":{"title":"a","version":"1"},"paths":{}';
const list = (length: number, make: (i: number) => string) =>
  Array.from({ length }, (_, i) => make(i)).join("");

const TOO_MANY =
  "has more than 600,000 names and values; omit operations and examples that are not needed";

const EXCESSIVE: readonly (readonly [what: string, text: () => string, finding: string])[] = [
  [
    "YAML of more than 32 MiB",
    () => HEAD + `# ${"a".repeat(1_000_000)}\n`.repeat(34),
    "1:1 has more than 32 MiB; omit operations and examples that are not needed",
  ],
  [
    "JSON of more than 32 MiB",
    () => `{${JSON_HEAD},"x":"${"a".repeat(SIZES.bytes.disk)}"}`,
    "1:1 has more than 32 MiB; omit operations and examples that are not needed",
  ],
  [
    "a text of more than 1 MiB in YAML",
    () => `${HEAD}x: ${"x".repeat(LIMITS.scalar + 1)}\n`,
    "4:4 has a text of more than 1 MiB; shorten it, or write the description as JSON",
  ],
  [
    "aliases of a long text",
    () => `${HEAD}x: &a ${"x".repeat(1_000_000)}\ny: [${"*a, ".repeat(40)}]\n`,
    "5:133 has more than 32 MiB of text; omit operations and examples that are not needed",
  ],
  [
    "an object merged into many other objects",
    () =>
      `${HEAD}b: &b {${list(500, (i) => `k${i}: 1,`)}}\n${list(3000, (i) => `m${i}: {<<: *b}\n`)}`,
    `602:12 ${TOO_MANY}`,
  ],
  [
    "more than 600,000 JSON values",
    () => `{${JSON_HEAD},"x":[${"0,".repeat(600_000)}0]}`,
    `1:1200045 ${TOO_MANY}`,
  ],
  [
    "duplicate keys, and more than 600,000 JSON values",
    () => `{${JSON_HEAD},"a":1,"a":2,"x":[${"0,".repeat(600_000)}0]}`,
    `1:1200049 ${TOO_MANY}`,
  ],
  [
    "too many YAML tokens",
    () => `${HEAD}x: [${"0,".repeat(1_000_000)}]\n`,
    "4:1666644 has more than 2,500,000 YAML tokens; " +
    "omit operations and examples that are not needed",
  ],
  [
    "more than a million lines",
    () => `${HEAD}x: |\n${"\n".repeat(1_000_000)}`,
    "1000001:1 has more than 1,000,000 lines",
  ],
];

for (const [what, text, finding] of EXCESSIVE) {
  limits(`a description that exceeds a limit is reported and not shown: ${what}`, async () => {
    const { diagnostics, document } = await load({ text: text(), name: "x.yaml" });
    assert.is(document, undefined);
    const fatal = diagnostics.filter(({ isFatal }) => isFatal);
    assert.equal(fatal.map(formatDiagnostic), [`x.yaml:${finding}`]);
  });
}

limits("the position of each of thousands of errors is found", async () => {
  const refs = list(9000, (i) => `    a${i}: { $ref: "#/none${i}" }\n`);
  const { diagnostics } = await load({ text: `${HEAD}components:\n  schemas:\n${refs}` });
  assert.is(diagnostics.length, 9000);
  assert.is(diagnostics.at(-1)?.line, 9005);
});

limits(
  "a description with more than 100,000 references is refused",
  async () => {
    const allOf = Array.from({ length: LIMITS.schemaMembers }, () => ({
      $ref: "#/components/schemas/A",
    }));
    const count = Math.ceil(LIMITS.references / LIMITS.schemaMembers) + 1;
    const others = Array.from({ length: count }, (_, at) => [`B${at}`, { allOf }]);
    const schemas = { A: {}, ...Object.fromEntries(others) };
    const text = `{${JSON_HEAD},"components":{"schemas":${JSON.stringify(schemas)}}}`;
    const { diagnostics, document } = await load({ text, name: "a.json" });
    assert.is(document, undefined);
    assert.equal(diagnostics.map(formatDiagnostic), [
      "a.json:1:1 there are more than 100,000 references",
    ]);
    assert.ok(diagnostics[0]!.isFatal);
  },
);

const RESPONSES = { 200: { description: "OK" } };
const object = (length: number, key: (i: number) => string, value: (i: number) => unknown) =>
  Object.fromEntries(Array.from({ length }, (_, i) => [key(i), value(i)]));
const letters = (i: number) =>
  String(i).replaceAll(/\d/g, (digit) => "ABCDEFGHIJ".charAt(Number(digit)));

const ALIKE: Readonly<Record<string, (length: number) => object>> = {
  "component names that all become equal": (length) => ({
    components: { schemas: object(length, (i) => String.fromCodePoint(0x4e00 + i), () => ({})) },
  }),
  "operations with the same operationId": (length) => ({
    openapi: "3.2.0",
    paths: {
      "/a": {
        additionalOperations: object(length, letters, () => ({
          operationId: "a",
          responses: RESPONSES,
        })),
      },
    },
  }),
  "identical parameters": (length) => ({
    paths: {
      "/a": {
        get: {
          parameters: Array.from({ length }, () => ({ name: "a", in: "query", schema: {} })),
          responses: RESPONSES,
        },
      },
    },
  }),
  "paths that differ only in the names of their parameters": (length) => ({
    paths: object(length, (i) => `/{a${i}}`, () => ({ get: { responses: RESPONSES } })),
  }),
};

for (const [what, make] of Object.entries(ALIKE)) {
  limits(
    `for ${what}, eight times as many take less than 32 times as long`,
    async () => {
      const took = async (length: number) => {
        const info = { title: "a", version: "1" };
        const text = JSON.stringify({ openapi: "3.1.1", info, paths: {}, ...make(length) });
        let best = Infinity;
        for (let i = 0; i < 2; i++) {
          const since = performance.now();
          assert.ok((await load({ text, name: "a.json" }, {}, "paths: {}")).document);
          best = Math.min(best, performance.now() - since);
        }
        return best;
      };
      await took(250);
      const [some, many] = [await took(250), await took(2000)];
      assert.ok(many / some < 32, `${some} ms, then ${many} ms`);
    },
  );
}

limits("a string of four million escapes is shown, and never causes a 500", async () => {
  const text = `{${JSON_HEAD},"x":"${"\\n".repeat(4_000_000)}"}`;
  const app = createNodeface({ description: { text, name: "a.json" } });
  for (const path of ["/spec.json", "/spec.yaml", "/v1/spec"]) {
    assert.is((await app.fetch(new Request(`http://localhost${path}`))).status, 200, path);
  }
});

limits.run();
