/**
 * Measures a description of 10 MB and 2,000 operations: how long it takes until it is shown, how much
 * memory, and whether an answer costs more than with none. Run it with
 * `node --expose-gc --import tsx tests/bench/description.ts [yaml|json]`.
 */
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { stringify } from "yaml";
import { createNodeface, type Nodeface } from "../../src/index.ts";

const OPERATIONS = 2000, ROUNDS = 15, REQUESTS = 4000;

const form = process.argv[2] ?? "yaml";
const file = join(tmpdir(), `nodeface-${process.pid}.${form}`);
const size = write();
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

const small = createNodeface();
await small.ready();
globalThis.gc?.();
const before = process.memoryUsage();
let most = 0;
const watch = setInterval(() => most = Math.max(most, process.memoryUsage().rss), 5);
const start = performance.now();
const large = createNodeface({
  description: file,
  node: { url: "http://127.0.0.1:9053", kind: "none" },
});
await large.ready();
const took = performance.now() - start;
clearInterval(watch);
rmSync(file);
most = Math.max(most, process.memoryUsage().rss);
// What a stream or a worker has held is let go of a little later.
for (let i = 0; i < 4; i++) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  globalThis.gc?.();
}
const { heapUsed, external } = process.memoryUsage();
console.log(`${mb(size)} of ${form}: ready in ${(took / 1000).toFixed(2)} s`);
console.log(
  `resident at most ${mb(most - before.rss)} more, ${
    ((most - before.rss) / size).toFixed(1)
  } times`,
);
console.log(`kept ${mb(heapUsed + external - before.heapUsed - before.external)}`);
for (const [path, isKnown] of [["/spec.json", true], ["/v1/info", false]] as const) {
  const rates: Record<"small" | "large", number[]> = { small: [], large: [] };
  for (let round = 0; round < ROUNDS; round++) {
    rates.small.push(await rate(small, path, isKnown));
    rates.large.push(await rate(large, path, isKnown));
  }
  const [a, b] = [median(rates.small), median(rates.large)];
  const share = (100 * b / a).toFixed(1);
  console.log(
    `${path} ${isKnown ? 304 : 200}: ${Math.round(a)} and ${Math.round(b)} a second, ${share} %`,
  );
}

/** Writes the description; returns its size in bytes. */
function write(): number {
  const text = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod. ".repeat(
    8,
  );
  const string = { type: "string", description: text.slice(0, 160) };
  const names = Array.from({ length: 16 }, (_, i) => `field${i}`);
  const properties = Object.fromEntries(names.map((name) => [name, string]));
  const schema = { type: "object", properties };
  const content = { "application/json": { schema } };
  const operation = (i: number) => ({
    operationId: `getThing${i}`,
    tags: [`tag${i % 40}`],
    description: text,
    responses: { "200": { description: text, content } },
  });
  const paths = Object.fromEntries(
    Array.from({ length: OPERATIONS }, (_, i) => [`/things/${i}`, { get: operation(i) }]),
  );
  const document = { openapi: "3.1.1", info: { title: "Large", version: "1" }, paths };
  const options = { aliasDuplicateObjects: false };
  const bytes = form === "json" ? JSON.stringify(document) : stringify(document, options);
  writeFileSync(file, bytes);
  return bytes.length;
}

async function rate(app: Nodeface, path: string, isKnown: boolean): Promise<number> {
  const url = `http://localhost${path}`;
  const etag = (await app.fetch(new Request(url))).headers.get("etag") ?? "";
  const headers: HeadersInit = isKnown ? { "if-none-match": etag } : {};
  const start = performance.now();
  for (let i = 0; i < REQUESTS; i++) await app.fetch(new Request(url, { headers }));
  return REQUESTS / ((performance.now() - start) / 1000);
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}
