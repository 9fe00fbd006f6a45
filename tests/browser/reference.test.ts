/** Calls operations with Scalar's client, with a node and a second server in this process. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { createNodeface, type Nodeface } from "../../src/index.ts";
import { closePages, type Complaints, launch, watch } from "./_browser.ts";
import { mounted } from "./_page.ts";
import { look } from "./_service.ts";
import { answer } from "./_try.ts";

const reference = suite("calling operations from the reference");

const TOKEN = "0123456789abcdef-0123456789abcdef";
const PREFIX = "/deep/path";

type Heard = Pick<IncomingMessage, "method" | "url" | "headers">;

let browser: Browser;
let node: Server;
let elsewhere: Server;
let service: Nodeface;
let url: string;
let close: () => Promise<void>;
let folder: string;
const atNode: Heard[] = [];
const atElsewhere: Heard[] = [];

const listen = async (heard: Heard[]) => {
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    if (method !== "OPTIONS") heard.push({ method, url, headers });
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "authorization, content-type");
    response.setHeader("content-type", "application/json").end(`{"at":"${url}"}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
};
const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

reference.before(async () => {
  folder = mkdtempSync(join(tmpdir(), "nodeface-reference-"));
  const token_file = join(folder, "token");
  writeFileSync(token_file, TOKEN);
  [browser, node, elsewhere] = await Promise.all([launch(), listen(atNode), listen(atElsewhere)]);
  service = createNodeface({
    node: { url: urlOf(node) },
    prefix: PREFIX,
    forward: {
      open: ["GET /api/read"],
      clients: [{ name: "app", allow: ["GET /api/guarded", "POST /api/write"], token_file }],
      at_root: true,
    },
    description: { text: JSON.stringify(describe()), name: "openapi.json" },
    log: () => {},
  });
  const served = await serve(service, { hostname: "127.0.0.1", port: 0 });
  close = () => served.close();
  url = `${new URL(served.url).origin}${PREFIX}/`;
});
reference.after(async () => {
  await closePages(browser);
  node?.close();
  elsewhere?.close();
  await close?.();
  await service?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/** Scalar keeps the classes and ids. */
const HTML = '<div class="command"><code>hidden</code><p class="copy">copied</p></div>' +
  '<p class="link">linked</p><div id="changed">changed</div>';

function describe() {
  const operation = (summary: string) => ({
    summary,
    tags: ["All"],
    responses: { 200: { description: "Done" } },
  });
  return {
    openapi: "3.1.1",
    info: { title: "Node", version: "1", description: HTML },
    servers: [{ url: `${urlOf(node)}/api` }],
    paths: {
      "/read": { get: { ...operation("Read"), "x-access": "read" } },
      "/guarded": { get: operation("Guarded") },
      "/write": { post: operation("Write") },
      "/refused": { get: operation("Refused") },
      "/theirs": { get: operation("Theirs"), servers: [{ url: `${urlOf(elsewhere)}/b` }] },
    },
  };
}

async function inPage(work: (page: Page, complaints: Complaints) => Promise<void>) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  try {
    const complaints = await watch(page, new URL(url).origin);
    await page.goto(`${url}v1/spec/reference`);
    await mounted(page);
    await work(page, complaints);
  } finally {
    await page.close();
  }
}

async function openClient(page: Page, path: string, fragment: string): Promise<void> {
  // Scalar renders only the operations near the fragment.
  await page.evaluate((fragment) => location.hash = `#tag/${fragment}`, fragment);
  await page.getByRole("button", { name: new RegExp(`^Test Request.* ${path}\\)`) }).first()
    .click();
}

async function send(page: Page, path: string): Promise<number> {
  const [response] = await Promise.all([
    page.waitForResponse((response) => new URL(response.url()).pathname.endsWith(path)),
    page.getByRole("button", { name: /^Send (get|post) request/ }).click(),
  ]);
  // A client that is closed before it has read the response complains.
  await page.getByRole("dialog", { name: "API Client" })
    .getByText(new RegExp(`^${response.status()} `)).first().waitFor();
  return response.status();
}

const closeClient = (page: Page) => page.getByRole("button", { name: "Close Client" }).click();

