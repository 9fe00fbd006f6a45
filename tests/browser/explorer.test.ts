import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS, type Running, start } from "../_server.ts";
import { closePages, type Complaints, launch, QUIET, watch } from "./_browser.ts";
import { mounted, send, visit } from "./_page.ts";

const explorer = suite("the explorer in Chromium");

let server: Running;
let browser: Browser;
let page: Page;
let complaints: Complaints;

explorer.before(async () => {
  [server, browser] = await Promise.all([start(COMMANDS.Node), launch()]);
});
explorer.after(async () => {
  await closePages(browser);
  await server?.stop();
});
explorer.before.each(async () => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  complaints = await watch(page, new URL(server.url).origin);
  await visit(page, server.url);
});
explorer.after.each(async () => {
  await page.close();
  assert.equal(complaints, QUIET);
});

explorer("two of the service's own operations can be opened", async () => {
  for (
    const [name, path] of [["Get the node's information", "/v1/info"], [
      "Open the explorer",
      "/v1/spec",
    ]]
  ) {
    await page.locator("#scalar").getByRole("link", { name: name! }).first().click();
    await page.getByRole("heading", { name: name! }).first().waitFor();
    await page.locator("#scalar").getByText(path!, { exact: true }).first().waitFor();
  }
});

explorer("pressing Test Request and then Send shows this service's own response", async () => {
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url() === `${server.url}v1/info`),
    send(page, "/v1/info"),
  ]);
  const info = await answer.json();
  assert.is(info.software, "nodeface");
  await page.getByRole("dialog").getByText(info.started_at).waitFor();
});

explorer("search finds an operation", async () => {
  await page.getByRole("button", { name: /Search/ }).first().click();
  await page.getByRole("combobox", { name: "Enter search query" }).fill("explorer");
  await page.getByRole("option", { name: /Open the explorer/ }).first().waitFor();
});

explorer("the download button leads to the served description", async () => {
  const link = page.getByRole("link", { name: "Download OpenAPI Document" });
  assert.is(await link.evaluate((link: HTMLAnchorElement) => link.href), `${server.url}spec.json`);
});

explorer("after a reload, the operation of a deep link is in view again", async () => {
  const fragment = "#tag/description/GET/.well-known/api-catalog";
  await visit(page, server.url, fragment);
  const inView = (id: string) =>
    page.waitForFunction((id) => {
      const top = document.getElementById(id)?.getBoundingClientRect().top;
      return top !== undefined && top >= 0 && top < innerHeight / 2;
    }, id);
  await inView(`spec/${fragment.slice(1)}`);
  await page.reload();
  await mounted(page);
  await inView(`spec/${fragment.slice(1)}`);
  assert.is(new URL(page.url()).hash, fragment);
});

explorer(
  "a service without a node shows its own name and icon",
  async () => {
    const { version } = await (await fetch(`${server.url}v1/info`)).json();
    assert.is(await page.title(), `Nodeface · Version ${version}`);
    assert.is(await page.locator("#node h1").textContent(), "Nodeface");
    const icon = await page.locator("link[rel=icon]").getAttribute("href");
    assert.is(icon, "../favicon.ico?own");
    assert.is(
      (await fetch(new URL(icon!, page.url()))).headers.get("content-type"),
      "image/svg+xml",
    );
  },
);

explorer.run();
