import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { launch, QUIET, watch } from "./_browser.ts";
import { NODE, picture, visit } from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";

const header = suite("the header of the explorer");

/** What the node says in each state, and what the header then says of it. */
const STATES: [info: Record<string, unknown>, shown: string][] = [
  [NODE, "In sync"],
  [{ ...NODE, synced: false, status: "syncing", height: 1024 }, "Syncing"],
  [{ ...NODE, status: "stale", updated_at: "2026-01-31T08:15:00Z" }, "Not answering"],
  [{ name: NODE.name, status: "unreachable" }, "Unreachable"],
];

let info: Record<string, unknown> | undefined;
let server: Served;
let browser: Browser;
let page: Page;

header.before(async () => {
  [server, browser] = await Promise.all([serveNode({ info: () => info }), launch()]);
});
header.after(async () => {
  await browser?.close();
  await server?.close();
});
header.before.each(async () => {
  info = NODE;
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(10_000);
});
header.after.each(() => page.close());

for (const [state, shown] of STATES) {
  header(
    `"${state.status}" is there in the first HTML, and a refresh changes nothing`,
    async () => {
      info = state;
      const complaints = await watch(page, new URL(server.url).origin);
      await visit(page, server.url);
      const first = await headerOf(page);
      assert.match(first, shown);
      await refresh(page);
      assert.is(await headerOf(page), first);
      await picture(page, `header-${state.status}`);
      assert.equal(complaints, QUIET);
    },
  );
}

header("it follows the node from state to state without a visit", async () => {
  await visit(page, server.url);
  for (const [state, shown] of STATES) {
    info = state;
    await refresh(page);
    await page.getByRole("status").getByText(shown, { exact: true }).waitFor();
    const height = page.locator("#node dl").getByText("Height");
    assert.is(await height.count(), "height" in state ? 1 : 0);
  }
});

header("what cannot be reached is said, and the last known values stay", async () => {
  await visit(page, server.url);
  info = undefined;
  await refresh(page);
  await page.getByRole("status").getByText("No connection").waitFor();
  await page.locator("#node dl").getByText("2\u202f941\u202f337").waitFor();
  info = NODE;
  await refresh(page);
  await page.getByRole("status").getByText("In sync").waitFor();
});

header("it asks by itself while the page is seen, and not while it is hidden", async () => {
  await page.clock.install();
  await page.route("**/standalone.esm.js", (route) => route.abort());
  await page.goto(`${server.url}v1/spec`);
  const answer = page.waitForResponse(`${server.url}v1/info`);
  await page.clock.runFor(5_000);
  await answer;
  await look(page, true);
  let asked = 0;
  page.on("request", () => asked++);
  await page.clock.runFor(60_000);
  assert.is(asked, 0);
});

header("what a node says is text, never HTML", async () => {
  const hostile = `<img src=x onerror="document.title='run'">`;
  info = { name: hostile, software: hostile, network: hostile, status: hostile, height: hostile };
  const complaints = await watch(page, new URL(server.url).origin);
  await visit(page, server.url);
  await refresh(page);
  await page.locator("#node dl").getByText(hostile).first().waitFor();
  assert.is(await page.locator("#node img").count(), 0);
  assert.match(await page.title(), hostile);
  assert.equal(complaints, QUIET);
});

/** Makes the header ask now, as it does when a page is seen again, and waits for the answer. */
async function refresh(page: Page): Promise<void> {
  const answer = page.waitForResponse(`${server.url}v1/info`);
  await look(page, false);
  await answer;
  await page.evaluate(() => new Promise((painted) => requestAnimationFrame(painted)));
}

/** Hides the page from its reader, or shows it. */
const look = (page: Page, hidden: boolean) =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);

const headerOf = (page: Page) => page.locator("#node").innerHTML();

header.run();
