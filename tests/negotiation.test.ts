import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gunzipSync } from "node:zlib";
import { represent } from "../src/http/representation.ts";
import { ask, askWith } from "./_app.ts";

const codings = suite("codings");

const TABLE: [accept: string, coding: string | undefined][] = [
  ["gzip", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["br;q=0.5, gzip", "gzip"],
  ["GZIP", "gzip"],
  ["gzip;q=0", "identity"],
  ["*", "br"],
  ["*;q=0.1, gzip;q=1", "gzip"],
  ["br;q=0, *", "gzip"],
  ["identity", "identity"],
  ["identity;q=0", undefined],
  ["*;q=0", undefined],
  ["identity;q=0, gzip", "gzip"],
  ["deflate", "identity"],
  ["", "identity"],
  [",,;;q=", "identity"],
  ["gzip;q=nonsense", "identity"],
];

for (const [accept, coding] of TABLE) {
  codings(`Accept-Encoding: ${accept} gets a response with ${coding ?? "status 406"}`, async () => {
    const { status, headers } = await askWith({ "accept-encoding": accept }, "/spec.json");
    assert.is(status, coding ? 200 : 406);
    if (coding) assert.is(headers.get("content-encoding") ?? "identity", coding);
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
    if (coding) assert.is(headers.get("content-encoding") ?? "identity", coding, accept);
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
  const { variants } = await represent(noise, init);
  assert.equal(Object.keys(variants), ["identity"]);
});

codings("a 406 response has problem details that name the available codings", async () => {
  const response = await askWith({ "accept-encoding": "identity;q=0, deflate" }, "/v1/info");
  assert.is(response.status, 406);
  assert.is(response.headers.get("vary"), "Accept-Encoding");
  assert.match((await response.json()).detail, "even identity");
});

codings.run();
