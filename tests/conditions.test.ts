import { suite } from "uvu";
import * as assert from "uvu/assert";
import { noneMatch } from "../src/http/conditions.ts";
import { ask, askWith, PATHS } from "./_app.ts";

const conditions = suite("conditions");

for (const [path] of PATHS) {
  conditions(`GET ${path} answers 304 when the validator matches`, async () => {
    const etag = (await ask(path)).headers.get("etag") ?? "";
    assert.match(etag, /^"[\w-]{22}"$/);
    const response = await askWith({ "if-none-match": etag }, path);
    assert.is(response.status, 304);
    assert.is(response.headers.get("etag"), etag);
    assert.ok(response.headers.get("cache-control"));
    assert.ok(response.headers.get("vary"));
    assert.is(response.headers.get("content-length"), null);
    assert.is(await response.text(), "");
  });
}

conditions("each coding has a validator of its own", async () => {
  const etags = new Set<string | null>();
  for (const coding of ["br", "gzip", "identity"]) {
    const response = await askWith({ "accept-encoding": coding }, "/spec.json");
    assert.is(response.status, 200);
    etags.add(response.headers.get("etag"));
  }
  assert.is(etags.size, 3);
});

const TABLE: [header: string | null, matches: boolean][] = [
  [null, false],
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
  ['"a,"tag",b"', false],
  ["tag", false],
  ["'tag'", false],
  ['"tag', false],
  ['tag"', false],
  ['"tag"x', false],
  ['x"tag"', false],
  ['"tag""tag"', false],
  [',, "tag" ,,', true],
];

for (const [header, matches] of TABLE) {
  conditions(`If-None-Match: ${header} ${matches ? "names" : "does not name"} "tag"`, () => {
    assert.is(noneMatch(header, '"tag"'), matches);
  });
}

conditions("a tag with a comma in it is one tag", () => {
  assert.ok(noneMatch('"x", "a,b"', '"a,b"'));
  assert.not(noneMatch('"a,b"', '"a"'));
});

conditions.run();
