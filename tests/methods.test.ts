import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../src/index.ts";
import { ask, PATHS } from "./_app.ts";
import { json, nodeOf, optionsFor, REST, result, RPC } from "./_gateway.ts";

const methods = suite("methods");

for (const [path] of PATHS) {
  methods(`HEAD ${path} returns the headers of GET, but no content`, async () => {
    const get = await ask(path);
    const head = await ask(path, { method: "HEAD" });
    assert.is(head.status, 200);
    assert.equal([...head.headers], [...get.headers]);
    assert.is(await head.text(), "");
    assert.is(
      Number(head.headers.get("content-length")),
      (await get.arrayBuffer()).byteLength,
    );
  });
}

methods("OPTIONS lists the methods of a path", async () => {
  const response = await ask("/v1/info", { method: "OPTIONS" });
  assert.is(response.status, 204);
  assert.is(response.headers.get("allow"), "GET, HEAD, OPTIONS");
});

methods("the path * is treated like any other unknown path", async () => {
  assert.is((await ask("/*", { method: "OPTIONS" })).status, 404);
});

for (const method of ["POST", "PUT", "DELETE", "PATCH", "PROPFIND"]) {
  methods(`${method} on a known path gets 405 with the allowed methods`, async () => {
    const response = await ask("/v1/info", { method });
    assert.is(response.status, 405);
    assert.is(response.headers.get("allow"), "GET, HEAD, OPTIONS");
    assert.is((await response.json()).status, 405);
  });
  methods(`${method} on an unknown path gets 404`, async () => {
    assert.is((await ask("/nope", { method })).status, 404);
  });
}

const node = nodeOf(methods);
const OWN = ["GET", "HEAD", "OPTIONS"];
const AT_RPC: readonly (readonly [path: string, methods: readonly string[]])[] = [
  ["/v1/rpc", ["POST", "OPTIONS"]],
  ["/v1/rpc/number", ["GET", "HEAD", "POST", "OPTIONS"]],
  ["/v1/rpc/send", ["POST", "OPTIONS"]],
  ["/v1/events", OWN],
  ["/v1/metrics", OWN],
  ["/", OWN],
  ["/own/both", ["GET", "HEAD", "PUT", "OPTIONS"]],
  ["/v1/rpc/block", ["GET", "HEAD", "POST", "PUT", "OPTIONS"]],
];
const AT_REST: typeof AT_RPC = [
  ["/v1/node/status", OWN],
  ["/v1/node/open", ["GET", "HEAD", "OPTIONS"]],
  ["/v1/node/send", ["POST", "OPTIONS"]],
  ["/v1/info", OWN],
];

for (const [description, rows] of [[RPC, AT_RPC], [REST, AT_REST]] as const) {
  for (const [path, allowed] of rows) {
    methods(`${path} allows ${allowed.join(", ")}, and refuses others with that list`, async () => {
      node.answer = description === RPC ? result("1") : json({});
      const operation = { responses: { 200: { description: "" } } };
      const operations = [["GET", "/own/both"], ["PUT", "/own/both"], ["PUT", "/v1/rpc/block"]]
        .map(([method, path]) => ({ method, path, operation, handle: () => new Response("") }));
      const app = createNodeface({
        ...optionsFor(node.url, description),
        forward: { open: ["reads"] },
        metrics: true,
        operations: operations as never,
        log() {},
      });
      const statusOf = async (method: string) => {
        const request = new Request(`http://localhost${path}`, { method });
        const { status, headers, body } = await app.fetch(request);
        await body?.cancel();
        if (status === 405) assert.is(headers.get("allow"), allowed.join(", "), method);
        if (method === "OPTIONS") assert.is(headers.get("allow"), allowed.join(", "));
        return status;
      };
      const tried = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "OPTIONS"];
      for (const method of tried) {
        assert.is(await statusOf(method) !== 405, allowed.includes(method), method);
      }
      await app.close();
    });
  }
}

methods.run();
