import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { createNodeface } from "../../src/index.ts";
import { closePages, launch, QUIET, watch } from "./_browser.ts";
import {
  fitsInWidth,
  hold,
  mounted,
  NODE,
  observeShifts,
  picture,
  type Shifts,
  SIMPLE,
  visit,
} from "./_page.ts";
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
  await closePages(browser);
  await server?.close();
});

content(
  "without JavaScript, the reference redirects to the simple page with every operation",
  () =>
    inPage({ javaScriptEnabled: false, viewport: DESKTOP }, async (page) => {
      await page.goto(`${server.url}v1/spec`);
      await page.waitForURL(server.url + SIMPLE);
      for (const path of ["/v1/info", "/v1/spec", "/spec.json", "/spec.yaml", "/v1/health"]) {
        await page.locator("article", { hasText: `GET ${path}` }).first().waitFor();
      }
      await page.getByRole("link", { name: "Probe the node" }).click();
      assert.is(new URL(page.url()).hash, "#tag/operations/GET/v1/health");
      await page.goto(server.url + SIMPLE);
      await picture(page, "no-script");
      await page.setViewportSize(PHONE);
      assert.ok(await fitsInWidth(page));
      await picture(page, "no-script-phone");
      // Complaints are ignored: if JavaScript is off, Chromium reports unused preloads as failed.
    }, false),
);

for (
  const [viewport, path] of [
    [DESKTOP, `${SIMPLE}#tag/description/GET/spec.yaml`],
    [PHONE, SIMPLE],
  ] as const
) {
  content(
    `the layout does not shift while ${path} loads, ${viewport.width} px`,
    () =>
      inPage({ viewport }, async (page) => {
        await page.addInitScript(observeShifts);
        await page.goto(server.url + path);
        await page.locator("#plain h2").first().waitFor();
        await page.waitForLoadState("networkidle");
        const shift = await page.evaluate(() => (globalThis as unknown as Shifts).shift);
        assert.ok(shift < 0.02, `The layout shift is ${shift}`);
      }),
  );
}

