import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS, type Running, start } from "../_server.ts";
import { type Complaints, launch, watch } from "./_browser.ts";

const explorer = suite("the explorer in Chromium");

let server: Running;
let browser: Browser;
let page: Page;
let complaints: Complaints;

explorer.before(async () => {
  [server, browser] = await Promise.all([start(COMMANDS.Node), launch()]);
});
explorer.after(async () => {
  await browser?.close();
  await server?.stop();
});
explorer.before.each(async () => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  complaints = watch(page, new URL(server.url).origin);
  await page.goto(`${server.url}v1/spec`);
  await page.locator("html.mounted").waitFor();
});
explorer.after.each(async () => {
  await page.close();
  assert.equal(complaints, { outside: [], console: [], failed: [] });
});

explorer("both operations of the node are there to see", async () => {
  for (
    const [name, path] of [["Get the node's information", "/v1/info"], [
      "Open the explorer",
      "/v1/spec",
    ]]
  ) {
    await page.getByRole("heading", { name: name! }).first().waitFor();
    await page.getByText(path!, { exact: true }).first().waitFor();
  }
});

explorer("Test Request and Send give this service's own answer", async () => {
  await page.getByRole("button", { name: /Test Request.*\/v1\/info/ }).click();
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url() === `${server.url}v1/info`),
    page.getByRole("button", { name: /Send get request/ }).click(),
  ]);
  const info = await answer.json();
  assert.is(info.software, "nodeface");
  await page.getByText(info.started_at).waitFor();
});

explorer("search finds an operation", async () => {
  await page.getByRole("button", { name: /Search/ }).first().click();
  await page.getByRole("combobox", { name: "Enter search query" }).fill("explorer");
  await page.getByRole("option", { name: /Open the explorer/ }).first().waitFor();
});

explorer.run();
