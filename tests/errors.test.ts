import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createAssets } from "../src/explorer/files.ts";
import { createNodeface, type Operation } from "../src/index.ts";
import { ask } from "./_app.ts";
import { contentOf } from "./_representation.ts";

const errors = suite("errors");

errors("if a handler throws an error, the client gets 500 without internal details", async () => {
  const told: unknown[] = [];
  const broken: Operation = {
    method: "GET",
    path: "/v1/broken",
    operation: { responses: {} },
    handle: () => Promise.reject(new Error("no peers.json in /home/secret")),
  };
  const { fetch } = createNodeface({
    operations: [broken],
    log: (_, event) => told.push("error" in event && event.error),
  });
  const response = await fetch(new Request("http://localhost/v1/broken"));
  assert.is(response.status, 500);
  assert.is(response.headers.get("content-type"), "application/problem+json");
  assert.is(response.headers.get("cache-control"), "no-store");
  const text = await response.text();
  assert.not.match(text, /secret|peers|at /);
  assert.is(JSON.parse(text).title, "Internal Server Error");
  assert.is(told.length, 1);
});

errors("if a file of the explorer failed to load, the next request loads it again", async () => {
  let isOut = true;
  const importContent = () =>
    isOut ? Promise.reject(new Error("EMFILE")) : Promise.resolve({ identity: btoa("a {}") });
  const assets = createAssets({ "explorer-1/a.js": { importContent } });
  const load = async () => await assets.get("explorer-1/a.js")!.get({ headers: new Headers() });
  await load().then(() => assert.unreachable(), ({ message }) => {
    assert.is(message, "EMFILE");
  });
  isOut = false;
  assert.is(await contentOf(await load()), "a {}");
});

errors("a request whose URL cannot be parsed gets 400", async () => {
  const { fetch } = createNodeface();
  for (
    const url of [
      "v1/info",
      "http://a b<>/v1/info",
      "ftp://localhost/v1/info",
      "http://[::1/v1/info",
      "",
    ]
  ) {
    const response = await fetch({ url, method: "GET", headers: new Headers() } as Request);
    assert.is(response.status, 400);
    assert.is(response.headers.get("content-type"), "application/problem+json");
  }
});

errors("a HEAD request for an unknown path gets the same headers as a GET request", async () => {
  const get = await ask("/nope");
  const head = await ask("/nope", { method: "HEAD" });
  assert.is(head.status, 404);
  assert.equal([...head.headers], [...get.headers]);
});

errors("fetch responds with 500 instead of throwing if its argument is not a Request", async () => {
  const told: string[] = [];
  const app = createNodeface({ cors: [], log: (message) => told.push(message) });
  for (const given of [undefined, null, "http://localhost/", new URL("http://localhost/"), {}]) {
    const { status, headers } = await app.fetch(given as unknown as Request);
    assert.is(status, 500);
    assert.is(headers.get("x-content-type-options"), "nosniff");
    assert.is(headers.get("cross-origin-resource-policy"), "same-origin");
  }
  assert.is(told.length, 5);
  for (const message of told) assert.match(message, "fetch expects a Request");
});

errors.run();