for (const colorScheme of ["light", "dark"] as const) {
  content(
    `on a ${colorScheme} system the page is ${colorScheme}, and a button switches the colours`,
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
  "on a phone, all facts about the node fit the width of the screen",
  () =>
    inPage({ viewport: PHONE }, async (page) => {
      await visit(page, server.url);
      for (const text of ["harbour-2", "In sync", "2\u202f941\u202f337", "litecoind"]) {
        // The first call shows some of them once more.
        await page.locator("#node").getByText(text).first().waitFor();
      }
      assert.ok(await fitsInWidth(page));
      await picture(page, "phone");
    }),
);

content(
  "the simple page is printed in light colours",
  () =>
    inPage({ viewport: DESKTOP, colorScheme: "dark" }, async (page) => {
      await page.goto(server.url + SIMPLE);
      await page.emulateMedia({ media: "print" });
      await page.locator("#plain").getByText("/v1/health").first().waitFor();
      const light = await page.evaluate(() => getComputedStyle(document.body).colorScheme);
      assert.is(light, "light");
      await picture(page, "print");
    }),
);

content(
  "the reference says that it is loading, and links to the simple page if loading fails",
  () =>
    inPage({ viewport: DESKTOP }, async (page) => {
      const release = await hold(page, "**/standalone.esm.js", (route) => route.abort());
      await page.goto(`${server.url}v1/spec`, { waitUntil: "commit" });
      await page.getByText("The reference is loading.").waitFor();
      await page.locator("#node").getByText("In sync").waitFor();
      await picture(page, "loading");
      const failed = page.waitForEvent("pageerror");
      release();
      await failed;
      await page.getByText("The reference cannot be loaded.").waitFor();
      await page.locator("#loading p a").click();
      await page.waitForURL(server.url + SIMPLE);
      await page.locator("#node").getByText(`curl "${server.url}v1/info"`).waitFor();
    }, false),
);

content(
  "each document links to the operation in view in the other document",
  () =>
    inPage({ viewport: DESKTOP }, async (page) => {
      const fragment = "#tag/operations/GET/v1/health";
      await visit(page, server.url, fragment);
      await inView(page, `spec/${fragment.slice(1)}`);
      await page.getByRole("link", { name: "Simple page" }).click();
      await page.waitForURL(`${server.url}${SIMPLE}${fragment}`);
      await inView(page, fragment.slice(1));
      const id = "tag/description/GET/spec.json";
      await page.evaluate((id) => document.getElementById(id)!.scrollIntoView(), id);
      await page.locator(`#plain nav [aria-current][href="#${id}"]`).waitFor();
      // `link.click()` is not used, because it would scroll the page.
      const { x, y } = (await page.getByRole("link", { name: "Full reference" }).boundingBox())!;
      await page.mouse.click(x + 5, y + 5);
      await page.waitForURL(`${server.url}v1/spec/reference#${id}`);
      await inView(page, `spec/${id}`);
    }),
);

content(
  "a short link leads to the operation in both documents",
  () =>
    inPage({ viewport: DESKTOP }, async (page) => {
      await page.goto(`${server.url}${SIMPLE}#op/getHealth`);
      await page.locator('article[id="op/getHealth"] form').waitFor();
      await inView(page, "op/getHealth");
      await visit(page, server.url, "#op/getHealth");
      await inView(page, "spec/tag/operations/GET/v1/health");
      assert.is(new URL(page.url()).hash, "#tag/operations/GET/v1/health");
      await page.evaluate(() => location.hash = "#op/getDescriptionYaml");
      await inView(page, "spec/tag/description/GET/spec.yaml");
    }),
);

content(
  "a description fetched over the network loads no resources and has no samples",
  async () => {
    const url = "https://elsewhere.example/";
    const text = `[follow](${url}) [near](/v1/health?near) ![seen](${url}seen.png) ` +
      `![seen](/v1/health?seen) <img src="/v1/health?seen"> <a href="${url}">as HTML</a>`;
    const described = JSON.stringify({
      openapi: "3.1.1",
      info: {
        ...{ title: "Foreign", version: "1", description: text, termsOfService: url },
        ...{ contact: { name: "Contact", url }, license: { name: "Licence", url } },
        "x-scalar-links": [{ name: "Further", url }],
      },
      externalDocs: { description: "Documents", url },
      paths: {
        "/a": {
          get: {
            ...{
              summary: "Do A",
              description: text,
              externalDocs: { description: "More of A", url },
            },
            responses: { 200: { description: text } },
          },
        },
      },
    });
    const describer = createServer((_, response) =>
      response.setHeader("content-type", "application/json").end(described)
    );
    await new Promise<void>((resolve) => describer.listen(0, "127.0.0.1", resolve));
    const { port } = describer.address() as AddressInfo;
    const app = createNodeface({ description: `http://127.0.0.1:${port}/openapi.json` });
    await app.ready();
    const foreign = await serve(app, { hostname: "127.0.0.1", port: 0 });
    const context = await browser.newContext({ viewport: DESKTOP });
    try {
      const page = await context.newPage();
      const complaints = await watch(page, new URL(foreign.url).origin);
      await visit(page, foreign.url, "#tag/default/GET/a");
      await page.getByRole("heading", { name: "Do A" }).first().waitFor();
      await page.waitForLoadState("networkidle");
      assert.is(await page.locator("#scalar a", { hasText: "Further" }).count(), 0);
      assert.is(await page.locator("#scalar button[data-testid=client-picker]").count(), 0);
      // Requests that the content security policy blocked are also in `failed`, but without an HTTP
      // status.
      assert.equal(complaints.failed.filter((text) => /^\d/.test(text)), []);
      assert.not.match(complaints.outside.join(), "follow");
      const loaded = await page.evaluate(() =>
        performance.getEntriesByType("resource")
          .filter((entry) => (entry as PerformanceResourceTiming).responseStatus)
          .map(({ name }) => name)
      );
      assert.equal(loaded.filter((name) => /near|seen|elsewhere/.test(name)), []);
    } finally {
      await context.close();
      await foreign.close();
      await app.close();
      describer.close();
    }
  },
);

const inView = (page: Page, id: string) =>
  page.waitForFunction((id) => {
    const top = document.getElementById(id)?.getBoundingClientRect().top;
    return top !== undefined && top >= 0 && top < innerHeight / 2;
  }, id);

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

content.run();
