import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createAssets } from "../src/explorer/files.ts";
import { ASSETS } from "../src/generated/assets.js";
import { createNodeface } from "../src/index.ts";
import { ask, askWith } from "./_app.ts";

const explorer = suite("explorer");

const DOCUMENTS = [
  ["/v1/spec", "reference"],
  ["/v1/spec/reference", "reference"],
  ["/v1/spec/simple", "simple"],
] as const;

const htmlOf = async (path: string) => await (await ask(path)).text();

const referencesOf = (html: string, path: string) =>
  [...html.matchAll(/(?:href|src|data-scalar)="([^"#]+)"/g)].map(([, reference]) => {
    assert.not.match(reference!, /^(\w+:|\/)/);
    return new URL(reference!, `http://localhost${path}`).pathname;
  });

const viewOf = (html: string) => html.includes('<div id="plain">') ? "simple" : "reference";

for (const [path, view] of DOCUMENTS) {
  explorer(`every reference of ${path} is relative and is served`, async () => {
    const html = await htmlOf(path);
    assert.is(viewOf(html), view);
    const references = referencesOf(html, path);
    assert.ok(references.length > 4);
    for (const reference of references) assert.is((await ask(reference)).status, 200, reference);
  });

  explorer(`${path} may run only the explorer's own script files and inline scripts`, async () => {
    const html = await htmlOf(path);
    const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script]) => script!);
    // The script element with the ID `examples` contains JSON, which browsers do not run.
    const running = /<script(?![^>]*\bsrc=)(?! type="application\/json" id="examples">)/g;
    assert.is(html.match(running)?.length ?? 0, scripts.length);
    assert.not.match(html, /\son\w+=/);
    const policy = (await ask(path)).headers.get("content-security-policy") ?? "";
    const [, allowed = ""] = /default-src 'none'; script-src 'self' ([^;]*);/.exec(policy) ?? [];
    const digests = scripts.map((script) => createHash("sha256").update(script).digest("base64"));
    for (const digest of digests) assert.ok(allowed.includes(`'sha256-${digest}'`), policy);
    assert.match(allowed, /^'sha256-[\w+/=]+'$/);
  });

  explorer(`${path} supports HEAD, and responds 304 to a request with its ETag`, async () => {
    const { headers } = await ask(path);
    const etag = headers.get("etag")!;
    const others = DOCUMENTS.filter(([other]) => other !== path);
    for (const [other] of others) {
      assert.is.not((await ask(other)).headers.get("etag"), etag, other);
    }
    const head = await ask(path, { method: "HEAD" });
    assert.equal([head.status, await head.text(), head.headers.get("etag")], [200, "", etag]);
    assert.is((await askWith({ "if-none-match": etag }, path)).status, 304);
  });
}

explorer("both documents have the same header, and each links to the other", async () => {
  const headOf = (html: string) =>
    /<img class="icon".*?<\/dl>/s.exec(html)![0].replace(/<a id="other".*?<\/a>/, "");
  const [first, reference, simple] = await Promise.all(DOCUMENTS.map(([path]) => htmlOf(path)));
  assert.is(headOf(reference!), headOf(simple!));
  assert.is(headOf(reference!).replaceAll("../", ""), headOf(first!).replaceAll("../", ""));
  const other = (html: string) => /<a id="other" href="([^"]+)"/.exec(html)![1];
  assert.equal([first, reference, simple].map((html) => other(html!)), [
    "spec/simple",
    "../spec/simple",
    "../spec/reference",
  ]);
});

explorer("without JavaScript, the reference redirects to the simple page", async () => {
  for (const [path, view] of DOCUMENTS.filter(([, view]) => view === "reference")) {
    const html = await htmlOf(path);
    const [, target] = /<noscript><meta http-equiv="refresh" content="0; url=([^"]+)"><\/noscript>/
      .exec(html)!;
    assert.is(new URL(target!, `http://localhost${path}`).pathname, "/v1/spec/simple", view);
  }
});

explorer("while the reference loads, it links to each operation of the simple page", async () => {
  const [reference, simple] = [await htmlOf("/v1/spec"), await htmlOf("/v1/spec/simple")];
  const links = [...reference.matchAll(/href="spec\/simple#([^"]+)"/g)].map(([, id]) => id);
  const operations = simple.match(/<article/g)!;
  assert.ok(links.length >= operations.length, `${links.length} links`);
  for (const id of links) assert.match(simple, ` id="${id}"`);
});

