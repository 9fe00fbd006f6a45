import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { closePages, launch, PATIENCE, QUIET, watch } from "./_browser.ts";
import { hold, NODE, picture, SIMPLE, visit } from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";

const header = suite("the header of the explorer");

const { synced: _, ...ANSWERS } = NODE;

/** A JavaScript number would lose most digits of this integer. */
const LONG = 1234567890123456789012345678901234567890n;

const STATES: [info: Record<string, unknown>, shown: string][] = [
  [NODE, "In sync"],
  [{ ...ANSWERS, head_at: "2026-01-31T08:14:41Z" }, "Online"],
  [{ name: "nodeface", software: "nodeface", version: "0.2.0" }, "Running"],
  [{ name: NODE.name, status: "starting", status_reason: "loading its blocks" }, "Starting"],
  [
    {
      ...NODE,
      synced: false,
      status: "syncing",
      status_reason: "1204881 blocks behind its peers",
      progress: 0.4321,
      height: LONG,
    },
    "Syncing",
  ],
  [
    { ...ANSWERS, status: "degraded", status_reason: "no new block for 3 h 12 min" },
    "Needs attention",
  ],
  [
    {
      ...NODE,
      status: "stale",
      status_reason: "connection refused",
      updated_at: "2026-01-31T08:15:00.123Z",
    },
    "Not responding",
  ],
  [
    {
      status: "unreachable",
      status_reason: "connection refused",
      last_seen: {
        software: NODE.software,
        version: NODE.version,
        network: NODE.network,
        chain_id: NODE.chain_id,
        height: 21_000_000,
        at: "2026-01-31T08:15:00.123Z",
      },
      api: NODE.api,
    },
    "Unreachable",
  ],
];

let info: Record<string, unknown> | undefined;
let server: Served;
let browser: Browser;
let page: Page;

header.before(async () => {
  [server, browser] = await Promise.all([serveNode({ info: () => info }), launch()]);
});
header.after(async () => {
  await closePages(browser);
  await server?.close();
});
header.before.each(async () => {
  info = NODE;
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(PATIENCE);
});
header.after.each(() => page.close());

for (const [state, shown] of STATES) {
  header(
    `"${shown}" is in the initial HTML, and a refresh changes nothing`,
    async () => {
      info = state;
      const complaints = await watch(page, new URL(server.url).origin);
      await open(page);
      const first = await headerOf(page);
      assert.match(first, shown);
      assert.match(first, String(state.status_reason ?? ""));
      await refresh(page);
      assert.is(await headerOf(page), first);
      await picture(page, `header-${shown.toLowerCase().replaceAll(" ", "-")}`);
      assert.equal(complaints, QUIET);
    },
  );
}

header("the header shows each new state of the node without a reload", async () => {
  await visit(page, server.url);
  for (const [state, shown] of STATES) {
    info = state;
    await refresh(page);
    await page.getByRole("status").getByText(shown, { exact: true }).waitFor();
    const height = page.locator("#node dt").getByText("Height", { exact: true });
    assert.is(await height.count(), "height" in state ? 1 : 0);
  }
});

header("a long number keeps all digits when the header is refreshed", async () => {
  await open(page);
  for (const height of [LONG, 9007199254740993n, 2n ** 64n - 1n]) {
    info = { ...NODE, height };
    await refresh(page);
    const digits = String(height).replace(/\B(?=(\d{3})+$)/g, "\u202f");
    await page.locator("#node dl div", { hasText: "Height" }).locator("dd")
      .getByText(digits, { exact: true }).waitFor();
  }
});

header("on a phone and in print, a long reason is shown completely and fits the page", async () => {
  const reason = `requires credentials (401), ${"which the operator has to give ".repeat(4)}`
    .trim();
  info = { ...NODE, status: "degraded", status_reason: reason, height: LONG };
  await page.setViewportSize({ width: 390, height: 800 });
  await open(page);
  for (const media of ["screen", "print"] as const) {
    await page.emulateMedia({ media });
    const state = page.locator("#node .state");
    assert.match(await state.innerText(), reason);
    for (const element of [state, page.locator("#node"), page.locator("#node dl")]) {
      assert.ok(await element.evaluate((box) => box.scrollWidth <= box.clientWidth), media);
      assert.ok(await element.evaluate((box) => box.scrollHeight <= box.clientHeight), media);
    }
    await picture(page, `header-long-${media}`);
  }
});

header("state symbols have different shapes, even with forced colours", async () => {
  await page.emulateMedia({ forcedColors: "active" });
  await open(page);
  const shapes = new Map<string, string>();
  for (const [state, shown] of STATES) {
    info = state;
    await refresh(page);
    await page.getByRole("status").getByText(shown, { exact: true }).waitFor();
    shapes.set(
      shown,
      await page.locator("#node .state b").evaluate((element) =>
        getComputedStyle(element, "::before").content
      ),
    );
  }
  const states = ["In sync", "Syncing", "Needs attention", "Unreachable"];
  const drawn = states.map((state) => shapes.get(state));
  assert.is(new Set(drawn).size, states.length);
  // Screen readers read the text after the slash in a CSS `content` value, so this text must be
  // empty.
  for (const content of drawn) assert.match(content!, / \/ ""$/);
});

