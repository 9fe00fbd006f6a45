import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createAssets } from "../src/explorer/assets.ts";
import { ASSETS } from "../src/generated/assets.js";
import { ask, askWith } from "./_app.ts";

const explorer = suite("explorer");

const html = await (await ask("/v1/spec")).text();
const references = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, reference]) => reference!);

explorer("every reference of the page is relative and leads to an answer", async () => {
  assert.ok(references.length > 4);
  for (const reference of references) {
    assert.not.match(reference, /^(\w+:|\/)/);
    const { pathname } = new URL(reference, "http://localhost/v1/spec");
    assert.is((await ask(pathname)).status, 200, pathname);
  }
});

explorer("its files may be kept for a year, and are offered in brotli and gzip", async () => {
  const scripts = references.filter((reference) => reference.endsWith(".js"));
  assert.ok(scripts.length > 1);
  for (const reference of scripts) {
    const { pathname } = new URL(reference, "http://localhost/v1/spec");
    const { headers } = await askWith({ "accept-encoding": "gzip, br" }, pathname);
    assert.is(headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.is(headers.get("content-type"), "text/javascript; charset=utf-8");
  }
  const [, entry] = /data-scalar="([^"]+)"/.exec(html)!;
  const scalar = new URL(entry!, "http://localhost/v1/spec");
  for (const coding of ["br", "gzip"]) {
    const response = await askWith({ "accept-encoding": coding }, scalar.pathname);
    assert.is(response.headers.get("content-encoding"), coding);
  }
});

explorer("services of one process share the bytes of its files", async () => {
  const path = references.find((reference) => reference.endsWith("explorer.js"))!;
  const { pathname } = new URL(path, "http://localhost/v1/spec");
  const find = () => createAssets(ASSETS)(pathname.slice("/assets/".length));
  const [first, second] = [await find(), await find()];
  assert.ok(first!.variants.identity!.body);
  assert.is(first!.variants.identity!.body, second!.variants.identity!.body);
});

explorer("the page carries one script of its own, and a policy that allows no other", async () => {
  const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)];
  assert.is(html.match(/<script(?![^>]*\bsrc=)/g)?.length, 1);
  assert.not.match(html, /\son\w+=/);
  const digest = createHash("sha256").update(scripts[0]![1]!).digest("base64");
  const policy = (await ask("/v1/spec")).headers.get("content-security-policy") ?? "";
  assert.match(policy, `default-src 'none'; script-src 'self' 'sha256-${digest}';`);
});

explorer("no path under /assets/ names anything but the explorer's files", async () => {
  const folder = references.find((path) => path.endsWith("explorer.js"))!.split("/").at(-2);
  for (
    const path of [
      "/assets/",
      `/assets/${folder}/`,
      `/assets/${folder}/package.json`,
      `/assets/${folder}/..%2fmanifest.json`,
      `/assets/${folder}/%2e%2e%2fmanifest.json`,
      `/assets/${folder}/..%5cmanifest.json`,
      `/assets/${folder}/explorer.js.br`,
      "/assets/manifest.json",
      "/assets/__proto__/x",
      "/assets/constructor/chunks/x",
    ]
  ) assert.is((await ask(path)).status, 404, path);
});

explorer.run();
