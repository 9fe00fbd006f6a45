import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gunzipSync } from "node:zlib";
import { represent } from "../src/http/representation.ts";
import { chooseVariant } from "../src/http/negotiation.ts";
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

const bytes = (length: number) => new Uint8Array(length);
const representation = await represent("x".repeat(9), {
  type: "text/plain",
  cache: "no-cache",
  encoded: { br: bytes(1), gzip: bytes(2) },
});

for (const [accept, coding] of TABLE) {
  codings(`Accept-Encoding: ${accept} is answered with ${coding ?? "406"}`, () => {
    const variant = chooseVariant(representation, accept);
    const chosen = variant && (variant.full.headers["content-encoding"] ?? "identity");
    assert.is(chosen, coding);
  });
}

codings("a request without Accept-Encoding gets the identity", async () => {
  const response = await ask("/spec.json");
  assert.is(response.headers.get("content-encoding"), null);
});

codings("gzip unpacks to the identity", async () => {
  const plain = await (await ask("/spec.yaml")).text();
  const packed = await askWith({ "accept-encoding": "gzip" }, "/spec.yaml");
  assert.is(packed.headers.get("content-encoding"), "gzip");
  assert.is(gunzipSync(await packed.arrayBuffer()).toString(), plain);
});

codings("what fits in a packet is not encoded", async () => {
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

codings("406 says what is offered, as problem details", async () => {
  const response = await askWith({ "accept-encoding": "identity;q=0, deflate" }, "/v1/info");
  assert.is(response.status, 406);
  assert.is(response.headers.get("vary"), "Accept-Encoding");
  assert.match((await response.json()).detail, "identity always is one");
});

codings.run();
