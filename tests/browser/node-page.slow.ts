import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../src/json/values.ts";
import { serious, unknownIn } from "./_axe.ts";
import { until } from "../nodes/_daemon.ts";
import { closePages, launch, QUIET, watch } from "./_browser.ts";
import { describeBroker, describeChain, describeErgo } from "./_documents.ts";
import {
  fitsInWidth,
  hold,
  NODE,
  observeShifts,
  picture,
  type Shifts,
  SIMPLE,
  visit,
} from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";

const nodePage = suite("the page of a node");

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

const NODES: readonly [name: string, info: JsonObject, describe: () => Promise<JsonObject>][] = [
  ["chain", { ...NODE, head_at: ago(600), started_at: ago(90_000) }, describeChain],
  [
    "storage",
    {
      ...{
        software: "ergo",
        version: "5.0.20",
        network: "mainnet",
        height: 1412333,
        synced: false,
      },
      ...{ status: "syncing", progress: 0.43, head_at: ago(86_400 * 9), api: NODE.api },
    },
    describeErgo,
  ],
  [
    "broker",
    {
      ...{ name: "nats-eu-1", software: "nats-server", version: "2.10.22", started_at: ago(700) },
      ...{ status: "degraded", status_reason: "it has no leader", api: NODE.api },
    },
    describeBroker,
  ],
];

const PHONE = { width: 360, height: 780 };
const DESKTOP = { width: 1280, height: 900 };

let browser: Browser;
const servers = new Map<string, Served>();

nodePage.before(async () => {
  browser = await launch();
  for (const [name, info, describe] of NODES) {
    servers.set(name, await serveNode({ info: () => info, document: await describe() }));
  }
});
nodePage.after(async () => {
  await closePages(browser);
  for (const server of servers.values()) await server.close();
});

for (const [name] of NODES) {
  for (const [viewport, colorScheme] of [[DESKTOP, "light"], [PHONE, "dark"]] as const) {
    const { width } = viewport;

    nodePage(
      `the page of a ${name} is accessible, ${width} px, ${colorScheme}`,
      () =>
        inPage(name, { viewport, colorScheme }, async (page, url) => {
          const tellTime = await hold(page, "**/v1/info");
          await page.goto(url + SIMPLE, { waitUntil: "commit" });
          await page.waitForFunction(() =>
            performance.getEntriesByName("first-contentful-paint").length > 0
          );
          const places = await placesOf(page, "#node :is(.state, dl, dt)");
          tellTime();
          await shownAges(page);
          assert.equal(await placesOf(page, "#node :is(.state, dl, dt)"), places);
          assert.ok(await isNameLargest(page));
          await assertFit(page, serious);
          await picture(page, `${name}-${width}-simple`);
          await visit(page, url);
          await page.waitForLoadState("networkidle");
          await assertFit(page, unknownIn);
          await picture(page, `${name}-${width}`);
        }),
    );
  }
}

async function assertFit(
  page: Page,
  find: (page: Page) => Promise<string[]>,
): Promise<void> {
  assert.ok(await fitsInWidth(page));
  assert.equal(await find(page), []);
  const shift = await page.evaluate(() => (globalThis as unknown as Shifts).shift);
  assert.ok(shift < 0.01, `The layout shift is ${shift}`);
}

nodePage(
  "a printed page shows absolute times and the content of the closed group",
  () =>
    inPage("chain", { viewport: DESKTOP, colorScheme: "dark" }, async (page, url) => {
      await page.goto(url + SIMPLE, { waitUntil: "commit" });
      await shownAges(page);
      await page.emulateMedia({ media: "print" });
      const time = page.locator("#node time").first();
      const printed = await time.evaluate((element) =>
        getComputedStyle(element, "::after").content + getComputedStyle(element).fontSize
      );
      assert.match(printed, /^"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"0px$/);
      await page.locator("#plain details").getByText("/v1/health").first().waitFor();
      await picture(page, "chain-print");
    }),
);

nodePage("a link into the closed group opens the group, with and without JavaScript", async () => {
  const fragment = "#tag/about-this-service/GET/v1/health";
  for (const javaScriptEnabled of [true, false]) {
    await inPage("broker", { viewport: DESKTOP, javaScriptEnabled }, async (page, url) => {
      await page.goto(url + SIMPLE + fragment, { waitUntil: "commit" });
      await page.locator("#plain details[open] h3", { hasText: "Probe the node" }).waitFor();
    }, javaScriptEnabled);
  }
});

