import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ask, PATHS } from "./_app.ts";

const methods = suite("methods");

for (const [path] of PATHS) {
  methods(`HEAD ${path} returns the headers of GET, but no content`, async () => {
    const get = await ask(path);
    const head = await ask(path, { method: "HEAD" });
    assert.is(head.status, 200);
    assert.equal([...head.headers], [...get.headers]);
    assert.is(await head.text(), "");
    assert.is(
      Number(head.headers.get("content-length")),
      (await get.arrayBuffer()).byteLength,
    );
  });
}

methods("OPTIONS lists the methods of a path", async () => {
  const response = await ask("/v1/info", { method: "OPTIONS" });
  assert.is(response.status, 204);
  assert.is(response.headers.get("allow"), "GET, HEAD, OPTIONS");
});

methods("the path * is treated like any other unknown path", async () => {
  assert.is((await ask("/*", { method: "OPTIONS" })).status, 404);
});

for (const method of ["POST", "PUT", "DELETE", "PATCH", "PROPFIND"]) {
  methods(`${method} on a known path gets 405 with the allowed methods`, async () => {
    const response = await ask("/v1/info", { method });
    assert.is(response.status, 405);
    assert.is(response.headers.get("allow"), "GET, HEAD, OPTIONS");
    assert.is((await response.json()).status, 405);
  });
  methods(`${method} on an unknown path gets 404`, async () => {
    assert.is((await ask("/nope", { method })).status, 404);
  });
}

methods.run();
