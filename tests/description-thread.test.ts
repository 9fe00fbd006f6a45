import { Buffer } from "node:buffer";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { createPrepare, prepareInThread } from "../src/description/thread.ts";
import { prepare, type Prepared } from "../src/description/prepare.ts";
import { createNodeface } from "../src/index.ts";
import { formatDiagnostic, LIMITS } from "../src/openapi/diagnostics.ts";
import type { LoadJob } from "../src/openapi/load.ts";
import { type Reader, ReadError } from "../src/openapi/files.ts";
import type { startThread } from "../src/platform.ts";
import { testWhere } from "./_needs.ts";
import { IS_NODE } from "./_runtime.ts";

const large = suite("a large description");

const ROOT = "file:///folder/openapi.json";
const JOB: LoadJob = { entry: ROOT, own: { paths: {} }, operations: [], where: {} };

/** Creates a description whose operations take about a kilobyte each. */
function describe(count: number, more: object = {}): string {
  const description = "What it is and how it is doing. ".repeat(25);
  const responses = { "200": { description } };
  const operations = Array.from(
    { length: count },
    (_, i) => [`/things/${i}`, { get: { operationId: `get${i}`, responses } }],
  );
  const paths = { ...Object.fromEntries(operations), ...more };
  return JSON.stringify({ openapi: "3.1.1", info: { title: "Things", version: "1" }, paths });
}

/** Removes the YAML form, which arrives from the worker thread after everything else. */
function without({ content, ...prepared }: Prepared) {
  const { yaml: _, ...first } = content!;
  return { ...prepared, content: first };
}

function readerOf(files: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const read: Reader = (url) => {
    const name = url.pathname.split("/").at(-1)!;
    asked.push(name);
    const text = files[name];
    if (text === undefined) return Promise.reject(new ReadError("no such file"));
    const bytes = new TextEncoder().encode(text);
    return Promise.resolve({ url, bytes, isJson: true, stamp: `"${name}"` });
  };
  return { read, asked };
}

large("a description is prepared with the same result with or without a thread", async () => {
  const files = {
    "openapi.json": describe(400, { "/b": { $ref: "#/none" } }).replace(
      '"paths":{',
      '"paths":{"/a":{"get":{"operationId":12345678901234567890}},',
    ),
  };
  const here = await prepare(JOB, readerOf(files).read);
  const { read, asked } = readerOf(files);
  const there = (await prepareInThread(JOB, read))!;
  assert.equal(await there.content?.yaml, await here.content?.yaml);
  assert.equal(without(there), without(here));
  assert.equal(asked, ["openapi.json"]);
  assert.match(
    here.diagnostics.map(formatDiagnostic).join(),
    'the reference to "#/none" leads nowhere',
  );
  assert.ok(here.content);
});

large("a large description is read only once, although its size is unknown before", async () => {
  const { read, asked } = readerOf({ "openapi.json": describe(400) });
  const { content } = await createPrepare(() => assert.unreachable())(JOB, read);
  assert.equal(asked, ["openapi.json"]);
  assert.is(content?.page.title, "Things");
  await content?.yaml;
});

large("a description is served before its YAML is ready; only requests for YAML wait", async () => {
  const text = describe(800);
  const app = createNodeface({ description: { text, name: "a.json" }, log() {} });
  const ask = async (path: string) => await app.fetch(new Request(`http://localhost${path}`));
  const order: string[] = [];
  const note = (path: string) => ask(path).then((response) => (order.push(path), response.text()));
  const [yaml, , json] = await Promise.all(["/spec.yaml", "/v1/spec", "/spec.json"].map(note));
  assert.is(order.at(-1), "/spec.yaml");
  assert.equal(parse(yaml!), JSON.parse(json!));
});

large(
  "if the thread ends before the YAML is ready, the description is served as JSON at all paths",
  async () => {
    const { read } = readerOf({ "openapi.json": describe(1) });
    const { content, ...rest } = await prepare(JOB, read);
    const { yaml: _, ...first } = content!;
    const start: typeof startThread = (_, { onMessage, onFailure }) => {
      const send = () => {
        onMessage({ prepared: { ...rest, content: first } });
        setTimeout(onFailure, 0, "takes more than it may");
      };
      return Promise.resolve({ send, end: () => order.push("ended") });
    };
    const order: string[] = [];
    const prepared = (await prepareInThread(JOB, read, LIMITS, start))!;
    assert.equal(order, []);
    assert.equal(prepared.content?.json, content!.json);
    const yaml = await prepared.content!.yaml;
    assert.is(
      "diagnostic" in yaml && formatDiagnostic(yaml.diagnostic),
      "openapi.json:1:1 cannot be written as YAML: the thread takes more than it may; " +
        "/spec.yaml contains JSON, which is also valid YAML",
    );
    await Promise.resolve();
    assert.equal(order, ["ended"]);
  },
);

const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());

large("a description has the same content and a related ETag with and without gzip", async () => {
  const description = { text: describe(1700), name: "a.json" };
  const app = createNodeface({ description, log() {} });
  // The service responds before it has read a long description, so the test waits for the description.
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

large("a description does not delay other requests while it is prepared", async () => {
  const text = describe(2000);
  const app = createNodeface({ description: { text, name: "a.json" }, log() {} });
  const ask = async (path: string) => await app.fetch(new Request(`http://localhost${path}`));
  await ask("/v1/info");
  let isServed = false;
  const askUntilRead = async (): Promise<string> => {
    const text = await (await ask("/spec.json")).text();
    // On a busy machine, preparing the description takes longer than a request waits for it.
    return text.includes("/things/1999") ? text : await askUntilRead();
  };
  const spec = askUntilRead().finally(() => isServed = true);
  let answered = 0;
  while (!isServed) {
    assert.is((await ask("/v1/info")).status, 200);
    answered++;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.match(await spec, "/things/1999");
  assert.ok(answered > 20, `${answered} requests`);
});

large("a description is abandoned if preparing it takes too long", async () => {
  const never: Reader = () => new Promise(() => {});
  const { content, diagnostics } = (await prepareInThread(JOB, never, { ...LIMITS, time: 200 }))!;
  assert.is(content, undefined);
  const said = ["openapi.json:1:1 cannot be shown: the thread takes more than 0.2 s"];
  assert.equal(diagnostics.map(formatDiagnostic), said);
});

large("a diagnostic reports a failure to send to the thread or to read a file", async () => {
  const wrong: LoadJob = { ...JOB, own: { paths: () => {} } };
  const sent = (await prepareInThread(wrong, readerOf({}).read))!;
  assert.match(
    formatDiagnostic(sent.diagnostics[0]!),
    /^openapi.json:1:1 cannot be shown: .*clone/,
  );
  const failing: Reader = () => Promise.reject(new TypeError("a\x1b[2J"));
  const { diagnostics } = (await prepareInThread(JOB, failing))!;
  assert.equal(diagnostics.map(formatDiagnostic), ["openapi.json:1:1 cannot be shown: a [2J"]);
});

testWhere(
  large,
  IS_NODE ? undefined : "since only Node can limit the memory of a thread",
  "on Node, a description is abandoned if preparing it takes too much memory",
  async () => {
    const { read } = readerOf({ "openapi.json": describe(20_000) });
    const { diagnostics } = (await prepareInThread(JOB, read, { ...LIMITS, memory: 33_554_432 }))!;
    const said = ["openapi.json:1:1 cannot be shown: the thread takes more than 32 MiB"];
    assert.equal(diagnostics.map(formatDiagnostic), said);
  },
);

large.run();