explorer("a description with more than 300 operations opens the simple page", async () => {
  for (const [count, view] of [[280, "reference"], [301, "simple"]] as const) {
    const paths = Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`/a${at}`, { get: { responses: {} } }]),
    );
    const text = JSON.stringify({ openapi: "3.1.1", info: { title: "A", version: "1" }, paths });
    const app = createNodeface({ description: { text, name: "a.json" }, log() {} });
    const get = async (path: string) =>
      await (await app.fetch(new Request(`http://localhost${path}`))).text();
    assert.is(viewOf(await get("/v1/spec")), view, String(count));
    assert.is(viewOf(await get("/v1/spec/reference")), "reference");
    await app.close();
  }
});

explorer("page.view selects the document at /v1/spec; each also has its own path", async () => {
  for (const view of ["reference", "simple"] as const) {
    const app = createNodeface({ page: { view }, log() {} });
    const get = async (path: string) =>
      await (await app.fetch(new Request(`http://localhost${path}`))).text();
    assert.is(viewOf(await get("/v1/spec")), view);
    for (const other of ["reference", "simple"] as const) {
      assert.is(viewOf(await get(`/v1/spec/${other}`)), other);
    }
  }
});

explorer("the explorer's files are cacheable for a year, and compressed", async () => {
  const scripts = referencesOf(await htmlOf("/v1/spec"), "/v1/spec")
    .filter((reference) => reference.endsWith(".js"));
  assert.ok(scripts.length > 1);
  for (const path of scripts) {
    const { headers } = await askWith({ "accept-encoding": "gzip, br" }, path);
    assert.is(headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.is(headers.get("content-type"), "text/javascript; charset=utf-8");
  }
  const scalar = scripts.find((path) => path.endsWith("standalone.esm.js"))!;
  const response = await askWith({ "accept-encoding": "gzip" }, scalar);
  assert.is(response.headers.get("content-encoding"), "gzip");
});

const scriptOf = async () =>
  referencesOf(await htmlOf("/v1/spec/simple"), "/v1/spec/simple")
    .find((path) => path.endsWith("simple.js"))!;

explorer("all services in a process share the explorer's files in memory", async () => {
  const name = (await scriptOf()).slice("/assets/".length);
  let imports = 0;
  const importContent = () => {
    imports++;
    return ASSETS[name]!.importContent();
  };
  const assets = { [name]: { importContent } };
  for (const coding of ["identity", "gzip"]) {
    imports = 0;
    const request = { headers: new Headers({ "accept-encoding": coding }) };
    for (const service of [createAssets(assets), createAssets(assets)]) {
      await service.get(name)!.get(request);
    }
    assert.is(imports, 1, coding);
  }
});

explorer("a file is decompressed only for a client that does not accept gzip", async () => {
  const importContent = () => Promise.resolve({ gzip: btoa("no gzip") });
  const file = createAssets({ "a/b.js": { importContent } }).get(
    "a/b.js",
  )!;
  const accepting = { headers: new Headers({ "accept-encoding": "gzip" }) };
  const response = (await file.get(accepting)).respond(accepting, { headers: {}, vary: undefined });
  assert.is(await response.text(), "no gzip");
  assert.is(response.headers.get("content-encoding"), "gzip");
  await file.get({ headers: new Headers() }).then(() => assert.unreachable(), () => {});
});

explorer("paths under /assets/ can reach only the explorer's own files", async () => {
  const folder = (await scriptOf()).split("/").at(-2);
  for (
    const path of [
      "/assets/",
      `/assets/${folder}/`,
      `/assets/${folder}/package.json`,
      `/assets/${folder}/..%2fmanifest.json`,
      `/assets/${folder}/%2e%2e%2fmanifest.json`,
      `/assets/${folder}/..%5cmanifest.json`,
      `/assets/${folder}/simple.js.br`,
      "/assets/manifest.json",
      "/assets/__proto__/x",
      "/assets/constructor/chunks/x",
    ]
  ) assert.is((await ask(path)).status, 404, path);
});

explorer.run();
