import type { Browser, BrowserContext } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { closePages, launch, PATIENCE } from "./_browser.ts";
import { mounted, NODE, send, SIMPLE } from "./_page.ts";
import { until } from "../nodes/_daemon.ts";
import { type Served, serveNode } from "./_serve.ts";

const weight = suite("the download size of the explorer");

let server: Served;
let browser: Browser;

weight.before(async () => {
  [server, browser] = await Promise.all([serveNode({ info: () => NODE }), launch()]);
});
weight.after(async () => {
  await closePages(browser);
  await server?.close();
});

weight("the simple page requests its own script and data, but no files of Scalar", async () => {
  const context = await browser.newContext();
  const { asked } = await visit(context, SIMPLE);
  const names = asked.map(({ path }) => path.split("/").at(-1)).sort();
  // The page requests `info` when it loads, when its event stream begins, and as the first call;
  // and the tag of the description.
  const infos = ["info", "info", "info"];
  assert.equal(names, ["favicon.ico", "history", ...infos, "simple", "simple.js", "spec.json"]);
  await context.close();
});

weight(
  "the reference loads Scalar's client only when the client is used",
  async () => {
    const context = await browser.newContext();
    const { page, asked } = await visit(context);
    // The page loads one script in addition to the preloaded modules.
    const preloaded = await page.locator("link[rel=modulepreload]").count();
    assert.is(asked.filter(({ path }) => path.endsWith(".js")).length, preloaded + 1);
    assert.is(asked.filter(({ path }) => path === "/spec.json").length, 1);
    await send(page, "/v1/info");
    await page.getByText(NODE.chain_id).last().waitFor();
    assert.ok(asked.some(({ path }) => path.includes("/modal-")));
    await context.close();
  },
);

weight(
  "a second visit requests only the page, the description, the info and the history, in less than 3 kB",
  async () => {
    const context = await browser.newContext();
    await (await visit(context)).page.close();
    const { asked } = await visit(context);
    const onLine = asked.filter(({ bytes }) => bytes > 0);
    const paths = onLine.map(({ path }) => path).sort();
    const infos = ["/v1/info", "/v1/info", "/v1/info"];
    assert.equal(paths, ["/spec.json", "/v1/history", ...infos, "/v1/spec", "HEAD /spec.json"]);
    const bytes = onLine.reduce((sum, { bytes }) => sum + bytes, 0);
    assert.ok(bytes < 3_000, `${bytes} bytes`);
    await context.close();
  },
);

async function visit(context: BrowserContext, document = "v1/spec") {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const session = await context.newCDPSession(page);
  const asked: { path: string; bytes: number }[] = [];
  const paths = new Map<string, string>();
  await session.send("Network.enable");
  session.on("Network.requestWillBeSent", ({ requestId, request }) => {
    if (!request.url.startsWith("http")) return;
    const { pathname } = new URL(request.url);
    paths.set(requestId, request.method === "HEAD" ? `HEAD ${pathname}` : pathname);
  });
  // Chromium does not report that a HEAD request has finished.
  session.on("Network.responseReceived", ({ requestId, response }) => {
    const path = paths.get(requestId);
    if (path?.startsWith("HEAD ")) asked.push({ path, bytes: response.encodedDataLength });
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const path = paths.get(requestId);
    if (path) asked.push({ path, bytes: encodedDataLength });
  });
  await page.goto(server.url + document);
  if (document === "v1/spec") await mounted(page);
  const count = (wanted: string) => asked.filter(({ path }) => path === wanted).length;
  // What the first event of the stream causes comes last.
  await until(() => Promise.resolve(count("/v1/info") >= 3 && count("/v1/history") > 0));
  await page.waitForLoadState("networkidle");
  return { page, asked };
}

weight.run();
