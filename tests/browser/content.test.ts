import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { launch, QUIET, watch } from "./_browser.ts";
import { mounted, NODE, picture, visit } from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";

const content = suite("the content of the page");

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

let server: Served;
let browser: Browser;

content.before(async () => {
  [server, browser] = await Promise.all([serveNode({ info: () => NODE }), launch()]);
});
content.after(async () => {
  await browser?.close();
  await server?.close();
});

content(
  "every operation can be read with no script at all",
  () =>
    inPage({ javaScriptEnabled: false, viewport: DESKTOP }, async (page) => {
      await page.goto(`${server.url}v1/spec`);
      for (const path of ["/v1/info", "/v1/spec", "/spec.json", "/spec.yaml", "/v1/health"]) {
        await page.locator("article", { hasText: `GET ${path}` }).first().waitFor();
      }
      await page.getByRole("link", { name: "Probe the node" }).click();
      assert.is(new URL(page.url()).hash, "#tag/operations/GET/v1/health");
      await page.goto(`${server.url}v1/spec`);
      await picture(page, "no-script");
      await page.setViewportSize(PHONE);
      assert.ok(await fitsInWidth(page));
      await picture(page, "no-script-phone");
      // Chromium counts what it does not preload without script as failed.
    }, false),
);

for (
  const [viewport, fragment] of [[DESKTOP, "#tag/description/GET/spec.yaml"], [PHONE, ""]] as const
) {
  content(
    `Scalar takes its place without a jump, ${viewport.width} px ${fragment}`,
    () =>
      inPage({ viewport }, async (page) => {
        await page.addInitScript(observeShifts);
        await visit(page, server.url, fragment);
        await page.waitForLoadState("networkidle");
        const shift = await page.evaluate(() => (globalThis as unknown as Shifts).shift);
        assert.ok(shift < 0.1, `The layout shift is ${shift}`);
      }),
  );
}

for (const colorScheme of ["light", "dark"] as const) {
  content(
    `a ${colorScheme} system gets a ${colorScheme} page, which can be switched`,
    () =>
      inPage({ colorScheme, viewport: DESKTOP }, async (page) => {
        const lightness = () =>
          page.evaluate(() => {
            const probe = document.createElement("canvas").getContext("2d")!;
            probe.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
            return parseInt(probe.fillStyle.slice(1, 3), 16);
          });
        await visit(page, server.url);
        assert.is(await lightness() > 128, colorScheme === "light");
        await picture(page, colorScheme);
        await page.getByRole("button", { name: /Set (dark|light) mode/ }).click();
        assert.is(await lightness() > 128, colorScheme !== "light");
        await page.reload();
        await mounted(page);
        assert.is(await lightness() > 128, colorScheme !== "light");
      }),
  );
}

content(
  "a phone shows all of the node and no more than its width",
  () =>
    inPage({ viewport: PHONE }, async (page) => {
      await visit(page, server.url);
      for (const text of ["harbour-2", "In sync", "2\u202f941\u202f337", "litecoind"]) {
        await page.locator("#node").getByText(text).waitFor();
      }
      assert.ok(await fitsInWidth(page));
      await picture(page, "phone");
    }),
);

content(
  "paper gets the plain page",
  () =>
    inPage({ viewport: DESKTOP, colorScheme: "dark" }, async (page) => {
      await visit(page, server.url);
      await page.emulateMedia({ media: "print" });
      await page.locator("#plain").getByText("/v1/health").first().waitFor();
      assert.not(await page.locator("#scalar").isVisible());
      const light = await page.evaluate(() => getComputedStyle(document.body).colorScheme);
      assert.is(light, "light");
      await picture(page, "print");
    }),
);

content(
  "where Scalar cannot be loaded the plain page stays",
  () =>
    inPage({ viewport: DESKTOP }, async (page) => {
      await page.route("**/standalone.esm.js", (route) => route.abort());
      const failed = page.waitForEvent("pageerror");
      await page.goto(`${server.url}v1/spec`);
      await failed;
      await page.locator("#plain").getByText("/v1/health").first().waitFor();
      await page.getByText(`curl ${server.url}v1/info`).waitFor();
    }, false),
);

/** Works in a page of its own, which has nothing to complain of. */
async function inPage(
  options: BrowserContextOptions,
  work: (page: Page) => Promise<void>,
  quiet = true,
) {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    const complaints = await watch(page, new URL(server.url).origin);
    await work(page);
    if (quiet) assert.equal(complaints, QUIET);
  } finally {
    await context.close();
  }
}

interface Shifts {
  shift: number;
}

/** Adds up the layout shift of the page from its start. */
function observeShifts() {
  const shifts = globalThis as unknown as Shifts;
  shifts.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      shifts.shift += (entry as PerformanceEntry & { value: number }).value;
    }
  }).observe({ type: "layout-shift", buffered: true });
}

const fitsInWidth = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

content.run();