header("screen readers announce a new state, but not a longer duration of a state", async () => {
  const live = () => page.locator("#node .state").getAttribute("aria-live");
  const quiet = (minutes: number) => ({
    ...NODE,
    status: "degraded",
    status_reason: `no new block for 3 h ${minutes} min`,
  });
  await open(page);
  info = quiet(12);
  await refresh(page);
  await page.getByRole("status").getByText("3 h 12 min").waitFor();
  assert.is(await live(), null);
  info = quiet(13);
  await refresh(page);
  await page.getByRole("status").getByText("3 h 13 min").waitFor();
  assert.is(await live(), "off");
  info = NODE;
  await refresh(page);
  await page.getByRole("status").getByText("In sync").waitFor();
  assert.is(await live(), null);
});

header("if the service is unreachable, the header says so and keeps the last values", async () => {
  await open(page);
  info = undefined;
  await refresh(page);
  await page.getByRole("status").getByText("No connection").waitFor();
  await page.locator("#node dl").getByText("2\u202f941\u202f337").waitFor();
  info = NODE;
  await refresh(page);
  await page.getByRole("status").getByText("In sync").waitFor();
});

header("a node that takes eight seconds to respond is no lost connection", async () => {
  await open(page);
  const release = await hold(page, "**/v1/info");
  setTimeout(release, 8000);
  info = { ...NODE, height: 7 };
  await look(page, false);
  const lost = page.getByText("No connection", { exact: true });
  const shown = lost.or(page.locator("#node dd").getByText("7", { exact: true }));
  await shown.waitFor();
  assert.is(await shown.innerText(), "7");
});

header("the header refreshes automatically, but only while the page is visible", async () => {
  await page.clock.install();
  await open(page);
  const answer = page.waitForResponse(`${server.url}v1/info`);
  const tellHistory = await hold(page, "**/v1/history");
  const history = page.waitForRequest("**/v1/history");
  await page.clock.runFor(30_000);
  await answer;
  const asked = await history;
  await look(page, true);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  tellHistory();
  await (await asked.response())?.finished();
  await page.clock.runFor(60_000);
  assert.equal(requests, []);
});

header("the first call is made again in another state and on a page seen again only", async () => {
  await open(page);
  const shows = (name: string) => page.locator("#node output").getByText(name).waitFor();
  await shows(NODE.name);
  info = { ...NODE, name: "renamed" };
  await refresh(page);
  await page.locator("#node h1").getByText("renamed").waitFor();
  await shows(NODE.name);
  info = { ...NODE, status: "stale" };
  await refresh(page);
  await page.locator("#node output:empty").waitFor({ state: "attached" });
  info = { ...NODE, name: "restarted" };
  await refresh(page);
  await shows("restarted");
  info = { ...NODE, name: "woken" };
  for (const isHidden of [true, false]) await look(page, isHidden);
  await shows("woken");
});

header("values from a node are shown as text, never as HTML", async () => {
  const hostile = `<img src=x onerror="document.title='run'">`;
  info = { name: hostile, software: hostile, chain_id: hostile, status: hostile, height: hostile };
  info.status_reason = hostile;
  const complaints = await watch(page, new URL(server.url).origin);
  await open(page);
  await refresh(page);
  await page.locator("#node dl").getByText(hostile).first().waitFor();
  await page.locator("#node h1").getByText(hostile).waitFor();
  assert.is(await page.locator("#node img").count(), 1);
  assert.match(await page.title(), hostile);
  assert.equal(complaints, QUIET);
});

/** The simple page has the same header as the reference, but loads at once. */
async function open(page: Page): Promise<void> {
  const told = page.waitForResponse(`${server.url}v1/info`);
  await page.goto(server.url + SIMPLE, { waitUntil: "commit" });
  await told;
  // The page's script fills in the URLs, so a filled-in URL shows that the script has run.
  await page.waitForFunction((origin) => {
    const address = document.querySelector("#plain var");
    return address?.textContent === origin;
  }, server.url.replace(/\/$/, ""));
  // Once the info object has arrived, the header shows relative times instead of absolute times.
  await page.waitForFunction(() =>
    [...document.querySelectorAll<HTMLElement>("#node time")]
      .every(({ textContent, title }) => textContent !== title)
  );
  // The first call of the header shows its response.
  await page.waitForFunction(() => {
    const output = document.querySelector("#node output");
    return output?.textContent !== "" ||
      document.querySelector("#node :is([data-state=stale], [data-state=unreachable])") !== null;
  });
}

/** Triggers the request for `/v1/info` that a page sends when it becomes visible. */
async function refresh(page: Page): Promise<void> {
  // Only a request that begins now gets the new info.
  const asked = page.waitForRequest(`${server.url}v1/info`);
  await look(page, false);
  await (await (await asked).response())?.finished();
  await page.evaluate(() => new Promise((painted) => requestAnimationFrame(painted)));
}

const look = (page: Page, hidden: boolean) =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);

const headerOf = (page: Page) => page.locator("#node").innerHTML();

header.run();
