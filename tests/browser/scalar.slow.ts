import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { createNodeface } from "../../src/index.ts";
import { launch } from "./_browser.ts";
import { mounted } from "./_page.ts";
import type { Served } from "./_serve.ts";
import { openForm, operationAt, sendForm } from "./_try.ts";

const scalar = suite("when Scalar takes the page's place");

let browser: Browser;
let server: Served;

scalar.before(async () => {
  [browser, server] = await Promise.all([
    launch(),
    serve(createNodeface({ log: () => {} }), { hostname: "127.0.0.1", port: 0 }),
  ]);
});
scalar.after(async () => {
  await browser?.close();
  await server?.close();
});

/** Works in a page, and knows what it has asked for. */
async function inPage(
  work: (page: Page, asked: string[]) => Promise<void>,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => Promise<void> = () => Promise.resolve(),
) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const asked: string[] = [];
    page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
    await prepare(page);
    await page.goto(`${server.url}v1/spec`, { waitUntil: "commit" });
    await work(page, asked);
  } finally {
    await context.close();
  }
}

const isScalars = (path: string) => path.includes("/scalar-") || path === "/spec.json";

/** Has time pass in a page, which does not wait for it. */
const elapse = async (page: Page, ms: number) => {
  for (let passed = 0; passed < ms; passed += 500) {
    await page.clock.runFor(500);
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
};

scalar("it is asked for once the page has been there for a while, and not before", () =>
  inPage(
    async (page, asked) => {
      await page.waitForLoadState("load");
      await page.clock.runFor(900);
      assert.equal(asked.filter(isScalars), []);
      await Promise.all([page.waitForRequest("**/standalone.esm.js"), page.clock.runFor(200)]);
    },
    {},
    async (page) => {
      await page.clock.install({ time: 0 });
      // Else it goes on by itself, faster than a busy machine shows the page.
      await page.clock.pauseAt(1000);
    },
  ));

scalar("who has begun to try something keeps the page, and asks for it by a button", () =>
  inPage(
    async (page, asked) => {
      const operation = operationAt(page, "getHealth");
      const form = await openForm(operation);
      await form.getByLabel("accept").fill("ok,stale");
      await page.waitForLoadState("load");
      await elapse(page, 5000);
      assert.equal(asked.filter(isScalars), []);
      const { text } = await sendForm(operation);
      await form.getByRole("button", { name: "Open in Scalar" }).click();
      await elapse(page, 2000);
      await page.clock.resume();
      await mounted(page);
      assert.is(new URL(page.url()).hash, "#tag/operations/GET/v1/health");
      const section = page.locator("#scalar section", {
        has: page.getByRole("heading", { name: "Probe the node" }),
      }).last();
      assert.ok(await section.isVisible());
      assert.match(text, '"status": "ok"');
      const examples = section.getByText('"ok"', { exact: true }).filter({ visible: true });
      await examples.first().waitFor();
      await page.getByRole("button", { name: /^Test Request.*get \/v1\/health\)/ }).click();
      const [sent] = await Promise.all([
        page.waitForRequest(`${server.url}v1/health?accept=ok%2Cstale`),
        page.getByRole("button", { name: /^Send get request/ }).click(),
      ]);
      assert.ok(sent);
    },
    {},
    async (page) => void await page.clock.install(),
  ));

scalar("who begins while it loads is not interrupted, and the place stays", () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  let begin = () => {};
  const loading = new Promise<void>((resolve) => begin = resolve);
  return inPage(
    async (page) => {
      await loading;
      const operation = operationAt(page, "getHealth");
      await openForm(operation);
      const place = await operation.boundingBox();
      release();
      await page.waitForLoadState("networkidle");
      assert.ok(await operation.isVisible());
      assert.equal(await operation.boundingBox(), place);
      assert.is(await page.locator("html.mounted").count(), 0);
      await page.getByRole("button", { name: "Open in Scalar" }).first().click();
      await mounted(page);
    },
    {},
    async (page) =>
      void await page.route("**/standalone.esm.js", async (route) => {
        begin();
        await held;
        await route.continue();
      }),
  );
});

for (
  const [what, connection] of [
    ["with Save-Data", { saveData: true, effectiveType: "4g" }],
    ["on a 3g line", { saveData: false, effectiveType: "3g" }],
    ["on a 2g line", { saveData: false, effectiveType: "slow-2g" }],
  ] as const
) {
  scalar(`${what} it is loaded by its button alone`, () =>
    inPage(
      async (page, asked) => {
        await page.waitForLoadState("load");
        await elapse(page, 10_000);
        assert.equal(asked.filter(isScalars), []);
        await page.clock.resume();
        await page.getByRole("button", { name: "Open in Scalar" }).first().click();
        await mounted(page);
        assert.ok(asked.some(isScalars));
      },
      {},
      async (page) => {
        await page.clock.install();
        await page.addInitScript((connection) => {
          Object.defineProperty(navigator, "connection", { value: connection });
        }, connection);
      },
    ));
}

scalar("where it cannot be loaded, the page stays and says so", () =>
  inPage(
    async (page) => {
      // Before its script is there, a button does nothing.
      await page.waitForLoadState("load");
      await page.getByRole("button", { name: "Open in Scalar" }).first().click();
      await page.getByRole("button", { name: "Scalar cannot be opened" }).waitFor();
      const operation = operationAt(page, "getHealth");
      await openForm(operation);
      assert.is((await sendForm(operation)).status, "200 OK");
    },
    {},
    async (page) => void await page.route("**/standalone.esm.js", (route) => route.abort()),
  ));

scalar.run();
