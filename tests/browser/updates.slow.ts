import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { until } from "../nodes/_daemon.ts";
import { closePages, launch, PATIENCE } from "./_browser.ts";
import { NODE, SIMPLE, visit } from "./_page.ts";
import { ANVIL } from "./_relay.ts";
import { type Served, serveNode } from "./_serve.ts";
import { look, showsHeight, startService, type WatchedService } from "./_service.ts";

const live = suite("live updates of the page");

let browser: Browser;
let page: Page;
let service: WatchedService | undefined;
let server: Served | undefined;

live.before(async () => {
  browser = await launch();
});
live.before.each(async () => {
  page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
});
live.after.each(async () => {
  await page.close();
  await Promise.all([service?.stop(), server?.close()]);
  service = server = undefined;
});
live.after(() => closePages(browser));

const anvil = without(ANVIL);

/** The URL of each later request for `path` is added to the returned array. */
function requestsFor(page: Page, path: string): string[] {
  const urls: string[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === path) urls.push(request.url());
  });
  return urls;
}

async function stopTime(page: Page): Promise<void> {
  const now = Date.now();
  await page.clock.install({ time: now });
  // The time of the page runs until it is paused.
  await page.clock.pauseAt(now + 3_600_000);
}

for (const document of ["v1/spec", SIMPLE]) {
  testWhere(live, anvil, `${document} has an event stream only while visible`, async () => {
    service = await startService();
    const { url, listeners, mine } = service;
    const streams = requestsFor(page, "/v1/events");
    if (document === SIMPLE) await page.goto(url + document);
    else await visit(page, url);
    await until(async () => await listeners() === 1);
    const requests = requestsFor(page, "/v1/info");
    await showsHeight(page, await mine());
    await showsHeight(page, await mine());
    assert.ok(requests.length >= 2 && requests.length <= 6, `${requests.length} requests`);
    await look(page, true);
    await until(async () => await listeners() === 0);
    const height = await mine();
    await look(page, false);
    await showsHeight(page, height);
    await until(async () => await listeners() === 1);
    assert.equal(streams, Array(2).fill(`${url}v1/events?events=info,description`));
    await page.goto("about:blank");
    await until(async () => await listeners() === 0);
  });
}

live("without a stream, the page polls /v1/info and retries the stream less often", async () => {
  let info: Record<string, unknown> = NODE;
  server = await serveNode({
    info: () => info,
    answer: ({ url }) =>
      Promise.resolve(url.includes("/v1/events") ? new Response(null, { status: 403 }) : undefined),
  });
  await stopTime(page);
  const streams = requestsFor(page, "/v1/events");
  const first = page.waitForResponse(`${server.url}v1/info`);
  await page.goto(server.url + SIMPLE);
  await first;
  const now = () => page.evaluate(() => Date.now());
  const since = await now();
  const shown = page.locator("#node dl div", { hasText: "Height" });
  for (let height = 1; height <= 24; height++) {
    info = { ...NODE, height };
    await until(async () => {
      await page.clock.runFor(1_000);
      return await shown.getByText(String(height), { exact: true }).isVisible();
    });
  }
  // The stream is retried after 4, 8, 16, 32 s, and then every minute.
  const minutes = (await now() - since) / 60_000;
  assert.ok(streams.length >= 3 && streams.length <= 6 + minutes, `${streams.length} streams`);
});

live("each event causes a request for the info, even during another request", async () => {
  let info: Record<string, unknown> = { ...NODE, height: 7 };
  const { url, tell } = await serveTold({ info: () => info });
  const shown = (text: string) => page.locator("#node dd").getByText(text, { exact: true });
  await page.goto(url + SIMPLE);
  await shown("7").waitFor();
  await tell("snapshot");
  info = { ...NODE, height: 9007199254740993n };
  await tell("info");
  await shown("9\u202f007\u202f199\u202f254\u202f740\u202f993").waitFor();
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const answered = new Promise<void>((resolve) =>
    page.route("**/v1/info", async (route) => {
      const response = await route.fetch();
      resolve();
      await held;
      await route.fulfill({ response });
    }, { times: 1 })
  );
  await tell("info");
  await answered;
  info = { ...NODE, height: 8 };
  await tell("info");
  release();
  await shown("8").waitFor();
});

async function serveTold({ info = () => NODE, history }: {
  info?: () => Record<string, unknown>;
  history?: () => unknown;
} = {}) {
  let stream: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  let version: string | undefined;
  server = await serveNode({
    info,
    answer: ({ url }) => {
      if (version && url.endsWith("/spec.json")) {
        const headers = { "x-description-version": version };
        return Promise.resolve(new Response("{}", { headers }));
      }
      if (history && url.endsWith("/v1/history")) return Promise.resolve(Response.json(history()));
      if (!url.includes("/v1/events")) return Promise.resolve(undefined);
      const body = new ReadableStream({ start: (controller) => void (stream = controller) });
      const headers = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response(body, { headers }));
    },
  });
  return {
    url: server.url,
    change() {
      version = "other";
    },
    async tell(event: string, data: unknown = {}) {
      await until(() => Promise.resolve(stream !== undefined));
      const text = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
      stream!.enqueue(new TextEncoder().encode(text));
    },
    /** The next call of `tell` waits until the page has opened a new stream. */
    forgetStream() {
      stream = undefined;
    },
  };
}

