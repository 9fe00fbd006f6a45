import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { launch, QUIET, watch } from "./_browser.ts";
import { describeStorage } from "./_documents.ts";
import { compareWith, recordFrames } from "./_frames.ts";
import { holdScalar, keepPicture, NODE } from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";

const deepLinks = suite("links to an operation");

/** The place jumps by more than a line. */
const LINE = 24;

/** More than what an icon or a button that comes later takes of a picture, less than a text over another. */
const OTHER = 0.03;

/** Links, and the operation that each leads to. */
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
  const document = await describeStorage();
  [server, browser] = await Promise.all([
    serveNode({ info: () => NODE, document }),
    launch(),
  ]);
});
deepLinks.after(async () => {
  await browser?.close();
  await server?.close();
});

for (const viewport of VIEWPORTS) {
  for (const [fragment, operation] of LINKS) {
    deepLinks(
      `${fragment} is shown opened at once and stays where it is, ${viewport.width} px`,
      () =>
        inPage({ viewport }, async (page) => {
          await page.addInitScript(`{ const OPERATION = ${JSON.stringify(operation)}; ${NOTE} }`);
          const { pictures, stop } = await recordFrames(page);
          const release = await holdScalar(page);
          await page.goto(`${server.url}v1/spec${fragment}`, { waitUntil: "commit" });
          await page.waitForFunction(() =>
            (globalThis as unknown as { noted?: Noted[] }).noted?.some(({ isOpen }) => isOpen)
          );
          const plain = (await page.screenshot()).toString("base64");
          const seen = pictures.length;
          release();
          await page.locator("html.mounted").waitFor({ timeout: 30_000 });
          await page.waitForLoadState("networkidle");
          const scalar = (await page.screenshot()).toString("base64");
          await stop();

          const noted = await page.evaluate("noted") as Noted[];
          const shown = noted.slice(noted.findIndex(({ plain }) => plain !== null));
          assert.is(shown[0]!.isOpen, true, "it is shown before it is opened");
          const places = shown.map(({ plain, scalar }) => plain ?? scalar);
          assert.ok(!places.includes(null), "nothing of it is seen for a moment");
          assert.ok(!shown.some(({ plain, scalar }) => plain !== null && scalar !== null));
          const jumps = places.map((place) => Math.abs(place! - places[0]!));
          assert.ok(Math.max(...jumps) <= LINE, `it jumps by ${Math.max(...jumps)} px`);
          assert.ok(places[0]! >= 0 && places[0]! < viewport.height / 3, `${places[0]} px`);

          const later = [...pictures.slice(seen), scalar];
          const [ofPlain, ofScalar] = [
            await compareWith(browser, later, plain),
            await compareWith(browser, later, scalar),
          ];
          const strange = later.flatMap((_, at) =>
            Math.min(ofPlain[at]!, ofScalar[at]!) > OTHER ? [[at, ofPlain[at], ofScalar[at]]] : []
          );
          strange.forEach(([at]) => keepPicture(later[at!]!, `strange-${viewport.width}-${at}`));
          assert.equal(strange, [], `of ${later.length} pictures`);
          assert.ok(ofPlain.at(-1)! > OTHER, "it has been looked at two different pages");
          const shift = await page.evaluate("shift") as number;
          assert.is(shift.toFixed(2), "0.00");
          assert.is(new URL(page.url()).hash, `#${operation}`);
        }),
    );
  }

  deepLinks(
    `a link into the closed group and a short one work without a script, ${viewport.width} px`,
    () =>
      inPage({ viewport, javaScriptEnabled: false }, async (page) => {
        for (
          const [fragment, title] of [
            ["#op/getHeaderIds", "Get an array of header ids"],
            ["#op/nodefaceGetHealth", "Probe the node"],
          ]
        ) {
          await page.goto("about:blank");
          await page.goto(`${server.url}v1/spec${fragment}`);
          const heading = page.locator("#plain article h3", { hasText: title! }).first();
          await heading.waitFor();
          const { y } = (await heading.boundingBox())!;
          assert.ok(y >= 0 && y < viewport.height / 2, `${fragment} is at ${y} px`);
        }
      }),
  );
}

/** What is seen of the operation in a frame: where its heading is, in either page. */
interface Noted {
  readonly plain: number | null;
  readonly scalar: number | null;
  readonly isOpen: boolean;
}

/** Runs in the page, and notes down each frame that differs from the one before. */
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
    const isOpen = Boolean(heading?.parentElement.querySelector(".try[open] form"));
    const scalar = document.getElementById("spec/" + OPERATION)?.querySelector("h1, h2, h3");
    const frame = { plain: topOf(heading), scalar: topOf(scalar), isOpen };
    const text = JSON.stringify(frame);
    if (text !== last) noted.push(frame);
    last = text;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);`;

/** Works in a page of its own, which has nothing to complain of. */
async function inPage(options: BrowserContextOptions, work: (page: Page) => Promise<void>) {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    const complaints = await watch(page, new URL(server.url).origin);
    page.setDefaultTimeout(30_000);
    await work(page);
    // Where no script runs, Chromium gives up the modules that it has begun to load.
    const { javaScriptEnabled = true } = options;
    assert.equal({ ...complaints, ...!javaScriptEnabled && { failed: [] } }, QUIET);
  } finally {
    await context.close();
  }
}

deepLinks.run();
