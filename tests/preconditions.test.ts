import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ask, askWith, PATHS } from "./_app.ts";

const conditions = suite("conditions");

for (const [path] of PATHS) {
  conditions(`GET ${path} returns 304 if If-None-Match has its ETag`, async () => {
    const etag = (await ask(path)).headers.get("etag") ?? "";
    assert.match(etag, /^"[\w-]+"$/);
    const response = await askWith({ "if-none-match": etag }, path);
    assert.is(response.status, 304);
    assert.is(response.headers.get("etag"), etag);
    assert.ok(response.headers.get("cache-control"));
    assert.ok(response.headers.get("vary"));
    assert.is(response.headers.get("content-length"), null);
    assert.is(await response.text(), "");
  });
}

conditions("each content coding has its own ETag", async () => {
  const etags = new Set<string | null>();
  for (const coding of ["gzip", "identity"]) {
    const response = await askWith({ "accept-encoding": coding }, "/spec.json");
    assert.is(response.status, 200);
    etags.add(response.headers.get("etag"));
  }
  assert.is(etags.size, 2);
});

/** In each list, `tag` is replaced by the current ETag. */
const TABLE: [list: string, isNamed: boolean][] = [
  ["", false],
  ["*", true],
  [" * ", true],
  ['"tag"', true],
  ['W/"tag"', true],
  ['w/"tag"', false],
  ['"other"', false],
  ['"other", "tag"', true],
  ['"other","tag","third"', true],
  ['"a,b", "tag"', true],
  ["tag", false],
  ["'tag'", false],
  ['"tag', false],
  ['tag"', false],
  ['"tag"x', false],
  ['x"tag"', false],
  ['""tag"', false],
  ['"tag""tag"', false],
  [',, "tag" ,,', true],
];

for (const [list, isNamed] of TABLE) {
  conditions(`If-None-Match: ${list} ${isNamed ? "matches" : "does not match"} tag`, async () => {
    const etag = (await ask("/spec.json")).headers.get("etag") ?? "";
    const noneMatch = list.replaceAll("tag", etag.slice(1, -1));
    const { status } = await askWith({ "if-none-match": noneMatch }, "/spec.json");
    assert.is(status, isNamed ? 304 : 200);
  });
}

conditions("If-None-Match takes precedence over If-Modified-Since", async () => {
  const later = { "if-modified-since": "Fri, 31 Dec 2100 23:59:59 GMT" };
  assert.is((await askWith(later, "/v1/info")).status, 200);
  assert.is((await askWith({ ...later, "if-none-match": '"other"' }, "/v1/info")).status, 200);
});

conditions.run();
