import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { closePages, launch, QUIET, watch } from "./_browser.ts";
import { describeErgo } from "./_documents.ts";
import { NODE, SIMPLE, visit } from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";

const deepLinks = suite("links to an operation");

/**
 * The height of a line of text, in pixels. After a link has been followed, its target may move by
 * at most this distance.
 */
const LINE = 24;

const LINKS: readonly (readonly [fragment: string, operation: string])[] = [
  [
    "#tag/transactions/GET/transactions/unconfirmed",
    "tag/transactions/GET/transactions/unconfirmed",
  ],
  ["#op/getUnconfirmedTransactions", "tag/transactions/GET/transactions/unconfirmed"],
  ["#op/getHeaderIds", "tag/blocks/GET/blocks"],
];

const VIEWPORTS = [{ width: 1280, height: 900 }, { width: 390, height: 844 }];

let browser: Browser;
let server: Served;

deepLinks.before(async () => {
  const document = await describeErgo();
  [server, browser] = await Promise.all([
    serveNode({ info: () => NODE, document }),
    launch(),
  ]);
});
deepLinks.after(async () => {
  await closePages(browser);
  await server?.close();
});

for (const viewport of VIEWPORTS) {
  for (const [fragment, operation] of LINKS) {
    deepLinks(
      `the operation at ${fragment} opens at once and does not move, ${viewport.width} px`,
      () =>
        inPage({ viewport }, async (page) => {
          await page.addInitScript(`{ const OPERATION = ${JSON.stringify(operation)}; ${NOTE} }`);
          await page.goto(server.url + SIMPLE + fragment, { waitUntil: "commit" });
          await page.locator(".try[open] form").waitFor();
          await page.waitForLoadState("networkidle");

          const noted = await page.evaluate("noted") as Noted[];
          const shown = noted.slice(noted.findIndex(({ top }) => top !== null));
          assert.is(shown[0]!.isOpen, true, "the operation is shown before it is opened");
          const places = shown.map(({ top }) => top);
          assert.ok(!places.includes(null), "the operation disappears for a moment");
          const jumps = places.map((place) => Math.abs(place! - places[0]!));
          assert.ok(Math.max(...jumps) <= LINE, `the operation jumps by ${Math.max(...jumps)} px`);
          assert.ok(places[0]! >= 0 && places[0]! < viewport.height / 3, `${places[0]} px`);
          assert.is((await page.evaluate("shift") as number).toFixed(2), "0.00");
        }),
    );

    deepLinks(
      `${fragment} leads to the right operation in the reference, ${viewport.width} px`,
      () =>
        inPage({ viewport }, async (page) => {
          await visit(page, server.url, fragment);
          await page.waitForLoadState("networkidle");
          const heading = page.locator(`[id="spec/${operation}"] :is(h1, h2, h3)`).first();
          await heading.waitFor();
          const { y } = (await heading.boundingBox())!;
          const head = (await page.locator("#bar").boundingBox())!;
          assert.ok(y >= head.y + head.height && y < viewport.height, `its top is at ${y} px`);
          assert.is(new URL(page.url()).hash, `#${operation}`);
        }),
    );
  }

  deepLinks(
    `short links work without JavaScript, even into the closed group, ${viewport.width} px`,
    () =>
      inPage({ viewport, javaScriptEnabled: false }, async (page) => {
        for (
          const [fragment, title] of [
            ["#op/getHeaderIds", "getHeaderIds"],
            ["#op/nodefaceGetHealth", "Probe the node"],
          ]
        ) {
          await page.goto("about:blank");
          await page.goto(server.url + SIMPLE + fragment);
          const heading = page.locator("#plain article h3", { hasText: title! }).first();
          await heading.waitFor();
          const { y } = (await heading.boundingBox())!;
          assert.ok(y >= 0 && y < viewport.height / 2, `${fragment} is at ${y} px`);
        }
      }),
  );
}

deepLinks(
  "values in a link are never entered into a form and never replace typed text",
  () =>
    inPage({}, async (page) => {
      const operation = page.locator('article[id="op/getHeaderIds"]');
      const values = () =>
        operation.locator(":is(input, textarea)").evaluateAll((inputs) =>
          inputs.map((input) => (input as HTMLInputElement).value)
        );
      await page.goto(`${server.url}${SIMPLE}#op/getHeaderIds`);
      await operation.locator("form").waitFor();
      const atFirst = await values();
      const name = await operation.locator("input").first().getAttribute("name");
      assert.ok(atFirst.length > 0 && name);
      for (const link of [`#op/getHeaderIds?${name}=77`, `?${name}=77#op/getHeaderIds`]) {
        await page.goto("about:blank");
        await page.goto(server.url + SIMPLE + link);
        await page.locator("#plain h2").first().waitFor();
        if (await operation.locator(".try[open]").count() === 0) {
          await operation.locator(".try summary").click();
        }
        await operation.locator("form").waitFor();
        assert.equal(await values(), atFirst, link);
      }
      await operation.locator("input").first().fill("12");
      const typed = await values();
      for (const fragment of [`op/getHeaderIds?${name}=77`, "", "op/getHeaderIds"]) {
        await page.evaluate((fragment) =>
          new Promise<void>((resolve) => {
            // The listener of the page, and what it draws, come first.
            addEventListener("hashchange", () => {
              requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
            }, { once: true });
            location.hash = fragment;
          }), fragment);
        assert.equal(await values(), typed, fragment);
      }
    }),
);

/** `top` is null while the operation's heading is hidden. */
interface Noted {
  readonly top: number | null;
  readonly isOpen: boolean;
}

const NOTE = `
  globalThis.noted = [];
  globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  let last;
  const topOf = (element) =>
    element?.checkVisibility({ visibilityProperty: true })
      ? Math.round(element.getBoundingClientRect().top)
      : null;
  const look = () => {
    const heading = document.getElementById(OPERATION);
    const isOpen = Boolean(heading?.closest("article").querySelector(".try[open] form"));
    const frame = { top: topOf(heading), isOpen };
    const text = JSON.stringify(frame);
    if (text !== last) noted.push(frame);
    last = text;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);`;

async function inPage(options: BrowserContextOptions, work: (page: Page) => Promise<void>) {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    const complaints = await watch(page, new URL(server.url).origin);
    page.setDefaultTimeout(30_000);
    await work(page);
    // If JavaScript is disabled, Chromium cancels the loading of modules and reports the requests
    // as failed.
    const { javaScriptEnabled = true } = options;
    // Scalar cannot make samples of a JSON body whose example is a text.
    const console = complaints.console.filter((text) => !/Invalid JSON body/.test(text));
    assert.equal({ ...complaints, console, ...!javaScriptEnabled && { failed: [] } }, QUIET);
  } finally {
    await context.close();
  }
}

deepLinks.run();
