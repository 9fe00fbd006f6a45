import { Buffer } from "node:buffer";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse as parseWhole, parseDocument, stringify } from "yaml";
import { prepareDescription as prepare } from "../src/description/prepare.ts";
import { createNodeface } from "../src/index.ts";
import { formatDiagnostic, locate } from "../src/openapi/diagnostics.ts";
import { parse } from "../src/openapi/parse.ts";
import { writeYaml } from "../src/openapi/write.ts";
import type { JsonObject } from "../src/json/values.ts";
import { inSlices, pause, type Work } from "../src/slices.ts";

const large = suite("a large description");

/** Creates a description whose operations take about a kilobyte each. */
function describe(count: number): JsonObject {
  const description = "What it is and how it is doing. ".repeat(25);
  const responses = { "200": { description } };
  const operations = Array.from(
    { length: count },
    (_, i) => [`/things/${i}`, { get: { operationId: `get${i}`, responses } }],
  );
  const info = { title: "Things", version: "1" };
  return { openapi: "3.1.1", info, paths: Object.fromEntries(operations) };
}

const asJson = (count: number) => ({ text: JSON.stringify(describe(count)), name: "a.json" });
const asYaml = (count: number) => ({ text: stringify(describe(count)), name: "a.yaml" });

const create = (description: { text: string; name: string }) => {
  const app = createNodeface({ description, log() {} });
  return async (path: string, init: RequestInit = {}) =>
    await app.fetch(new Request(`http://localhost${path}`, init));
};

large("long work in slices lets timers pass, even if it waits for one", async () => {
  let hasPassed = false;
  function* work(): Work<string> {
    setTimeout(() => hasPassed = true, 0);
    while (!hasPassed) yield;
    return "done";
  }
  assert.is(await inSlices(work()), "done");
  hasPassed = false;
  setTimeout(() => hasPassed = true, 0);
  while (!hasPassed) await pause();
});

large("two long works never have slices in the same turn of the event loop", async () => {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turns: number[][] = [[], [], []];
  function* work(own: number[]): Work<void> {
    while (own.length < 4) {
      if (turn !== own.at(-1)) own.push(turn);
      yield;
    }
  }
  await Promise.all(turns.map((own) => inSlices(work(own))));
  isOver = true;
  const [first, ...others] = turns.map((own) => own.slice(1));
  for (const other of others) assert.equal(first!.filter((turn) => other.includes(turn)), []);
});

