import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { closePages, launch, QUIET, watch } from "./_browser.ts";
import { serious } from "./_axe.ts";
import { describeBroker, describeChain } from "./_documents.ts";
import { NODE, SIMPLE } from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";

const filter = suite("finding an operation on the simple page");

let browser: Browser;
let chain: Served;
let broker: Served;

filter.before(async () => {
  const [document, other] = await Promise.all([describeChain(), describeBroker()]);
  [browser, chain, broker] = await Promise.all([
    launch(),
    serveNode({ info: () => NODE, document }),
    serveNode({ info: () => NODE, document: other }),
  ]);
});
filter.after(async () => {
  await closePages(browser);
  await Promise.all([chain?.close(), broker?.close()]);
});

async function open(url: string, width = 1280, hash = ""): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, bypassCSP: true });
  const page = await context.newPage();
  const complaints = await watch(page, new URL(url).origin);
  page.setDefaultTimeout(20_000);
  page.on("close", () => assert.equal(complaints, QUIET));
  await page.goto(url + SIMPLE + hash);
  await page.waitForFunction(() =>
    document.querySelector("#plain var")?.textContent !== "$BASE_URL"
  );
  return page;
}

const field = (page: Page) => page.getByRole("searchbox", { name: "Filter the operations" });

const links = (page: Page) => page.locator("#plain nav ul:not(:has(ul)) a:visible");

filter("/ and Ctrl+K focus the filter, which matches name, path, summary and access", async () => {
  const page = await open(broker.url);
  const all = await links(page).count();
  await page.keyboard.press("/");
  assert.ok(await field(page).evaluate((input) => input === document.activeElement));
  for (
    const [text, found] of [
      ["show the SERVER", ["Show the server"]],
      ["/stacksz", ["What its threads do"]],
      ["sensitive", ["What its threads do", "List who is connected"]],
      ["read show", ["Show the server", "Show its streams"]],
      ["/v1/health", ["Probe the node"]],
      ["nothing like that", []],
    ] as const
  ) {
    await field(page).fill(text);
    const shown = await links(page).allInnerTexts();
    assert.equal(shown.map((name) => name.split("\n")[0]).sort(), [...found].sort(), text);
    const [said] = await page.locator("#filter [role=status]").allInnerTexts();
    assert.match(said!, new RegExp(`^${found.length} of \\d+$`));
  }
  await page.keyboard.press("Escape");
  assert.is(await field(page).inputValue(), "");
  assert.is(await page.locator("#filter [role=status]").innerText(), "");
  assert.is(await links(page).count(), all);
  await page.locator("h3").first().click();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("jsz");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.endsWith("/jsz"));
  assert.equal(await serious(page), []);
  await page.close();
});

filter("a choice that is in the URL already leads to the operation again", async () => {
  const page = await open(chain.url);
  const heading = page.locator("h3", { hasText: "getblockhash" });
  const group = page.locator("#content section > details", { has: heading });
  const isInView = () =>
    heading.evaluate((h3) => {
      const { top } = h3.getBoundingClientRect();
      return h3.checkVisibility() && top >= 0 && top < innerHeight / 2;
    });
  const leave = async () => {
    await group.evaluateAll((all: HTMLDetailsElement[]) => all.forEach((one) => one.open = false));
    await page.evaluate(() => scrollTo(0, 0));
    assert.is(await isInView(), false);
  };
  for (let i = 0; i < 2; i++) {
    await leave();
    await field(page).fill("getblockhash");
    await field(page).press("Enter");
    await page.waitForFunction(() => location.hash.endsWith("/getblockhash"));
    assert.ok(await isInView(), `Enter, ${i}`);
  }
  await leave();
  await links(page).first().click();
  assert.ok(await isInView(), "click");
  await page.close();
});

filter("keys typed into a form field do not act as shortcuts", async () => {
  const page = await open(chain.url);
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  const input = page.locator("#content form input").first();
  await input.focus();
  await page.keyboard.press("/");
  assert.match(await input.inputValue(), "/");
  await page.close();
});

filter("in a narrow window, the navigation is a sheet that closes after a choice", async () => {
  const page = await open(chain.url, 820);
  const sheet = page.getByRole("navigation", { name: "Operations" });
  assert.is(await sheet.isVisible(), false);
  await page.getByRole("button", { name: /^Operations \(\d+\)$/ }).click();
  await sheet.waitFor();
  assert.equal(await serious(page), []);
  await page.keyboard.type("getblockhash");
  await sheet.getByRole("link", { name: /getblockhash/ }).click();
  await sheet.waitFor({ state: "hidden" });
  await page.waitForFunction(() => location.hash.endsWith("/getblockhash"));
  await page.keyboard.press("Control+k");
  await sheet.waitFor();
  await page.keyboard.press("Escape");
  assert.is(await field(page).inputValue(), "");
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "hidden" });
  await page.setViewportSize({ width: 1280, height: 800 });
  await sheet.waitFor();
  await page.close();
});

filter("the navigation marks the entry of the operation in view, and scrolls to it", async () => {
  const page = await open(chain.url);
  for (const name of ["getblockcount", "getrawtransaction"]) {
    await page.evaluate((name) => location.hash = `#op/${name}`, name);
    await page.locator("#plain nav [aria-current]", { hasText: name }).waitFor();
    const isSeen = await page.locator("#plain nav [aria-current]").evaluate((link) => {
      const { top, bottom } = link.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
    assert.ok(isSeen, name);
  }
  await page.close();
});

filter("the navigation follows the reader in windows of every height", async () => {
  const page = await open(chain.url);
  const ids = await page.locator("#plain h3").evaluateAll((all) => all.map(({ id }) => id));
  for (const [at, height] of [800, 500, 360].entries()) {
    await page.setViewportSize({ width: 1280, height });
    const id = ids[3 + at]!;
    await page.evaluate((id) => document.getElementById(id)!.scrollIntoView(), id);
    await page.locator(`#plain nav [aria-current][href="#${id}"]`).waitFor();
  }
  await page.close();
});

filter(
  "the target of a link stays marked in the navigation until the user scrolls",
  async () => {
    const page = await open(chain.url, 1280, "#op/getblockhash");
    // After two frames, the page's `IntersectionObserver` has reported the visible elements.
    const painted = () =>
      page.evaluate(() =>
        new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))
      );
    const marked = page.locator("#plain nav [aria-current]:visible");
    await painted();
    await marked.getByText("getblockhash").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("getblockcount");
    await page.keyboard.press("Enter");
    // The mark is in the list of operations found, and in the tree when the filter is empty again.
    await marked.getByText("getblockcount").waitFor();
    await field(page).fill("");
    await marked.getByText("getblockcount").waitFor();
    const ids = await page.locator("#plain h3").evaluateAll((all) => all.map(({ id }) => id));
    // Tests the first two and the last three operations, because the page cannot scroll the last
    // ones to the top.
    for (const id of [...ids.slice(0, 2), ...ids.slice(-3)]) {
      await page.evaluate((id) => location.hash = id, id);
      await page.waitForFunction((id) => document.getElementById(id)!.checkVisibility(), id);
      await painted();
      assert.equal(
        await marked.evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
        [`#${id}`],
      );
    }
    await page.evaluate(() => location.hash = "#op/getblockcount");
    await marked.getByText("getblockcount").waitFor();
    await page.mouse.move(800, 400);
    const reached = await marked.getAttribute("href");
    for (let i = 0; await marked.getAttribute("href") === reached; i++) {
      assert.ok(i < 40, "the mark follows the scroll position");
      await page.mouse.wheel(0, 400);
      await painted();
    }
    await page.close();
  },
);

filter.run();
