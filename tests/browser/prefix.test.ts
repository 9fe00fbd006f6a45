import { createServer, request, type Server } from "node:http";
import type { Browser } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { launch, QUIET, watch } from "./_browser.ts";
import { NODE, send, visit } from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";

const prefix = suite("the explorer behind a proxy that strips a prefix");

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
  await browser?.close();
  proxy?.closeAllConnections();
  proxy?.close();
  await node?.close();
});

prefix("page, files, description, header and Send all stay under it", async () => {
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

prefix("the curl lines and the server are those of the prefix", async () => {
  const page = await browser.newPage();
  page.setDefaultTimeout(10_000);
  await visit(page, url);
  assert.match(await page.locator("#plain pre").first().textContent() ?? "", `${url}v1/info`);
  await page.locator("#scalar").getByText(url.slice(0, -1), { exact: true }).first().waitFor();
  await page.close();
});

/** A proxy that takes a prefix off the path, tells nobody, and knows nothing outside of it. */
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
