import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { createNodeface, type Operation } from "../../src/index.ts";
import { closePages, launch } from "./_browser.ts";
import type { Served } from "./_serve.ts";

const operations = suite("a host's operations in a browser");

let browser: Browser;
/** The only server whose origin is listed in the setting `cors`. */
let friend: Served;
let stranger: Served;
let node: Served;
let called: string[];

operations.before(async () => {
  const page = () =>
    new Response("<!doctype html><title>A page</title>", {
      headers: { "content-type": "text/html" },
    });
  const serveHere = (app: Parameters<typeof serve>[0]) => serve(app, { port: 0 });
  [browser, friend, stranger] = await Promise.all([
    launch(),
    serveHere({ fetch: page }),
    serveHere({ fetch: page }),
  ]);
  const made = (["GET", "POST", "DELETE"] as const).flatMap((method) =>
    [["/v1/closed"], ["/v1/open", [new URL(friend.url).origin]]].map(([path, cors]) => ({
      method,
      path,
      cors,
      operation: { responses: { 200: { description: "Done" } } },
      handle() {
        called.push(`${method} ${path}`);
        return new Response("done");
      },
    } as Operation))
  );
  node = await serveHere(createNodeface({ operations: made }));
});
operations.before.each(() => void (called = []));
operations.after(async () => {
  await closePages(browser);
  for (const server of [friend, stranger, node]) await server?.close();
});

interface Sent {
  method: string;
  mode?: "no-cors";
  body?: string;
  headers?: Record<string, string>;
}

async function fetchIn(page: Page, path: string, init: Sent): Promise<string> {
  const url = new URL(path, node.url).href;
  return await page.evaluate(async ([url, init]) => {
    try {
      const response = await fetch(url, init);
      return response.type === "opaque" ? "opaque" : await response.text();
    } catch {
      return "failed";
    }
  }, [url, init] as const);
}

/** Browsers send the first two of these requests without a preflight request. */
const CHANGES: readonly Sent[] = [
  { method: "POST", mode: "no-cors", body: "a" },
  { method: "POST", body: "a" },
  { method: "POST", body: "{}", headers: { "content-type": "application/json" } },
  { method: "DELETE" },
];

/**
 * `stranger.url` differs from the URL of the service only in the port, which is not part of a site.
 */
const VISITS: readonly [site: string, url: () => string][] = [
  ["of the same site", () => stranger.url],
  ["of another site", () => stranger.url.replace("127.0.0.1", "localhost")],
];

for (const [site, url] of VISITS) {
  for (const path of ["/v1/closed", "/v1/open"]) {
    operations(`a page ${site} cannot call or read ${path}`, async () => {
      const page = await browser.newPage();
      await page.goto(url());
      for (const init of CHANGES) {
        assert.match(await fetchIn(page, path, init), /^(failed|opaque)$/);
      }
      await page.evaluate((url) => navigator.sendBeacon(url, "a"), new URL(path, node.url).href);
      await page.evaluate((url) => {
        const form = Object.assign(document.createElement("form"), { action: url, method: "post" });
        document.body.append(form);
        form.submit();
      }, new URL(path, node.url).href);
      await page.waitForURL(new URL(path, node.url).href);
      assert.match(await page.locator("body").textContent() ?? "", "403");
      assert.equal(called, []);
      await page.goto(url());
      assert.is(await fetchIn(page, path, { method: "GET" }), "failed");
      await page.close();
    });
  }
}

operations("a page of a listed origin can call an operation and read the response", async () => {
  const page = await browser.newPage();
  await page.goto(friend.url);
  for (const init of CHANGES.slice(1)) {
    assert.is(await fetchIn(page, "/v1/open", init), "done");
    assert.is(await fetchIn(page, "/v1/closed", init), "failed");
  }
  const headers = { authorization: "Bearer a" };
  assert.is(await fetchIn(page, "/v1/open", { method: "GET", headers }), "done");
  assert.equal(called, ["POST", "POST", "DELETE", "GET"].map((method) => `${method} /v1/open`));
  await page.close();
});

operations("a page of the service itself can call operations and read responses", async () => {
  const page = await browser.newPage();
  await page.goto(new URL("/v1/info", node.url).href);
  for (const init of CHANGES) assert.is(await fetchIn(page, "/v1/closed", init), "done");
  assert.is(called.length, CHANGES.length);
  await page.close();
});

operations.run();