nodePage(
  "Scalar lists each method once, by name and with its marks, and lists this service last",
  () =>
    inPage("chain", { viewport: DESKTOP }, async (page, url) => {
      await visit(page, url, "#tag/blockchain/GET/v1/rpc/getchaintips");
      const navigation = page.locator("aside").first();
      assert.is(await navigation.getByText("getchaintips", { exact: true }).count(), 1);
      const operation = page.locator("#scalar section", {
        has: page.getByRole("heading", { name: "getchaintips" }),
      }).last();
      for (const word of ["read", "slow"]) {
        await operation.getByText(word, { exact: true }).first().waitFor();
      }
      await operation.getByText("Also available as").first().waitFor();
      const tags = await navigation.innerText();
      assert.ok(tags.indexOf("About this service") > tags.indexOf("Wallet"));
      assert.not.match(tags, "Probe the node");
    }),
);

nodePage(
  "Scalar lists common operations first, and lists this service after undeclared tags",
  () =>
    inPage("broker", { viewport: DESKTOP }, async (page, url) => {
      await visit(page, url, "#tag/server/GET/varz");
      const navigation = await page.locator("aside").first().innerText();
      const order = ["Clients", "Server", "Show the server", "What its threads do", "About this"]
        .map((text) => navigation.indexOf(text));
      assert.ok(!order.includes(-1), navigation);
      assert.equal(order, [...order].sort((a, b) => a - b));
    }),
);

nodePage(
  "the page calculates ages with the service's clock, and keeps them up to date",
  () =>
    inPage("chain", { viewport: DESKTOP }, async (page, url) => {
      await page.clock.install({ time: new Date(Date.now() - 86_400_000 * 30) });
      await page.goto(url + SIMPLE, { waitUntil: "commit" });
      const block = page.locator("#node dl div", { hasText: "Latest block" }).locator("time");
      await block.getByText(/^\d+ minutes ago$/).waitFor();
      assert.match(await block.getAttribute("title") ?? "", /^\d{4}-.* UTC$/);
      const before = await block.textContent();
      // Each new info object resets the page's time, so the test may have to advance the clock
      // several times.
      await until(async () => {
        await page.clock.runFor(180_000);
        return await block.textContent() !== before;
      });
    }, false),
);

nodePage("the icon of the page changes once the node reports its name", async () => {
  let info: JsonObject = { status: "starting", api: NODE.api };
  const server = await serveNode({ info: () => info, document: await describeBroker() });
  servers.set("starting", server);
  await inPage("starting", { viewport: DESKTOP }, async (page, url) => {
    await page.goto(url + SIMPLE, { waitUntil: "commit" });
    await page.locator("#node h1", { hasText: "Monitoring" }).waitFor();
    info = { ...info, status: "ok", software: "nats-server", version: "2.10.22" };
    const asked = page.waitForResponse(`${url}favicon.ico?name=nats-server`);
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    assert.match(await (await asked).text(), ">N</text>");
    await page.locator("#node h1", { hasText: "nats-server" }).waitFor();
    assert.is(await page.title(), "nats-server · Version 2.10.22");
  });
});

async function inPage(
  name: string,
  options: BrowserContextOptions,
  work: (page: Page, url: string) => Promise<void>,
  quiet = true,
) {
  const { url } = servers.get(name)!;
  const context = await browser.newContext({ bypassCSP: true, ...options });
  try {
    const page = await context.newPage();
    const complaints = await watch(page, new URL(url).origin);
    await page.addInitScript(observeShifts);
    await work(page, url);
    if (quiet) assert.equal(complaints, QUIET);
  } finally {
    await context.close();
  }
}

/**
 * Reads all positions and sizes in one step: between two steps, the script might replace elements.
 */
const placesOf = (page: Page, selector: string) =>
  page.evaluate(
    (selector) =>
      [...document.querySelectorAll(selector)]
        .map((element) => JSON.stringify(element.getBoundingClientRect())),
    selector,
  );

const shownAges = (page: Page) =>
  page.waitForFunction(() =>
    [...document.querySelectorAll<HTMLElement>("#node time")]
      .every(({ textContent, title }) => textContent !== title)
  );

const isNameLargest = (page: Page) =>
  page.evaluate(() => {
    const sizes = [...document.querySelectorAll("h1, h2, h3")]
      .filter((heading) => heading.checkVisibility({ visibilityProperty: true }))
      .map((heading) => ({
        size: parseFloat(getComputedStyle(heading).fontSize),
        isName: heading.matches("#node h1"),
      }))
      .sort((a, b) => b.size - a.size);
    return sizes[0]!.isName && sizes[1]!.size < sizes[0]!.size;
  });

nodePage.run();
