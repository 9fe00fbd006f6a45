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
  codings(`Accept-Encoding: ${accept} is answered with ${coding ?? "406"}`, async () => {
    const { status, headers } = await askWith({ "accept-encoding": accept }, "/spec.json");
    assert.is(status, coding ? 200 : 406);
    if (coding) assert.is(headers.get("content-encoding") ?? "identity", coding);
  });
}

codings("a request without Accept-Encoding gets the identity", async () => {
  const response = await ask("/spec.json");
  assert.is(response.headers.get("content-encoding"), null);
});

codings("earlier requests do not affect the choice", async () => {
  for (let i = 0; i < 300; i++) {
    const [accept, coding] = TABLE[i % TABLE.length]!;
    const other = await askWith({ "accept-encoding": `gzip;q=0.${100 + i}` }, "/spec.json");
    assert.is(other.headers.get("content-encoding"), "gzip");
    const { headers } = await askWith({ "accept-encoding": accept }, "/spec.json");
    if (coding) assert.is(headers.get("content-encoding") ?? "identity", coding, accept);
  }
});

codings("gzip unpacks to the identity", async () => {
  const plain = await (await ask("/spec.yaml")).text();
  const packed = await askWith({ "accept-encoding": "gzip" }, "/spec.yaml");
  assert.is(packed.headers.get("content-encoding"), "gzip");
  assert.is(gunzipSync(await packed.arrayBuffer()).toString(), plain);
});

codings("a content that fits in a packet is not encoded", async () => {
  const response = await askWith({ "accept-encoding": "br, gzip" }, "/v1/info");
  assert.is(response.headers.get("content-encoding"), null);
  assert.is(response.headers.get("vary"), "Accept-Encoding");
});

codings("an encoding that is longer than the content is not offered", async () => {
  const noise = crypto.getRandomValues(new Uint8Array(4000));
  const init = { type: "image/png", cache: "no-cache" };
  const { variants } = await represent(noise, init);
  assert.equal(Object.keys(variants), ["identity"]);
});

codings("406 lists the available codings, as problem details", async () => {
  const response = await askWith({ "accept-encoding": "identity;q=0, deflate" }, "/v1/info");
  assert.is(response.status, 406);
  assert.is(response.headers.get("vary"), "Accept-Encoding");
  assert.match((await response.json()).detail, "even identity");
});

codings.run();
