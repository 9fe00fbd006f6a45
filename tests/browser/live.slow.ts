import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { until } from "../nodes/_daemon.ts";
import { closePages, launch, PATIENCE } from "./_browser.ts";
import { mounted, picture, SIMPLE } from "./_page.ts";
import { ANVIL } from "./_relay.ts";
import { showsHeight, startService, type WatchedService } from "./_service.ts";

const live = suite("the page during and after an outage");

/**
 * The outage lasts `AWAY` milliseconds. Each page must then be up to date again within `RIGHT`
 * milliseconds.
 */
const [AWAY, RIGHT] = [60_000, 5_000];

let browser: Browser;
let pages: readonly Page[];
let service: WatchedService;

live.before.each(async () => {
  [browser, service] = await Promise.all([launch(), startService()]);
  const [simple, reference] = [await browser.newPage(), await browser.newPage()];
  pages = [simple, reference];
  for (const page of pages) page.setDefaultTimeout(PATIENCE);
  await Promise.all([
    simple.goto(service.url + SIMPLE),
    reference.goto(`${service.url}v1/spec`).then(() => mounted(reference)),
  ]);
  const height = await service.mine();
  for (const page of pages) await showsHeight(page, height);
});
live.after.each(async () => {
  await closePages(browser);
  await service.stop();
});

async function away(): Promise<number> {
  const since = performance.now();
  for (const page of pages) {
    await page.getByRole("status").getByText("No connection").waitFor();
  }
  await until(() => Promise.resolve(performance.now() - since > AWAY), 2 * AWAY);
  return await service.mine();
}

const anvil = without(ANVIL);

testWhere(
  live,
  anvil,
  "after the service has hung for a minute, the page is up to date within 5 s",
  async () => {
    service.process.signal("SIGSTOP");
    const height = await away();
    service.process.signal("SIGCONT");
    for (const page of pages) await showsHeight(page, height, RIGHT);
  },
);

testWhere(
  live,
  anvil,
  "after the service was stopped for a minute, the page is up to date within 5 s",
  async () => {
    await service.process.stop();
    const height = await away();
    await service.start();
    for (const page of pages) await showsHeight(page, height, RIGHT);
    await until(async () => await service.listeners() === pages.length);
  },
);

testWhere(
  live,
  anvil,
  "if a node is unreachable for long, its values are hidden, but its name stays",
  async () => {
    const height = await service.mine();
    for (const page of pages) await showsHeight(page, height);
    await service.node.stop("SIGKILL");
    for (const [i, page] of pages.entries()) {
      await page.locator('#node [data-state="unreachable"]').waitFor({ timeout: 2 * AWAY });
      await page.locator("#node dl div", { hasText: "At height" })
        .getByText(String(height), { exact: true }).waitFor();
      assert.match(await page.locator("#node h1").innerText(), /anvil/i);
      const told = await page.locator("#node").innerText();
      await page.reload();
      await page.locator("#node dt").getByText("Last seen").waitFor();
      const withoutAges = (text: string) => text.replaceAll(/\d+ (second|minute)s?( ago)?/g, "");
      await until(async () => {
        return withoutAges(await page.locator("#node").innerText()) === withoutAges(told);
      });
      await picture(page, `gone-${i}`);
    }
  },
);

live.run();
