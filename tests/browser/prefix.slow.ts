import { createServer, request, type Server } from "node:http";
import type { Browser } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { createNodeface, type NodefaceOptions } from "../../src/index.ts";
import { closePages, launch, PATIENCE, QUIET, watch } from "./_browser.ts";
import { NODE, send, SIMPLE, visit } from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";

const prefix = suite("the explorer below a path");

let node: Served;
let proxy: Server;
let url: string;
let browser: Browser;

prefix.before(async () => {
  [node, browser] = await Promise.all([serveNode({ info: () => NODE }), launch()]);
  proxy = await strip("/node1", node.url);
  const { port } = proxy.address() as { port: number };
  url = `http://127.0.0.1:${port}/node1/`;
});
prefix.after(async () => {
  await closePages(browser);
  proxy?.closeAllConnections();
  proxy?.close();
  await node?.close();
});

prefix("if a proxy strips the prefix, all requests of the page still contain it", async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const complaints = await watch(page, new URL(url).origin);
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().startsWith("http")) asked.push(request.url());
  });
  await visit(page, url);
  await send(page, "/v1/info");
  await page.getByText(NODE.chain_id).last().waitFor();
  const refreshed = page.waitForResponse(`${url}v1/info`);
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  assert.is((await refreshed).status(), 200);
  assert.ok(asked.includes(`${url}spec.json`));
  assert.equal(asked.filter((asked) => !asked.startsWith(url)), []);
  assert.equal(complaints, QUIET);
  await page.close();
});

prefix("the curl commands and the server URL contain the prefix", async () => {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(url + SIMPLE);
  assert.match(await page.locator("#plain pre").first().textContent() ?? "", `${url}v1/info`);
  await page.locator("#other").click();
  await page.locator("#scalar").getByText(url.slice(0, -1), { exact: true }).first().waitFor();
  await page.close();
});

/**
 * A proxy strips the first prefix of each pair. The second prefix is in the service's
 * configuration.
 */
const MOUNTS = [["", ""], ["", "/deep/node"], ["/outer", ""]] as const;

const NOWHERE = `openapi: 3.1.1
info: { title: Nowhere, version: "1" }
servers: [{ url: /v2 }]
paths:
  /theirs: { get: { operationId: getTheirs, responses: {} } }
  /others: { servers: [{ url: /v3 }, { url: /v4 }], get: { operationId: getOthers } }
`;

const PEERS = {
  method: "GET",
  path: "/v1/peers",
  operation: { operationId: "getPeers", responses: {} },
  handle: () => new Response("[]"),
} as const;

/** The operation's URL is the URL of the server, then `below`, then `path`. */
type Tried = readonly [path: string, tag: string, below: string];

const SHOWN: readonly [title: string, NodefaceOptions, readonly Tried[]][] = [
  ["Nodeface", { operations: [PEERS] }, [["/v1/info", "node", ""], ["/v1/peers", "default", ""]]],
  ["Nowhere", { operations: [PEERS], description: { text: NOWHERE } }, [
    ["/v1/health", "about-this-service", ""],
    ["/theirs", "default", "/v2"],
    ["/others", "default", "/v3"],
  ]],
];

for (const [stripped, known] of MOUNTS) {
  for (const [title, options, tried] of SHOWN) {
    prefix(`Send uses the right URL for ${title} at "${stripped}${known}"`, async () => {
      const app = createNodeface({ ...options, prefix: known, log() {} });
      const served = await serve(app, { hostname: "127.0.0.1", port: 0 });
      const outer = stripped ? await strip(stripped, served.url) : undefined;
      const port = (outer?.address() as { port: number } | undefined)?.port;
      const origin = port ? `http://127.0.0.1:${port}` : new URL(served.url).origin;
      const base = `${origin}${stripped}${known}`;
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      page.setDefaultTimeout(PATIENCE);
      try {
        for (const [path, tag, below] of tried) {
          const fragment = `#tag/${tag}/GET${path}`;
          await page.goto(`${base}/${SIMPLE}${fragment}`);
          const curl = page.locator("#plain pre", { hasText: path }).first();
          // The comparison ignores the query, which contains example values.
          const [command] = (await curl.textContent() ?? "").replaceAll(/['"]/g, "").split("?");
          assert.is(command, `curl ${base}${below}${path}`);
          await visit(page, `${base}/`, fragment);
          const [sent] = await Promise.all([
            page.waitForRequest((request) => new URL(request.url()).pathname.endsWith(path)),
            send(page, path),
          ]);
          assert.is(sent.url().split("?")[0], `${base}${below}${path}`);
        }
      } finally {
        await page.close();
        outer?.closeAllConnections();
        outer?.close();
        await served.close();
      }
    });
  }
}

async function strip(prefix: string, target: string): Promise<Server> {
  const server = createServer((asked, answer) => {
    if (!asked.url?.startsWith(`${prefix}/`)) return void answer.writeHead(404).end();
    const { host: _host, ...headers } = asked.headers;
    request(new URL(asked.url.slice(prefix.length), target), { method: asked.method!, headers })
      .on("response", (answered) => {
        answer.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.pipe(answer);
      })
      .on("error", () => answer.destroy())
      .end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

prefix.run();
