/**
 * Tests the diagnostics of descriptions that exceed a limit. `openapi-limits.slow.ts` tests those
 * of large files.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { formatDiagnostic, LIMITS, SIZES } from "../src/openapi/diagnostics.ts";
import { prepareDescription } from "../src/description/prepare.ts";
import { load } from "./description/_load.ts";

const limits = suite("the limits of a description");

const HEAD = 'openapi: 3.1.1\ninfo: { title: a, version: "1" }\npaths: {}\n';
const JSON_HEAD = '"openapi":"3.1.1","info":{"title":"a","version":"1"},"paths":{}';
const list = (length: number, make: (i: number) => string) =>
  Array.from({ length }, (_, i) => make(i)).join("");

const NESTED: readonly (readonly [what: string, text: () => string, finding: string])[] = [
  [
    "lists nested endlessly",
    () => `${HEAD}x: ${"[".repeat(1_000_000)}`,
    "4:260 is nested more than 256 levels deep",
  ],
  [
    "objects nested by their indentation",
    () => HEAD + list(3000, (i) => `${" ".repeat(i)}a:\n`),
    "261:258 is nested more than 256 levels deep",
  ],
  [
    "lists nested on one line",
    () => `${HEAD}x:\n  ${"- ".repeat(100_000)}`,
    "5:515 is nested more than 256 levels deep",
  ],
  [
    "nested aliases",
    () => `${HEAD}x0: &x0 [1]\n${list(300, (i) => `x${i + 1}: &x${i + 1} [*x${i}]\n`)}`,
    "259:14 is nested more than 256 levels deep",
  ],
  [
    "more than 10,000 aliases",
    () => `${HEAD}x: &a 1\ny: [${"*a,".repeat(10_001)}]\n`,
    "5:30005 there are more than 10,000 aliases",
  ],
];

for (const [what, text, finding] of NESTED) {
  limits(`a description that exceeds a limit is reported and not shown: ${what}`, async () => {
    const { diagnostics, document } = await load({ text: text(), name: "x.yaml" });
    assert.is(document, undefined);
    const fatal = diagnostics.filter(({ isFatal }) => isFatal);
    assert.equal(fatal.map(formatDiagnostic), [`x.yaml:${finding}`]);
  });
}

const GET = { get: { responses: { 200: { description: "" } } } };
const aliases = (count: number, value: string) =>
  `${HEAD}x: &a ${value}\ny: [${"*a,".repeat(count)}]\n`;

const EXCESSIVE: typeof NESTED = [
  [
    "4 MiB",
    () => `{${JSON_HEAD},"x":"${"a".repeat(SIZES.bytes.network)}"}`,
    "1:1 cannot be read: it has more than 4 MiB, the limit for a description from the network; " +
    "a file may have 32 MiB",
  ],
  [
    "300,000 JSON values",
    () => `{${JSON_HEAD},"x":[${"0,".repeat(300_000)}0]}`,
    "1:600045 has more than 300,000 names and values, the limit for a description from the " +
    "network; a file may have 600,000",
  ],
  [
    "300,000 values of 12 kB, by aliases of a list",
    () => aliases(4000, `[${"1,".repeat(97)}]`),
    "5:9185 has more than 300,000 names and values, the limit for a description from the " +
    "network; a file may have 600,000",
  ],
  [
    "8 MiB of text of 30 kB, by aliases of a text",
    () => aliases(9000, "a".repeat(3000)),
    "5:8390 has more than 8 MiB of text, the limit for a description from the network; " +
    "a file may have 32 MiB",
  ],
  [
    "1,250 operations",
    () => {
      const paths = Object.fromEntries(Array.from({ length: 1251 }, (_, i) => [`/${i}`, GET]));
      return JSON.stringify({ openapi: "3.1.1", info: { title: "a", version: "1" }, paths });
    },
    "1:1 has more than 1,250 operations, the limit for a description from the network; " +
    "a file may have 20,000",
  ],
  [
    "500,000 YAML tokens",
    () => `${HEAD}x: [${"0,".repeat(200_000)}]\n`,
    "4:333311 has more than 500,000 YAML tokens, the limit for a description from the network; " +
    "a file may have 2,500,000",
  ],
];

for (const [what, text, finding] of EXCESSIVE) {
  limits(
    `a description from the network that exceeds a lower limit is refused: ${what}`,
    async () => {
      const fetch = () => Promise.resolve(new Response(text()));
      const { diagnostics, document } = await load(new URL("http://node.example/x.yaml"), {
        fetch,
      });
      assert.is(document, undefined);
      const fatal = diagnostics.filter(({ isFatal }) => isFatal);
      assert.equal(fatal.map(formatDiagnostic), [`x.yaml:${finding}`]);
      if (what !== "300,000 values of 12 kB, by aliases of a list") return;
      assert.ok((await load({ text: text(), name: "x.yaml" })).document, "from disk");
    },
  );
}

limits("only the first 100 servers of a document, a path and an operation are shown", async () => {
  const servers = Array.from({ length: 60_000 }, (_, i) => ({ url: `https://a${i}.example` }));
  const paths = { "/a": { servers, get: { ...GET.get, servers } } };
  const info = { title: "a", version: "1" };
  const text = JSON.stringify({ openapi: "3.1.1", info, servers, paths });
  const { document, diagnostics } = await load({ text, name: "a.json" }, {});
  const item = (document!.paths as typeof paths)["/a"];
  for (const shown of [document!, item, item.get]) {
    assert.equal(shown.servers, servers.slice(0, 100));
  }
  assert.match(
    diagnostics.map(formatDiagnostic).join("\n"),
    "a list (server) has more than 100 members; the others are omitted (and 2 more)",
  );
});

const numbered = (count: number, member: unknown, key = (i: number) => `m${i}`) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [key(i), member]));

const OF_ONE_OBJECT: readonly (readonly [what: string, part: object, message: string])[] = [
  [
    "an info",
    { info: { title: "a", version: "1", ...numbered(1500, 1, (i) => `x-${i}`) } },
    "an info has more than 1,000 members; the others are omitted",
  ],
  [
    "the parameters of an operation",
    { paths: { "/a": { get: { ...GET.get, parameters: Array(1500).fill({ name: "a" }) } } } },
    "a list (parameter) has more than 1,000 members; the others are omitted",
  ],
  [
    "the tags of an operation",
    { paths: { "/a": { get: { ...GET.get, tags: Array(1001).fill("a") } } } },
    '"tags" must be a list of at most 1,000 names; it is omitted',
  ],
  [
    "the properties of a schema",
    { components: { schemas: { A: { properties: numbered(10_500, {}) } } } },
    "a map (schema) has more than 10,000 members; the others are omitted",
  ],
];

for (const [what, part, message] of OF_ONE_OBJECT) {
  limits(`only some members of one large object are kept: ${what}`, async () => {
    const info = { title: "a", version: "1" };
    const text = JSON.stringify({ openapi: "3.1.1", info, paths: {}, ...part });
    const { document, diagnostics } = await load({ text, name: "a.json" }, {});
    assert.ok(document);
    const lines = diagnostics.map(formatDiagnostic);
    assert.ok(lines.some((line) => line.endsWith(` ${message}`)), lines.join("\n"));
  });
}

limits("operations of Swagger repeat shared responses only up to a limit", async () => {
  const schema = { enum: Array.from({ length: 1000 }, (_, i) => i) };
  const get = { produces: ["text/b", "text/c"], responses: { 200: { $ref: "#/responses/A" } } };
  const text = JSON.stringify({
    ...{ swagger: "2.0", info: { title: "a", version: "1" }, produces: ["text/a"] },
    paths: numbered(1000, { get }, (i) => `/${i}`),
    responses: { A: { description: "", schema } },
  });
  const { document, diagnostics } = await load({ text, name: "a.json" });
  assert.equal(diagnostics, []);
  const shown = Object.values(document!.paths as Record<string, typeof GET>)
    .flatMap(({ get }) => Object.values(get.responses) as { $ref?: string }[]);
  const references = shown.filter(({ $ref }) => $ref === "#/components/responses/A");
  assert.ok(references.length > 800 && references.length < 900, String(references.length));
});

limits("a document may have any number of schemas", async () => {
  const components = { schemas: numbered(20_000, {}) };
  const info = { title: "a", version: "1" };
  const text = JSON.stringify({ openapi: "3.1.1", info, paths: {}, components });
  const { document, diagnostics } = await load({ text, name: "a.json" });
  const { schemas } = document!.components as typeof components;
  assert.is(Object.keys(schemas).length, 20_000);
  assert.equal(diagnostics, []);
});

limits("a path without operations counts as an operation", async () => {
  const paths = numbered(20_001, {}, (i) => `/${i}`);
  const text = JSON.stringify({ openapi: "3.1.1", info: { title: "a", version: "1" }, paths });
  const { document, diagnostics } = await load({ text, name: "a.json" }, {});
  assert.is(document, undefined);
  assert.match(diagnostics.map(formatDiagnostic).join(), "has more than 20,000 operations");
});

limits("a description that a node returns by a method has the limits of the network", async () => {
  const url = new URL("jsonrpc:rpc.discover");
  const read = () => {
    const bytes = new TextEncoder().encode(
      `{${JSON_HEAD},"x":"${"a".repeat(SIZES.bytes.network)}"}`,
    );
    return Promise.resolve({ url, bytes, isJson: true, stamp: "" });
  };
  const source = { file: { url, read }, name: "x", by: "network" } as const;
  const { description, diagnostics } = await prepareDescription(source, {}, {
    own: {},
    operations: [],
  });
  assert.is(description, undefined);
  assert.match(diagnostics.map(formatDiagnostic).join(), "has more than 4 MiB, the limit for");
});

limits("at most a hundred YAML errors are reported", async () => {
  const { diagnostics } = await load({ text: `${HEAD}x: [${",".repeat(100_000)}]\n` });
  assert.equal(diagnostics.map(({ more }) => more), [LIMITS.errors - 1]);
});

limits("an unexpected error becomes a diagnostic, and no exception is thrown", async () => {
  const read = () => Promise.reject(new TypeError("a\u2028b"));
  const file = { url: new URL("file:///folder/a.yaml"), read };
  const source = { file, name: "a.yaml", by: "operator" } as const;
  const { description, diagnostics } = await prepareDescription(source, {}, {
    own: {},
    operations: [],
  });
  assert.is(description, undefined);
  assert.equal(diagnostics.map(formatDiagnostic), ["a.yaml:1:1 cannot be shown: a b"]);
});

limits("if server variables have too many combinations, only the defaults are used", async () => {
  const values = Array.from({ length: 9 }, (_, i) => `v${i}`);
  const variables = { a: { default: "v0", enum: values }, b: { default: "v1", enum: values } };
  const server = (variables: object) => ({ url: "https://{a}.{b}.example", variables });
  const of = async (...servers: object[]) => {
    const text = JSON.stringify({ openapi: "3.1.1", info: { title: "a", version: "1" }, servers });
    return (await load({ text }, {})).origins;
  };
  assert.equal(await of(server(variables)), ["https://v0.v1.example"]);
  assert.is((await of(server({ ...variables, b: { default: "x" } }))).length, 9);
});

limits("the limits apply even to server variables that refer to each other", async () => {
  const variables = Object.fromEntries(Array.from({ length: 40 }, (_, i) => {
    const next = `{a${i + 1}}`.repeat(9);
    return [`a${i}`, { default: next, enum: [next, `${next}x`] }];
  }));
  const servers = [{ url: "http://{a0}", variables }];
  const text = JSON.stringify({ openapi: "3.1.1", info: { title: "a", version: "1" }, servers });
  const { document, origins } = await load({ text }, {});
  assert.ok(document);
  assert.equal(origins, []);
});

limits(
  "the page may connect to at most 64 origins, and a note says so",
  async () => {
    const servers = Array.from({ length: 3500 }, (_, i) => ({ url: `https://s${i}.example` }));
    const text = JSON.stringify({
      openapi: "3.1.0",
      info: { title: "a", version: "1" },
      servers,
      paths: {},
    });
    const { origins, diagnostics } = await load({ text, name: "a.json" }, {});
    assert.is(origins.length, 64);
    assert.match(diagnostics.map(({ message }) => message).join(), /first 64 origins/);
  },
);

limits(
  "credentials in a description's URL are sent to that URL, but never to clients",
  async () => {
    const sent: unknown[] = [];
    const original = globalThis.fetch;
    globalThis.fetch = (input, init) => {
      sent.push(String(input), new Headers(init?.headers).get("authorization"));
      const text =
        '{"openapi":"3.1.0","info":{"title":"a","version":"1"},"paths":{"/a":{"get":{}}}}';
      return Promise.resolve(new Response(text, { headers: { etag: '"1"' } }));
    };
    try {
      const url = new URL("http://user:p%40ss@node.example/api/openapi.json");
      const { json, yaml, diagnostics } = await load(url, {});
      assert.equal(sent, ["http://node.example/api/openapi.json", `Basic ${btoa("user:p@ss")}`]);
      assert.match(json, "http://node.example");
      assert.not.match(json + yaml + JSON.stringify(diagnostics), /user|p%40ss|p@ss/);
    } finally {
      globalThis.fetch = original;
    }
  },
);

limits.run();
