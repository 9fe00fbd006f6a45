import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";

const cors = suite("cross-origin reading");

const ORIGIN = "https://app.example";

async function ask(
  options: NodefaceOptions,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<Headers> {
  const request = {
    url: `http://localhost${path}`,
    method,
    headers: new Headers(headers),
  } as Request;
  return (await createNodeface(options).fetch(request)).headers;
}

const PREFLIGHT = { origin: ORIGIN, "access-control-request-method": "GET" };

cors("by default any origin may read responses and errors, without credentials", async () => {
  for (const path of ["/v1/info", "/spec.json", "/nope"]) {
    const headers = await ask({}, path, { origin: ORIGIN });
    assert.is(headers.get("access-control-allow-origin"), "*");
    assert.is(headers.get("access-control-allow-credentials"), null);
    assert.is(headers.get("access-control-expose-headers"), "etag, allow, link");
    assert.not.match(headers.get("vary") ?? "", "Origin");
  }
});

cors("if origins are listed, only they may read responses, and Vary includes Origin", async () => {
  const options = { cors: [ORIGIN, "https://other.example"] };
  for (const path of ["/v1/info", "/nope"]) {
    const listed = await ask(options, path, { origin: ORIGIN });
    assert.is(listed.get("access-control-allow-origin"), ORIGIN);
    assert.is(listed.get("access-control-expose-headers"), "etag, allow, link");
    assert.match(listed.get("vary") ?? "", "Origin");
    const others: Record<string, string>[] = [{ origin: "https://evil.example" }, {}];
    for (const other of others) {
      const headers = await ask(options, path, other);
      assert.is(headers.get("access-control-allow-origin"), null);
      assert.match(headers.get("vary") ?? "", "Origin");
    }
  }
  assert.is((await ask(options, "/v1/info")).get("vary"), "Accept-Encoding, Origin");
  const failed = await ask(options, "/v1/info", { "if-match": '"x"' });
  assert.is(failed.get("vary"), "Accept-Encoding, Origin");
});

cors(
  "an origin may be listed in any letter case and with its default port",
  async () => {
    for (const listed of ["https://APP.example", "https://app.example:443"]) {
      const headers = await ask({ cors: [listed] }, "/v1/info", { origin: ORIGIN });
      assert.is(headers.get("access-control-allow-origin"), ORIGIN, listed);
    }
    const headers = await ask({ cors: ["http://bücher.example:80"] }, "/v1/info", {
      origin: "http://xn--bcher-kva.example",
    });
    assert.ok(headers.has("access-control-allow-origin"));
  },
);

cors("an invalid origin is refused when the service is created", () => {
  for (
    const origin of [
      "https://a.example/",
      "a.example",
      "null",
      "*",
      "https://*.example",
      "https://a:99999",
      "https://u@a",
    ]
  ) {
    assert.throws(
      () => createNodeface({ cors: [origin] }),
      (error: unknown) =>
        error instanceof TypeError &&
        error.message === "cors[0] must be an origin such as https://app.example, or " +
            `"*" in place of the list, not ${JSON.stringify(origin)}`,
    );
  }
});

cors("a listed origin may also read a 304 response", async () => {
  const options = { cors: [ORIGIN] };
  const headers = await ask(options, "/v1/health", { origin: ORIGIN, "if-none-match": "*" });
  assert.is(headers.get("access-control-allow-origin"), ORIGIN);
  assert.is(headers.get("vary"), "Accept-Encoding, Origin");
});

cors("if the list of origins is empty, no origin may read responses", async () => {
  const headers = await ask({ cors: [] }, "/v1/info", { origin: ORIGIN });
  assert.is(headers.get("access-control-allow-origin"), null);
  assert.is(headers.get("vary"), "Accept-Encoding");
});

cors("origins that may not read responses may not embed responses either", async () => {
  for (const path of ["/v1/info", "/nope"]) {
    for (
      const [options, policy] of [
        [{}, "cross-origin"],
        [{ cors: [ORIGIN] }, "same-origin"],
        [{ cors: [] }, "same-origin"],
      ] as const
    ) {
      const headers = await ask(options, path);
      assert.is(headers.get("cross-origin-resource-policy"), policy, path);
    }
  }
});

cors("the response to a preflight request for an existing path lists its methods", async () => {
  const headers = await ask({}, "/v1/info", PREFLIGHT, "OPTIONS");
  assert.is(headers.get("access-control-allow-methods"), "GET, HEAD");
  assert.is(headers.get("access-control-allow-headers"), "*, authorization");
  assert.is(headers.get("access-control-max-age"), "86400");
});

cors(
  "a preflight for a missing path, or from an unlisted origin, gets no CORS headers",
  async () => {
    const unknown = await ask({}, "/nope", PREFLIGHT, "OPTIONS");
    assert.is(unknown.get("access-control-allow-methods"), null);
    const unlisted = await ask(
      { cors: ["https://other.example"] },
      "/v1/info",
      PREFLIGHT,
      "OPTIONS",
    );
    assert.is(unlisted.get("access-control-allow-methods"), null);
  },
);

cors("an OPTIONS request without preflight headers is not treated as a preflight", async () => {
  const headers = await ask({}, "/v1/info", { origin: ORIGIN }, "OPTIONS");
  assert.is(headers.get("allow"), "GET, HEAD, OPTIONS");
  assert.is(headers.get("access-control-allow-methods"), null);
});

cors.run();
