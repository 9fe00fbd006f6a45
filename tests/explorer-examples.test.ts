/**
 * Tests the example values that the page gets from the node and shows in the forms of read-only
 * operations.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loadInterface } from "../src/description/known-interface.ts";
import { fillIn } from "../src/explorer/form-request.ts";
import { Icons } from "../src/explorer/files.ts";
import type { Representation } from "../src/http/representation.ts";
import { Page } from "../src/explorer/page.ts";
import { renderParts } from "../src/explorer/render-content.ts";
import { KINDS } from "../src/generated/kinds.js";
import { FAVICON } from "../src/generated/page.js";
import { createCommonHeaders } from "../src/http/common-headers.ts";
import { createNodeface } from "../src/index.ts";
import type { InfoSettings } from "../src/setting-types.ts";
import { formatJson } from "../src/json/lossless.ts";
import type { JsonObject } from "../src/json/values.ts";
import { parseReference } from "../src/info/query-plan.ts";
import type { Reference } from "../src/kinds/parts.ts";
import { withHomes } from "../src/openapi/home.ts";
import { documentOfKind } from "../src/openapi/kind-document.ts";
import { examplesIn } from "../src/settings/kind-interface.ts";
import { until } from "./_gateway.ts";
import { operationsOf } from "./nodes/_interface.ts";
import { play } from "./_sources.ts";
import { setScene } from "./_scene.ts";

const examples = suite("example values from the node");

const HASH = `0x${"a1".repeat(32)}`;

const JSON_TYPE = { "content-type": "application/json" };

function playHead(head: JsonObject) {
  const results: JsonObject = {
    web3_clientVersion: "anvil/v1.7.1",
    eth_chainId: "0x7a69",
    eth_blockNumber: "0x5",
    eth_getBlockByNumber: { number: "0x5", timestamp: "0x6b01a99a", ...head },
    eth_syncing: false,
    net_peerCount: "0x1",
  };
  const answer = ({ id, method }: JsonObject) => ({
    jsonrpc: "2.0",
    id,
    result: results[String(method)],
  });
  return (body: string) => {
    const asked = JSON.parse(body);
    return formatJson(Array.isArray(asked) ? asked.map(answer) : answer(asked));
  };
}

async function givenBy(head: JsonObject, info: InfoSettings = {}) {
  const answer = playHead(head);
  const fetch = (_: unknown, init?: RequestInit) =>
    Promise.resolve(new Response(answer(String(init?.body)), { headers: JSON_TYPE }));
  const { monitor } = setScene({ fetch: fetch as never, info, node: { kind: "ethereum" } });
  const { examples } = await monitor.snapshotNow();
  await monitor[Symbol.asyncDispose]();
  return examples;
}

examples("examples come from responses to existing queries, and match the pattern", async () => {
  const transactions = [HASH.replace("a1", "b2"), "0x1"];
  assert.equal(await givenBy({ hash: HASH, transactions }), {
    "head#/hash": HASH,
    "head#/transactions/0": transactions[0],
  });
  for (const hash of [`${HASH}'; id #`, `${HASH}\n`, "0x1", null, 7, { a: 1 }, "\u202e"]) {
    assert.equal(await givenBy({ hash, transactions: [] }), {}, JSON.stringify(hash));
  }
});

examples(
  "no example comes from a source that the operator defined or that has hidden values",
  async () => {
    assert.equal(await givenBy({ hash: HASH }, { hide: ["head_at"] }), {});
    const sources = { head: { jsonrpc: "eth_getBlockByNumber", params: ["earliest", false] } };
    assert.equal(await givenBy({ hash: HASH }, { sources }), {});
    assert.equal(Object.keys((await givenBy({ hash: HASH }, { hide: ["peers"] }))!), [
      "head#/hash",
    ]);
  },
);

examples("other example values do not make another description of the page", async () => {
  const versions = async (hash: string, open: "reads" | "none") => {
    const answer = playHead({ hash });
    const played = await play((request, response) => {
      let body = "";
      request.on("data", (part) => body += part)
        .on("end", () => response.writeHead(200, JSON_TYPE).end(answer(body)));
    });
    const app = createNodeface({
      node: { url: played.url, kind: "ethereum", ask_methods: false },
      forward: open === "none" ? "off" : { open: [open] },
      log: () => {},
    });
    const get = async (path: string) => await app.fetch(new Request(`http://localhost/${path}`));
    await (await get("v1/info")).text();
    await until(async () =>
      open === "none" || (await (await get("spec.json")).text()).includes(hash)
    );
    const page = await (await get("v1/spec/simple")).text();
    const { headers } = await get("spec.json");
    const version = headers.get("x-description-version");
    assert.is(/ data-version="([^"]+)"/.exec(page)?.[1], version);
    await app.close();
    await played.close();
    return { version, etag: headers.get("etag") };
  };
  const one = await versions(HASH, "reads");
  const other = await versions(HASH.replaceAll("a1", "b2"), "reads");
  assert.is.not(one.etag, other.etag);
  assert.is(one.version, other.version);
  assert.is.not((await versions(HASH, "none")).version, one.version);
});

for (const [name, { examples: patterns = {}, sources }] of Object.entries(KINDS)) {
  const places = Object.keys(patterns) as Reference[];
  if (places.length === 0) continue;
  examples(`${name}: they come from read-only methods; x-example-from is hidden`, async () => {
    const parts = await loadInterface(name);
    // The service checks a value against one pattern for its place, and the page checks no pattern.
    for (const { place, pattern } of examplesIn(parts)) {
      assert.is(patterns[place as Reference], pattern, String(place));
    }
    const base = parts.openapi?.servers?.[0]?.url;
    const access = new Map(
      operationsOf(parts).map(([operation, marks]) => [
        base ? operation.replace(/ (.*?)\/?$/, ` ${base}$1`) : operation,
        marks["x-access"],
      ]),
    );
    for (const [source] of places.map(parseReference)) {
      const { jsonrpc, get } = sources[source] as { jsonrpc?: string; get?: string };
      assert.is(access.get(jsonrpc ?? `GET ${get}`), "read", source);
    }
    const document = await withHomes(await documentOfKind(parts, { title: "A" }));
    assert.match(formatJson(parts), "x-example-from");
    assert.not.match(formatJson(document), "x-example-from");
    const { sources: used } = await renderParts(document);
    // The operations cannot be called, so the page has no forms that need example values.
    assert.equal(used, []);
  });
}

async function pageOf(
  document: JsonObject,
  values: Record<string, string>,
  name: "simple" | "reference",
) {
  const icons = new Icons(FAVICON);
  const view = "reference" as const;
  const parts = await renderParts(document);
  const page = new Page(parts, {
    origins: [],
    notice: undefined,
    version: "",
    title: undefined,
    view,
    icons,
  });
  const info = { status: "ok" } as const;
  const [representation, other] = await Promise.all(
    [1, 2].map(() => page.prepare(name, false, info, values)),
  ) as [Representation, Representation];
  assert.is(other, representation, "requests at the same time share one page");
  const request = new Request("http://localhost/");
  const response = await representation.respond(request, createCommonHeaders("*")(request));
  return { html: await response.text(), parts };
}

const opened = async (kind = "ethereum") => {
  const parts = await loadInterface(kind);
  const document = await withHomes(await documentOfKind(parts, { title: "A" }));
  const paths = Object.fromEntries(
    Object.entries(document.paths as JsonObject).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item as JsonObject).map(([verb, operation]) => [
          verb,
          typeof operation === "object" ? { ...operation, "x-call": "open" } : operation,
        ]),
      ),
    ]),
  );
  return { ...document, paths };
};

examples(
  "all example values are in one data block without HTML, on a page with forms",
  async () => {
    const hostile = `</script><form action="https://a.example">\u2028&'`;
    const values = { "head#/hash": hostile, "head#/unused": "x" };
    const { html, parts } = await pageOf(await opened(), values, "simple");
    assert.equal([...parts.sources].sort(), ["head#/hash", "head#/transactions/0"]);
    const [, block] = /<script type="application\/json" id="examples">(.*?)<\/script>/s.exec(html)!;
    assert.equal(JSON.parse(block!), { "head#/hash": hostile });
    assert.not.match(html, 'a.example">');
    assert.not.match(block!, /[<>&'\u2028]/);
    const long = { "head#/hash": "x".repeat(20_000) };
    assert.match((await pageOf(await opened(), long, "simple")).html, `id="examples">{}</script>`);
    assert.not.match((await pageOf(await opened(), values, "reference")).html, "examples");
  },
);

examples(
  "a request body has the node's value at its place, and must be sent",
  async () => {
    const { content } = await renderParts(await opened("monero"));
    const [, json] = /data-try='([^']*get_block_header_by_hash[^']*)'/.exec(String(content.main))!;
    const { fields: [body] } = JSON.parse(json!);
    assert.equal([body.in, body.isRequired, body.isFilled], ["body", true, true]);
    assert.match(body.example, '{"hash":"{head#/block_header/hash}"');
    assert.equal(body.sources, ["head#/block_header/hash"]);
    const [text] = fillIn({ method: "POST", address: "/", fields: [body] }, {
      "head#/block_header/hash": HASH,
    });
    assert.is(JSON.parse(text!).hash, HASH);
  },
);

examples("x-example-from is ignored in a custom description and on write operations", async () => {
  const get = (more: JsonObject) => ({
    "x-call": "open",
    ...more,
    parameters: [{
      ...{ name: "a", in: "query", required: true },
      schema: { type: "string", pattern: "^.*$", "x-example-from": "head#/hash" },
    }],
  });
  const info = { title: "A", version: "1" };
  const paths = { "/a": { get: get({ "x-access": "read" }) } };
  const own = await renderParts({ openapi: "3.1.1", info, paths });
  assert.equal(own.sources, []);
  const document = await opened();
  const written = Object.entries(document.paths).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item as JsonObject).map(([verb, operation]) => [
        verb,
        typeof operation === "object" ? { ...operation, "x-access": "write" } : operation,
      ]),
    ),
  ]);
  const writes = await renderParts({ ...document, paths: Object.fromEntries(written) });
  assert.equal(writes.sources, []);
});

examples.run();
