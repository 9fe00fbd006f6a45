import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ask, PATHS } from "./_app.ts";

const routes = suite("routes");

for (const [path, type] of PATHS) {
  routes(`GET ${path} returns 200 with the type ${type}`, async () => {
    const response = await ask(path);
    assert.is(response.status, 200);
    assert.is(response.headers.get("content-type"), type);
    assert.ok((await response.text()).length > 0);
  });
}

for (const [path, location] of [["/", "v1/spec"], ["/v1", "v1/spec"], ["/v1/", "spec"]] as const) {
  routes(`GET ${path} redirects to the explorer with a relative Location`, async () => {
    const response = await ask(path);
    assert.is(response.status, 307);
    assert.is(response.headers.get("location"), location);
    assert.is(new URL(location, `http://localhost${path}`).pathname, "/v1/spec");
  });
}

routes("a query string does not change the response", async () => {
  assert.is((await ask("/v1/info?a=1&a=2")).status, 200);
  assert.is((await ask("/v1?x=/")).headers.get("location"), "v1/spec");
});

for (
  const path of ["/nope", "/v1/nope", "/v2/info", "/V1/info", "/v1/info/", "/v1/spec/", "//v1"]
) {
  routes(`GET ${path} returns 404 with problem details`, async () => {
    const response = await ask(path);
    assert.is(response.status, 404);
    assert.is(response.headers.get("content-type"), "application/problem+json");
    assert.is(response.headers.get("cache-control"), "no-store");
    assert.equal(Object.keys(await response.json()), [
      "type",
      "title",
      "status",
      "detail",
      "message",
    ]);
  });
}

routes.run();