reference(
  "a read reaches the node below a path prefix, and nothing else is asked",
  () =>
    inPage(async (page, complaints) => {
      const reads = () => atNode.filter(({ url }) => url === "/api/read").length;
      // The first call of the header.
      await page.locator("#node output").getByText("/api/read").waitFor();
      assert.is(reads(), 1);
      await openClient(page, "/api/read", "all/GET/api/read");
      assert.is(await send(page, `${PREFIX}/api/read`), 200);
      // The service itself asks other paths at any time, for the state of the node.
      assert.is(reads(), 2);
      await closeClient(page);
      await openClient(page, "/v1/info", "about-this-service/GET/v1/info");
      assert.is(await send(page, `${PREFIX}/v1/info`), 200);
      await closeClient(page);
      assert.equal(complaints, { outside: [], console: [], failed: [], refused: [] });
      await openClient(page, "/api/refused", "all/GET/api/refused");
      assert.is(await send(page, "/refused"), 403);
    }),
);

reference(
  "the token is entered in the header, and goes to this service alone",
  () =>
    inPage(async (page) => {
      await openClient(page, "/api/guarded", "all/GET/api/guarded");
      assert.is(await send(page, "/guarded"), 401);
      await closeClient(page);
      const header = page.locator("#node");
      const field = header.getByLabel("Your token");
      await field.fill("wrong");
      await field.blur();
      const refused = header.getByText("The token is not valid");
      await refused.waitFor();
      // The page is at an operation, far below the top.
      assert.ok(await page.evaluate(() => scrollY > innerHeight));
      assert.ok(await refused.evaluate((text) => text.getBoundingClientRect().bottom > 0));
      await field.fill(TOKEN);
      await field.blur();
      const opened =
        /^The token of the client "app"\. It opens (?=.*GET \/api\/guarded).*POST \/api\/write/;
      await header.getByText(opened).waitFor();
      await openClient(page, "/api/guarded", "all/GET/api/guarded");
      assert.is(await send(page, "/guarded"), 200);
      assert.not(JSON.stringify(atNode).includes(TOKEN));
      await closeClient(page);
      await openClient(page, "/theirs", "all/GET/theirs");
      assert.is(await send(page, "/b/theirs"), 200);
      await closeClient(page);
      const [theirs] = atElsewhere;
      assert.equal([theirs!.headers.authorization, theirs!.headers["x-nodeface"]], [
        undefined,
        undefined,
      ]);
      const html = await page.locator("#scalar").innerHTML();
      assert.not.match(html, TOKEN);
      const text = await page.locator("#scalar").innerText();
      assert.match(text, `'Authorization: Bearer '"$NODEFACE_TOKEN"''`);
    }),
);

reference("a write is sent only after it has been confirmed", () =>
  inPage(async (page) => {
    await page.locator("#node").getByLabel("Your token").fill(TOKEN);
    await openClient(page, "/api/write", "all/POST/api/write");
    const dialog = page.getByRole("dialog", { name: "Send POST /api/write?" });
    const press = page.getByRole("button", { name: /^Send post request/ });
    await press.click();
    await answer(dialog, () => dialog.getByRole("button", { name: "Cancel" }).click());
    await page.getByText("Not sent", { exact: true }).first().waitFor();
    const writes = () =>
      atNode.filter(({ method, url }) => `${method} ${url}` === "POST /api/write").length;
    assert.is(writes(), 0);
    await press.click();
    await answer(dialog, () => dialog.getByRole("button", { name: "Send" }).click());
    while (writes() === 0) await page.waitForTimeout(50);
    await page.getByText('"at"').first().waitFor();
    assert.is(writes(), 1);
  }));

reference(
  "HTML in a description neither copies anything nor gets the page's notice",
  () =>
    inPage(async (page, complaints) => {
      await page.evaluate(() => {
        navigator.clipboard.writeText = () => Promise.reject(new Error("Something is copied"));
        document.execCommand = () => {
          throw new Error("Something is copied");
        };
      });
      for (const text of ["copied", "linked"]) {
        await page.locator("#scalar").getByText(text, { exact: true }).click();
      }
      await page.route("**/spec.json", (route) =>
        route.request().method() === "HEAD"
          ? route.fulfill({ headers: { "x-description-version": "other" } })
          : route.continue());
      for (const isHidden of [true, false]) {
        await look(page, isHidden);
      }
      await page.locator("#changed[role=status]").getByText("The description has changed.")
        .waitFor();
      assert.equal(complaints.console, []);
    }),
);

reference.run();
