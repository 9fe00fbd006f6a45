import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gunzipSync } from "node:zlib";
import { represent } from "../src/http/representation.ts";
import { ask, askWith } from "./_app.ts";

const codings = suite("codings");

const TABLE: [accept: string, coding: string][] = [
  ["gzip", "gzip"],
  ["br", "identity"],
  ["gzip, deflate, br, zstd", "gzip"],
  ["br;q=1, gzip;q=0.5", "gzip"],
  ["identity;q=1, gzip;q=0.5", "identity"],
  ["GZIP", "gzip"],
  ["gzip;q=0", "identity"],
  ["*", "gzip"],
  ["*;q=0.1, gzip;q=1", "gzip"],
  ["gzip;q=0, *", "identity"],
  ["identity", "identity"],
  // A server may disregard the header field (RFC 9110, section 12.5.3).
  ["identity;q=0", "identity"],
  ["*;q=0", "identity"],
  ["identity;q=0, gzip", "gzip"],
  ["deflate", "identity"],
  ["", "identity"],
  [",,;;q=", "identity"],
  ["gzip;q=nonsense", "identity"],
];

for (const [accept, coding] of TABLE) {
  codings(`Accept-Encoding: ${accept} gets the coding ${coding}`, async () => {
    const { status, headers } = await askWith({ "accept-encoding": accept }, "/spec.json");
    assert.is(status, 200);
    assert.is(headers.get("content-encoding") ?? "identity", coding);
  });
}

codings("a response to a request without Accept-Encoding is not encoded", async () => {
  const response = await ask("/spec.json");
  assert.is(response.headers.get("content-encoding"), null);
});

codings("the coding does not depend on earlier requests", async () => {
  for (let i = 0; i < 300; i++) {
    const [accept, coding] = TABLE[i % TABLE.length]!;
    const other = await askWith({ "accept-encoding": `gzip;q=0.${100 + i}` }, "/spec.json");
    assert.is(other.headers.get("content-encoding"), "gzip");
    const { headers } = await askWith({ "accept-encoding": accept }, "/spec.json");
    assert.is(headers.get("content-encoding") ?? "identity", coding, accept);
  }
});

codings("decompressing the gzip response yields the content without coding", async () => {
  const plain = await (await ask("/spec.yaml")).text();
  const packed = await askWith({ "accept-encoding": "gzip" }, "/spec.yaml");
  assert.is(packed.headers.get("content-encoding"), "gzip");
  assert.is(gunzipSync(await packed.arrayBuffer()).toString(), plain);
});

codings("content that fits in one packet is not encoded", async () => {
  const response = await askWith({ "accept-encoding": "br, gzip" }, "/v1/info");
  assert.is(response.headers.get("content-encoding"), null);
  assert.is(response.headers.get("vary"), "Accept-Encoding");
});

codings("a coding that would make the content longer is not offered", async () => {
  const noise = crypto.getRandomValues(new Uint8Array(4000));
  const init = { type: "image/png", cache: "no-cache" };
  const representation = await represent(noise, init);
  const headers = new Headers({ "accept-encoding": "gzip" });
  const response = representation.respond({ headers }, { headers: {}, vary: undefined });
  assert.is(response.headers.get("content-encoding"), null);
});

codings.run();
