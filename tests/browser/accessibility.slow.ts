import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serious, unknownIn } from "./_axe.ts";
import { closePages, launch, PATIENCE } from "./_browser.ts";
import { NODE, send, SIMPLE, tabTo, visit } from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";

const accessibility = suite("accessibility of the explorer");

let server: Served;
let browser: Browser;

/** An info object that makes the header show as many elements as possible. */
const INFO = {
  ...NODE,
  status: "stale",
  status_reason: "connection refused",
  updated_at: "2026-01-31T08:15:00Z",
};

accessibility.before(async () => {
  [server, browser] = await Promise.all([serveNode({ info: () => INFO }), launch()]);
});
accessibility.after(async () => {
  await closePages(browser);
  await server?.close();
});

const WIDTHS = [1280, 390];

async function assertFine(page: Page, find: (page: Page) => Promise<string[]>) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    assert.equal(await find(page), [], `at ${width} px`);
  }
}

for (const colorScheme of ["light", "dark"] as const) {
  const options = { colorScheme, bypassCSP: true };

  accessibility(
    `axe finds nothing serious in the simple page or in the loading reference, ${colorScheme}`,
    () =>
      inPage(options, async (page) => {
        await page.route("**/standalone.esm.js", () => {});
        for (const path of [SIMPLE, "v1/spec"]) {
          await page.goto(server.url + path, { waitUntil: "commit" });
          await page.locator("#plain h2, #loading").first().waitFor();
          await assertFine(page, serious);
        }
      }),
  );

  accessibility(
    `in the reference, axe finds only the known faults of Scalar, ${colorScheme}`,
    () =>
      inPage(options, async (page) => {
        await visit(page, server.url);
        await assertFine(page, unknownIn);
        await send(page, "/v1/info");
        await page.getByRole("dialog", { name: "API Client" }).getByText("harbour-2").last()
          .waitFor();
        await assertFine(page, unknownIn);
      }),
  );
}

accessibility(
  "the keyboard alone is enough to reach an operation, open it, send it and close it",
  () =>
    inPage({ viewport: { width: 1280, height: 900 } }, async (page) => {
      await visit(page, server.url);
      const dialog = page.getByRole("dialog");
      await tabTo(page, /^Skip to the operations/);
      await page.keyboard.press("Enter");
      await tabTo(page, /Test Request.*\/v1\/info/);
      await page.keyboard.press("Enter");
      await dialog.waitFor();
      await tabTo(page, /Send get request/);
      const answer = page.waitForResponse((response) => response.url() === `${server.url}v1/info`);
      await page.keyboard.press("Enter");
      assert.is((await answer).status(), 200);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      await tabTo(page, /Test Request/);
    }),
);

async function inPage(options: BrowserContextOptions, work: (page: Page) => Promise<void>) {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    await work(page);
  } finally {
    await context.close();
  }
}

accessibility.run();