const versionOfPage = () =>
  page.locator("#node").evaluate((node: HTMLElement) => node.dataset.version);

live("each chart has a text, and is drawn even from a malformed history", async () => {
  const at = (second: number) => new Date(1_800_000_000_000 + second * 1000).toISOString();
  let history: unknown = {
    at: [at(0), at(15), at(30)],
    status: ["ok", "ok", "ok"],
    response_ms: [4, 6, 5],
    height: [1, "</svg><img src=x>", 3],
    "<img src=y>": [1, 2, 3],
  };
  const { url } = await serveTold({ history: () => history });
  await stopTime(page);
  await page.goto(url + SIMPLE);
  const height = page.locator("#node dl div", { hasText: "Height" }).getByRole("img");
  await height.waitFor();
  // The chart ends with the height beside it.
  const now = "2\u202f941\u202f337 in the last";
  assert.is(await height.locator("title").textContent(), `from 1 to ${now} 30 seconds`);
  assert.is(await page.locator("#node img:not(.icon)").count(), 0);
  await page.locator("#node dl div", { hasText: "Response time" }).getByText("5 ms").waitFor();
  history = { at: [at(0), at(15)], response_ms: [4, 70], height: [2, 2] };
  const shown = page.locator("#node dl div", { hasText: "Response time" }).getByText("70 ms");
  // The page starts its next timer only when a response arrives, so the test may have to advance
  // the clock several times.
  await until(async () => {
    await page.clock.runFor(30_000);
    return await shown.count() > 0;
  });
  assert.is(await height.locator("title").textContent(), `from 2 to ${now} 15 seconds`);
});

live("the first new description is shown at once if no form is open", async () => {
  const { url, tell, forgetStream } = await serveTold();
  await page.goto(url + SIMPLE);
  const told = page.getByText("The description has changed.");
  const reloaded = page.waitForEvent("load");
  await tell("description", { version: "other" });
  forgetStream();
  await reloaded;
  await tell("description", { version: "other" });
  await told.waitFor();
  const shown = page.waitForEvent("load");
  await page.getByRole("button", { name: "Show it" }).click();
  await shown;
});

live("with other example values only, the page does not load anew and tells nothing", async () => {
  const { url, tell, forgetStream } = await serveTold();
  await page.route(url + SIMPLE, async (route) => {
    const response = await route.fetch();
    const html = await response.text();
    const body = html.replace('id="examples">{}<', 'id="examples">{"head#/hash":"0x1"}<');
    assert.is.not(body, html);
    await route.fulfill({ response, body });
  });
  await page.goto(url + SIMPLE);
  let loads = 0;
  page.on("load", () => loads++);
  await tell("description", { etag: '"other"', version: await versionOfPage() });
  const reloaded = page.waitForEvent("load");
  await tell("description", { version: "other" });
  forgetStream();
  await reloaded;
  // A second load would end this stream.
  await tell("description", { version: await versionOfPage() });
  await tell("description", { version: "other" });
  await page.getByText("The description has changed.").waitFor();
  assert.is(loads, 1);
});

live("a page without example values is loaded anew when the node has given some", async () => {
  const { url, tell } = await serveTold();
  await page.goto(url + SIMPLE);
  const reloaded = page.waitForEvent("load");
  await tell("description", { etag: '"other"', version: await versionOfPage() });
  await reloaded;
});

live("in the reference, or if a form is open, a new description is only announced", async () => {
  const { url, tell, forgetStream } = await serveTold();
  const told = page.getByText("The description has changed.");
  for (const document of [SIMPLE, "v1/spec"]) {
    forgetStream();
    await page.goto(url + document);
    if (document === SIMPLE) {
      await page.evaluate(() => location.hash = "#op/getInfo");
      await page.locator(".try[open]").waitFor();
    }
    await tell("description", { version: "other" });
    await told.waitFor();
  }
});

live("a change is not announced any more once it is undone", async () => {
  const { url, tell, change } = await serveTold();
  await page.goto(url + "v1/spec");
  const told = page.getByText("The description has changed.");
  change();
  await tell("snapshot");
  await told.waitFor();
  await tell("description", { version: await versionOfPage() });
  await told.waitFor({ state: "detached" });
});

for (const document of [SIMPLE, "v1/spec"]) {
  live(`${document} that was loaded before a change tells it once it is connected`, async () => {
    const { url, tell, change } = await serveTold();
    await page.goto(url + document);
    change();
    await tell("snapshot");
    await page.getByText("The description has changed.").waitFor();
  });
}

live.run();