for (const [format, describeAs] of [["JSON", asJson], ["YAML", asYaml]] as const) {
  large(
    `a description in ${format} does not delay other requests while it is prepared`,
    async () => {
      const ask = create(describeAs(800));
      await ask("/v1/info");
      let isServed = false;
      const askUntilRead = async (): Promise<string> => {
        const text = await (await ask("/spec.json")).text();
        // On a busy machine, preparing the description takes longer than a request waits for it.
        return text.includes("/things/799") ? text : await askUntilRead();
      };
      const spec = askUntilRead().finally(() => isServed = true);
      let answered = 0;
      while (!isServed) {
        assert.is((await ask("/v1/info")).status, 200);
        answered++;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      assert.match(await spec, "/things/799");
      assert.ok(answered > 5, `${answered} requests`);
    },
  );
}

const members = <T>(make: (i: number) => T, key: (i: number) => string = (i) => `m${i}`) =>
  Object.fromEntries(Array.from({ length: 70_000 }, (_, i) => [key(i), make(i)]));
const responses = { 200: { description: "" } };
const get = (more: object) => ({ paths: { "/a": { get: { responses, ...more } } } });

const OF_ONE_OBJECT: Readonly<Record<string, object>> = {
  paths: { paths: members(() => ({}), (i) => `/${i}`) },
  "members of the document": members(() => 1),
  responses: get({ responses: members(() => ({})) }),
  parameters: get({ parameters: Object.values(members((i) => ({ name: `${i}`, in: "query" }))) }),
  tags: get({ tags: Object.values(members(String)) }),
};

for (const [what, part] of Object.entries(OF_ONE_OBJECT)) {
  large(
    `one object with 70,000 members is prepared in slices of less than 300 ms: ${what}`,
    async () => {
      const info = { title: "a", version: "1" };
      const text = JSON.stringify({ openapi: "3.1.1", info, paths: {}, ...part });
      const url = new URL("file:///a.json");
      const bytes = new TextEncoder().encode(text);
      const read = () => Promise.resolve({ url, bytes, isJson: true, stamp: "" });
      const source = { file: { url, read }, name: "a.json", by: "operator" } as const;
      let isOver = false;
      let longest = 0;
      let last = process.cpuUsage();
      const measure = () => {
        const { user, system } = process.cpuUsage(last);
        longest = Math.max(longest, (user + system) / 1000);
        last = process.cpuUsage();
        if (!isOver) setImmediate(measure);
      };
      measure();
      await prepare(source, {}, { own: {}, operations: [] });
      isOver = true;
      measure();
      assert.ok(longest < 300, `${longest} ms of processor time in one go`);
    },
  );
}

large("YAML is written at its first request, which alone waits for it", async () => {
  const ask = create(asJson(300));
  while (!(await (await ask("/spec.json")).text()).includes("/things/299"));
  const order: string[] = [];
  const note = (path: string, init?: RequestInit) =>
    ask(path, init).then((response) => (order.push(path), response));
  const asked = ["/v1/spec.yaml", "/spec.json"].map((path) => note(path));
  const [versioned, json] = await Promise.all(asked);
  assert.is(order.at(-1), "/v1/spec.yaml");
  const document = await json!.json();
  const { servers, ...rest } = parseWhole(await versioned!.text());
  assert.equal(rest.paths["/things/299"], document.paths["/things/299"]);
  assert.ok(Array.isArray(servers));
  const head = await create(asJson(3))("/spec.yaml", { method: "HEAD" });
  assert.is(head.status, 200);
  assert.match(head.headers.get("etag")!, /^"/);
});

const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());

large("a description has the same content and a related ETag with and without gzip", async () => {
  const app = createNodeface({ description: asJson(1700), log() {} });
  // The service responds before it has read a long description, so the test waits for the
  // description.
  await app.refresh();
  const ask = async (path: string, coding: string, init: RequestInit = {}) => {
    const headers = { "accept-encoding": coding, ...init.headers };
    return await app.fetch(new Request(`http://localhost${path}`, { ...init, headers }));
  };
  for (const path of ["/spec.json", "/v1/spec.yaml"]) {
    const [plain, another, zipped] = await Promise.all(
      ["identity", "identity", "gzip"].map((coding) => ask(path, coding)),
    );
    const bytes = await bytesOf(plain!);
    assert.ok(bytes.byteLength > 1_500_000, path);
    const unzipped = zipped!.body!.pipeThrough(new DecompressionStream("gzip"));
    assert.is(Buffer.compare(bytes, await bytesOf(new Response(unzipped))), 0, path);
    assert.is(Buffer.compare(bytes, await bytesOf(another!)), 0, path);
    assert.is(plain!.headers.get("content-length"), String(bytes.byteLength), path);
    assert.is(plain!.headers.get("content-encoding"), null, path);
    const etag = plain!.headers.get("etag")!;
    assert.is(zipped!.headers.get("etag"), etag.replace(/"$/, '-gzip"'), path);
    const head = await ask(path, "identity", { method: "HEAD" });
    assert.equal([...head.headers], [...plain!.headers], path);
    assert.is(await head.text(), "", path);
    const known = await ask(path, "identity", { headers: { "if-none-match": etag } });
    assert.is(known.status, 304, path);
    assert.is(await known.text(), "", path);
  }
});

const range = (length: number, make: (i: number) => string) =>
  Array.from({ length }, (_, i) => make(i)).join("");

/** YAML whose collections have more items than are read in two parts. */
const LARGE_YAML: Readonly<Record<string, string>> = {
  "an object": range(1500, (i) => `k${i}: v${i}\n`),
  "a list": range(1500, (i) => `- ${i}\n`),
  "a list in an object": `a:\n${range(1500, (i) => `- ${i}\n`)}b: 1\n`,
  "lists in a list": `- ${range(1300, (i) => `${i ? "  " : ""}- ${i}\n`)}- x\n`,
  "objects in a list": range(1300, (i) => `- a: ${i}\n  b: {c: [x, "y"]}\n`),
  "flow objects": `{a: {${range(1500, (i) => `k${i}: ${i}, `)}}, b: {${
    range(1300, (i) => `"s${i}"\n,`)
  }}}`,
  "flow lists": `[[${range(1500, (i) => `${i},`)}], [${range(1300, (i) => `{x: ${i}},\n`)}], k: v]`,
  "comments and empty values": range(1300, (i) => `# c${i}\nk${i}: # d\n\n`),
  "anchors in one part and aliases in another": `a: &a {x: 1}\n${
    range(1300, (i) => `k${i}: ${i % 3 ? i : "*a"}\n`)
  }`,
  "tags of a directive": `%TAG !e! tag:e,2000:\n---\n${
    range(1500, (i) => `- ${i % 2 ? "!e!x " : "!!str "}${i}\n`)
  }`,
  "block texts": range(1500, (i) => `k${i}: |\n  a\n\n   b\nl${i}: >-\n  c\n  d\n`),
  "an object after an explicit key": `? a\n: ${
    range(1500, (i) => `${i ? "  " : ""}k${i}: ${i}\n`)
  }`,
};

const read = (text: string) => parse("x", { bytes: new TextEncoder().encode(text), isJson: false });

for (const [what, text] of Object.entries(LARGE_YAML)) {
  large(`YAML with thousands of items has the same values as in one piece: ${what}`, async () => {
    const { value, diagnostics } = await read(text);
    assert.equal(diagnostics.list().filter(({ severity }) => severity === "fatal"), []);
    const whole = parseWhole(text, {
      schema: "core",
      maxAliasCount: -1,
      logLevel: "silent",
      uniqueKeys: false,
    });
    assert.is(JSON.stringify(value), JSON.stringify(whole));
  });
}

const items = (count: number) => range(count, (i) => ` ${i},\n`);
const keys = (count: number) => range(count, (i) => `k${i}: ${i}\n`);

const BROKEN: Readonly<Record<string, string>> = {
  "two commas": `[${items(1300)} ,x]`,
  "an empty item": `[${items(1300)} x, ,\n ,y]`,
  "a missing comma": `[${items(1300)} [x]\n [y]]`,
  "a comma at the start": `[,${items(1300)}]`,
  "a list without its end": `a: [${items(1300)}`,
  "a key without a value": `${keys(1300)}x\n${keys(1300)}`,
  "a key in another column": `${keys(1300)} x: 1\n${keys(1300)}`,
  "an item without a dash": `${range(1300, (i) => `- ${i}\n`)}x\n`,
};

for (const [what, text] of Object.entries(BROKEN)) {
  large(`YAML with thousands of items has the same errors as in one piece: ${what}`, async () => {
    const { errors } = parseDocument(text, { prettyErrors: false, uniqueKeys: false });
    const { value, diagnostics } = await read(text);
    assert.is(value, undefined);
    assert.equal(
      diagnostics.list().map(({ fault, place }) => [place, fault]).sort(),
      // Equal messages are reported once.
      errors.filter(({ message }, i) => errors.findIndex((one) => one.message === message) === i)
        .map(({ message, pos }) => [pos[0], `is not YAML: ${message}`]).sort(),
    );
  });
}

const REPORTED: readonly (readonly [what: string, text: string, diagnostic: string])[] = [
  ["an unknown tag", `${keys(1300)}x: !a y\n`, "1301:4 the tag !a is unknown and ignored"],
  [
    "a key that is a large list",
    `? [${items(1300)} ]\n: 1\na: 2\n`,
    "1:3 this key is an object or a list, which JSON does not allow; it is omitted",
  ],
  ["a duplicate key", `${keys(1300)}k0: 1\n`, "1301:1 duplicate key; the last value is used"],
  [
    "an alias without an anchor",
    `${keys(1300)}x: *none\n`,
    "1301:4 the alias *none has no anchor before it",
  ],
  [
    "another document",
    `${keys(1300)}---\n${keys(1300)}`,
    "1301:1 a second document begins here; a description must be one document",
  ],
];

for (const [what, text, expected] of REPORTED) {
  large(`faults within thousands of items are reported with their positions: ${what}`, async () => {
    const source = await read(text);
    const said = locate(source, source.diagnostics.list());
    assert.equal(said.map(formatDiagnostic), [`x:${expected}`]);
  });
}

large("positions within large YAML are right, also of large collections themselves", async () => {
  const text = `a: 1\nb:\n  c:\n${range(2000, (i) => `    - k: ${i}\n`)}d: [${items(2000)} ]\n`;
  const source = await read(text);
  assert.ok(source.value);
  const paths = [["b"], ["b", "c"], ["b", "c", "1999", "k"], ["d"], ["d", "1999"]];
  const all = paths.map((place) =>
    ({ severity: "note", fault: place.join("/"), place, more: 0 }) as const
  );
  assert.equal(locate(source, all).map(formatDiagnostic), [
    "x:3:3 b",
    "x:4:5 b/c",
    "x:2003:10 b/c/1999/k",
    "x:2004:4 d",
    "x:4003:2 d/1999",
  ]);
});

large("large values of every shape are written as YAML that has the same values", async () => {
  const many = <T>(length: number, make: (i: number) => T) =>
    Array.from({ length }, (_, i) => make(i));
  const document = {
    paths: Object.fromEntries(many(900, (i) => [`/${i}`, { get: { tags: ["a", "b c"] } }])),
    lists: [many(900, (i) => [i]), ["x"], many(900, (i) => ({ [`k${i}`]: "a\n  b\n\nc\n" }))],
    "a key\nof two lines": many(900, (i) => i),
    "? k": many(900, (i) => i),
    "": many(900, () => ""),
    "0": Object.fromEntries(many(900, (i) => [`k ${i}: `, null])),
    deep: [[[many(900, () => "  x ")]]],
    empty: [{}, []],
  };
  const bytes = (await writeYaml(document)).identity;
  const yaml = new TextDecoder().decode(bytes);
  assert.is(JSON.stringify(parseWhole(yaml, { uniqueKeys: false })), JSON.stringify(document));
  const { "a key\nof two lines": _, "? k": __, ...plain } = document;
  const written = new TextDecoder().decode((await writeYaml(plain)).identity);
  assert.is(written, stringify(plain, { lineWidth: 0, compat: "yaml-1.1" }));
});

large.run();
