import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ask, PATHS } from "./_app.ts";

const headers = suite("headers");

/** The expected `Cache-Control` header of each path (RFC 9111, section 5.2.2). */
const CACHE: Readonly<Record<string, string>> = {
  "/v1/spec": "public, no-cache",
  "/v1/spec/reference": "public, no-cache",
  "/v1/spec/simple": "public, no-cache",
  "/v1/info": "public, no-cache",
  "/v1/health": "no-store",
  "/v1/ready": "no-store",
  "/spec.json": "public, no-cache",
  "/spec.yaml": "public, no-cache",
  "/v1/spec.json": "public, no-cache",
  "/v1/spec.yaml": "public, no-cache",
  "/.well-known/api-catalog": "public, no-cache",
  "/favicon.ico": "public, max-age=86400",
};

for (const [path] of PATHS) {
  headers(`the Cache-Control header of ${path} says how long it may be cached`, async () => {
    assert.is((await ask(path)).headers.get("cache-control"), CACHE[path]);
  });
}

headers(
  "every response forbids content-type sniffing and limits the referrer",
  async () => {
    for (const path of [...PATHS.map(([path]) => path), "/", "/nope"]) {
      const answer = (await ask(path)).headers;
      assert.is(answer.get("x-content-type-options"), "nosniff", path);
      // The page must send a referrer, because the service recognizes requests from its own page by
      // the referrer.
      const policy = /^\/v1\/spec(\/|$)/.test(path) ? "same-origin" : "no-referrer";
      assert.is(answer.get("referrer-policy"), policy, path);
      assert.ok(answer.get("cross-origin-resource-policy"), path);
      assert.is(answer.get("server"), null);
      assert.is(answer.get("x-powered-by"), null);
    }
  },
);

for (const path of ["/v1/spec", "/v1/spec/reference", "/v1/spec/simple"]) {
  headers(`${path} is isolated from other origins, and has a strict CSP`, async () => {
    const page = (await ask(path)).headers;
    assert.is(page.get("cross-origin-opener-policy"), "same-origin");
    assert.is(page.get("cross-origin-resource-policy"), "same-origin");
    const policy = page.get("content-security-policy") ?? "";
    assert.not.match(policy, /script-src[^;]*'unsafe|eval|https?:|\*/);
    for (const directive of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]) {
      assert.match(policy, directive);
    }
  });
}

headers("error responses are not cached", async () => {
  for (const [path, method] of [["/nope", "GET"], ["/v1/info", "POST"]] as const) {
    assert.is((await ask(path, { method })).headers.get("cache-control"), "no-store");
  }
});

headers.run();
