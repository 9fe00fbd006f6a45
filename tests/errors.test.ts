import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readManifest } from "../src/explorer/manifest.ts";
import { createNodeface } from "../src/index.ts";
import { ask } from "./_app.ts";

const errors = suite("errors");

errors("a thrown error is answered with 500 and nothing of the inside", async () => {
  const told: unknown[] = [];
  const broken = createNodeface({
    platform: { read: (path) => Promise.reject(new Error(`no ${path} in /home/secret`)) },
    onError: (error) => told.push(error),
  });
  const response = await broken.fetch(new Request("http://localhost/v1/info"));
  assert.is(response.status, 500);
  assert.is(response.headers.get("content-type"), "application/problem+json");
  assert.is(response.headers.get("cache-control"), "no-store");
  const text = await response.text();
  assert.not.match(text, /secret|manifest|at /);
  assert.is(JSON.parse(text).title, "Internal Server Error");
  assert.is(told.length, 1);
});

errors("a service that failed once answers as soon as it can", async () => {
  let broken = true;
  const { platform } = await import("../src/platform.ts");
  const app = createNodeface({
    platform: {
      read: (path) => broken ? Promise.reject(new Error("not yet")) : platform.read(path),
    },
    onError: () => {},
  });
  const request = () => app.fetch(new Request("http://localhost/v1/info"));
  assert.is((await request()).status, 500);
  broken = false;
  assert.is((await request()).status, 200);
});

errors("a file of the explorer that could not be read once is read again", async () => {
  const { platform } = await import("../src/platform.ts");
  const { explorer } = await readManifest(platform);
  let isOut = true;
  const told: unknown[] = [];
  const app = createNodeface({
    platform: {
      read: (path) =>
        isOut && path.includes(explorer)
          ? Promise.reject(new Error("EMFILE: too many open files"))
          : platform.read(path),
    },
    onError: (error) => told.push(error),
  });
  const request = () => app.fetch(new Request(`http://localhost/assets/${explorer}/explorer.js`));
  const refused = await request();
  assert.is(refused.status, 500);
  assert.is(refused.headers.get("cache-control"), "no-store");
  assert.match(String(told[0]), "EMFILE");
  isOut = false;
  assert.is((await request()).status, 200);
});

errors("a request whose address cannot be parsed is answered with 400", async () => {
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

errors("HEAD of an unknown path has the headers of the problem", async () => {
  const get = await ask("/nope");
  const head = await ask("/nope", { method: "HEAD" });
  assert.is(head.status, 404);
  assert.equal([...head.headers], [...get.headers]);
});

errors.run();
