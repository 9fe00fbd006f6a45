/** Tests how the simple page confirms write operations and presents results. */
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../src/json/values.ts";
import { serious } from "./_axe.ts";
import { closePages, launch, watch } from "./_browser.ts";
import { hold, NODE, SIMPLE } from "./_page.ts";
import { type Served, serveNode } from "./_serve.ts";
import { look } from "./_service.ts";
import { answer, confirmSent, openForm, operationAt, sendForm } from "./_try.ts";

const results = suite("write operations and results on the simple page");

let browser: Browser;
let server: Served;
let info: JsonObject | undefined;
let asked: { target: string; body: string }[];

/** Resolves when the page has the head of the response that breaks off. */
let begun: Promise<unknown>;

const problem = (status: number, more: JsonObject) =>
  Response.json({ title: "No", ...more }, {
    status,
    headers: { "content-type": "application/problem+json" },
  });

const BLOCK = {
  number: "0x13b",
  timestamp: "0x6b02a894",
  value: 5_000_000_000,
  logsBloom: `0x${"0".repeat(512)}`,
  html: "<img src=x onerror=alert(1)>",
  transactions: Array.from({ length: 300 }, (_, at) => ({ at, value: at })),
};

const ANSWERS: Readonly<Record<string, () => Response>> = {
  "/t/block": () => Response.json(BLOCK),
  "/t/secret": () => problem(401, { detail: "GET /secret needs a client's token" }),
  "/t/html": () =>
    new Response(`<script>opener.ran = true</script>${"<p>".repeat(500)}`, {
      headers: { "content-type": "text/html" },
    }),
  "/t/shorter": () => Response.json({ a: "x".repeat(7_999_990) }),
  "/t/long": () => Response.json({ a: "x".repeat(8_000_000) }),
  "/t/odd": () => problem(400, { message: { toString: 1 } }),
  "/t/broken": () => {
    const parts = [new TextEncoder().encode("a".repeat(100_000))];
    return new Response(
      new ReadableStream({
        async pull(controller) {
          const part = parts.pop();
          if (part) return controller.enqueue(part);
          await begun;
          controller.error(new Error("The node has ended"));
        },
      }),
    );
  },
  "/t/begun": () =>
    new Response(
      new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(100)) }),
    ),
  "/t/refused": () =>
    problem(422, {
      detail: "The node refused the call",
      code: -32001,
      message: "Resource not found",
    }),
};

const DONE = { responses: { 200: { description: "Done" } } };
const unit = (unit: string) => ({ type: "integer", "x-unit": unit });
const block = {
  properties: {
    number: unit("quantity"),
    timestamp: unit("unix-time"),
    value: unit("satoshi"),
    transactions: { type: "array", items: { properties: { value: unit("satoshi") } } },
  },
};

const DOCUMENT = {
  openapi: "3.1.1",
  info: { title: "Things", version: "1" },
  servers: [{ url: "./t" }],
  paths: {
    "/block": {
      get: {
        operationId: "Get Block!",
        summary: "Get Block!",
        responses: { 200: { description: "", content: { "application/json": { schema: block } } } },
      },
    },
    "/secret": { get: { ...DONE, operationId: "secret", security: [{ key: [] }] } },
    "/refused": { get: { ...DONE, operationId: "refused" } },
    "/odd": { get: { ...DONE, operationId: "odd" } },
    "/broken": { get: { ...DONE, operationId: "broken" } },
    "/slow": { get: { ...DONE, operationId: "slow" } },
    "/begun": { get: { ...DONE, operationId: "begun" } },
    "/html": { get: { ...DONE, operationId: "html" } },
    "/shorter": { get: { ...DONE, operationId: "shorter" } },
    "/long": { get: { ...DONE, operationId: "long" } },
    "/give": {
      post: {
        ...DONE,
        operationId: "give",
        summary: "Give",
        parameters: [
          {
            name: "to",
            in: "query",
            required: true,
            schema: { type: "string" },
            example: "a\u202eb",
          },
          { name: "n", in: "query", schema: { type: "integer" } },
        ],
        requestBody: { content: { "application/json": { example: { much: "x".repeat(300) } } } },
      },
    },
  },
  components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
};

results.before(async () => {
  browser = await launch();
  server = await serveNode({
    info: () => info,
    document: DOCUMENT,
    answer: async (request) => {
      const { pathname, search } = new URL(request.url);
      if (!pathname.startsWith("/t/")) return undefined;
      asked.push({ target: pathname + search, body: await request.text() });
      return ANSWERS[pathname]?.() ?? new Response("{}");
    },
  });
});
results.before.each(() => {
  asked = [];
  info = NODE;
});
results.after(async () => {
  await closePages(browser);
  await server?.close();
});

async function inPage(work: (page: Page) => Promise<void>) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    const complaints = await watch(page, new URL(server.url).origin);
    await page.goto(server.url + SIMPLE);
    await work(page);
    assert.equal([complaints.outside, complaints.refused], [[], []]);
  } finally {
    await context.close();
  }
}

async function ask(page: Page) {
  const operation = operationAt(page, "give");
  await openForm(operation);
  await operation.getByRole("button", { name: "Send", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Send Give?" });
  await dialog.waitFor();
  return { operation, dialog };
}

results(
  "a write operation is sent only after a confirmation that shows the whole request",
  () =>
    inPage(async (page) => {
      const { operation, dialog } = await ask(page);
      assert.equal(await serious(page), []);
      const text = await dialog.innerText();
      for (const shown of [NODE.name, "main", NODE.chain_id, "a\\u202eb", "x".repeat(300)]) {
        assert.ok(text.includes(shown), shown);
      }
      assert.equal(asked, []);
      await confirmSent(page);
      await operation.locator(".status", { hasText: "200" }).waitFor();
      assert.equal(asked.map(({ target }) => target), ["/t/give?to=a%E2%80%AEb"]);
    }),
);

results(
  "the confirmation focuses Cancel, ignores key repeats, and closes if the page is hidden",
  () =>
    inPage(async (page) => {
      const { dialog } = await ask(page);
      const focused = () => page.evaluate(() => document.activeElement?.textContent);
      assert.is(await focused(), "Cancel");
      await page.keyboard.press("Tab");
      assert.is(await focused(), "Send");
      const isPrevented = await dialog.evaluate((dialog) =>
        !dialog.dispatchEvent(
          new KeyboardEvent("keydown", {
            key: "Enter",
            repeat: true,
            cancelable: true,
            bubbles: true,
          }),
        )
      );
      assert.ok(isPrevented);
      await answer(dialog, () => dialog.getByRole("button", { name: "Cancel" }).click());
      await dialog.waitFor({ state: "detached" });
      await ask(page);
      await look(page, true);
      await dialog.waitFor({ state: "detached" });
      assert.equal(asked, []);
    }),
);

results(
  "a double click on Send sends once, and a confirmation of a write is a separate click",
  () =>
    inPage(async (page) => {
      const slow = operationAt(page, "slow");
      await openForm(slow);
      const respond = await hold(page, "**/t/slow");
      await slow.getByRole("button", { name: "Send", exact: true }).dblclick();
      respond();
      await slow.locator(".status", { hasText: "200" }).waitFor();
      assert.is(asked.length, 1);
      const give = operationAt(page, "give");
      await openForm(give);
      const tell = await hold(page, "**/v1/info");
      await give.getByRole("button", { name: "Send", exact: true }).dblclick();
      await page.clock.pauseAt(Date.now() + 3_600_000);
      tell();
      const send = page.getByRole("dialog").getByRole("button", { name: "Send" });
      for (const passed of [0, 400]) {
        await page.clock.runFor(passed);
        await send.click();
        assert.ok(await send.isVisible(), `after ${passed} ms`);
      }
      await page.clock.runFor(100);
      await send.click();
      await give.locator(".status", { hasText: "200" }).waitFor();
      assert.is(asked.length, 2);
    }),
);

results(
  "a double tap on Send, or a key that is held down, sends once",
  () =>
    inPage(async (page) => {
      const respond = await hold(page, "**/t/slow");
      const slow = operationAt(page, "slow");
      await openForm(slow);
      const isSent = await slow.locator(".send").evaluate((button) =>
        ["touch", "touch", ""].map((pointerType) =>
          button.dispatchEvent(
            new PointerEvent("click", { pointerType, detail: 1, bubbles: true, cancelable: true }),
          )
        )
      );
      assert.equal(isSent, [true, false, false]);
      respond();
      await slow.locator(".status", { hasText: "200" }).waitFor();
      assert.is(asked.length, 1);
    }),
);

results(
  "nothing is sent if the chain is unknown or has changed since the form was opened",
  () =>
    inPage(async (page) => {
      const operation = operationAt(page, "give");
      const opened = page.waitForResponse("**/v1/info");
      await openForm(operation);
      await opened;
      await page.waitForLoadState("networkidle").catch(() => {});
      info = { ...NODE, chain_id: "0x1" };
      await operation.getByRole("button", { name: "Send", exact: true }).click();
      await operation.getByText(/^Not sent: the chain is now 0x1,/).waitFor();
      info = undefined;
      await operation.getByRole("button", { name: "Send", exact: true }).click();
      await operation.getByText(/^Not sent: the service does not report/).waitFor();
      assert.equal(asked, []);
      assert.is(await page.getByRole("dialog").count(), 0);
    }),
);

results(
  "a result scrolls into view, explains its numbers, and folds long values",
  () =>
    inPage(async (page) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      const operation = page.locator("#plain article").first();
      await openForm(operation);
      await sendForm(operation);
      const pre = operation.locator(".response pre").first();
      const seen = await pre.evaluate((pre) => {
        const { top } = pre.getBoundingClientRect();
        return (innerHeight - top) / parseFloat(getComputedStyle(pre).lineHeight);
      });
      assert.ok(seen >= 6, `${seen} lines`);
      const notes = await pre.evaluate((pre) =>
        [...pre.querySelectorAll("[data-note]")].map((line) => (line as HTMLElement).dataset.note)
      );
      assert.equal(notes.slice(0, 4), [
        "= 315",
        "= 2026-11-22 08:32:20 UTC",
        "= 50 coins",
        "… 300 ]",
      ]);
      const ofItems = Array.from({ length: 299 }, (_, at) => {
        const coins = `0.${String(at + 1).padStart(8, "0")}`.replace(/0+$/, "");
        return `= ${coins} coins`;
      });
      assert.equal(notes.slice(4), ofItems);
      assert.is(await pre.locator("img").count(), 0);
      const long = pre.locator(".long");
      assert.is(await long.count(), 1);
      const heightOf = () => long.evaluate(({ offsetHeight }: HTMLElement) => offsetHeight);
      const folded = await heightOf();
      await pre.focus();
      await page.keyboard.press("Tab");
      assert.ok(await heightOf() > folded, "a long value is read by keyboard");
      await operation.getByRole("button", { name: "Send", exact: true }).focus();
      assert.is(await heightOf(), folded);
      // The folded list is in the page, so that the browser's search can find the text and unfold
      // the list.
      const last = pre.getByText('"at": 299');
      assert.is(await last.count(), 1);
      assert.not.match(await pre.innerText(), '"at": 299');
      await pre.locator("summary").click();
      await last.waitFor();
      assert.equal(await serious(page), []);
      await operation.getByRole("button", { name: "Copy" }).nth(1).click();
      await operation.getByRole("button", { name: "Copied" }).waitFor();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.is(copied, JSON.stringify(BLOCK, null, 2));
      const link = operation.getByRole("link", { name: /^Download/ });
      assert.is(await link.getAttribute("download"), "get-block-.json");
      const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
      assert.is(download.suggestedFilename(), "get-block-.json");
    }),
);

results(
  "a downloaded file never has a type that a browser opens",
  () =>
    inPage(async (page) => {
      // Records the types of new blobs, because the content security policy prevents the page from
      // reading a blob later.
      await page.evaluate(() => {
        const make = URL.createObjectURL.bind(URL);
        const types: string[] = [];
        Object.assign(globalThis, { types });
        URL.createObjectURL = (blob: Blob) => (types.push(blob.type), make(blob));
      });
      const operation = operationAt(page, "html");
      await openForm(operation);
      await sendForm(operation);
      assert.is(await operation.locator(".response script").count(), 0);
      const link = operation.getByRole("link", { name: /^Download/ });
      assert.match(await link.getAttribute("href") ?? "", /^blob:/);
      assert.is(await link.getAttribute("download"), "html.txt");
      assert.equal(await page.evaluate("types"), ["application/octet-stream"]);
    }),
);

results("JSON of 8 MB or more is shown without formatting", () =>
  inPage(async (page) => {
    for (const [name, start] of [["shorter", '{\n  "a": "xx'], ["long", '{"a":"xx']] as const) {
      const operation = operationAt(page, name);
      await openForm(operation);
      const { text } = await sendForm(operation);
      assert.ok(text.startsWith(start), `${name}: ${text.slice(0, 20)}`);
    }
  }));

results("an error is explained beside its field or status", () =>
  inPage(async (page) => {
    const refused = operationAt(page, "refused");
    await openForm(refused);
    assert.match(
      (await sendForm(refused)).line,
      /^422 .* · The node responded: Resource not found \(-32001\)$/,
    );
    const secret = operationAt(page, "secret");
    const form = await openForm(secret);
    const token = form.getByLabel("token");
    assert.match((await sendForm(secret)).line, /^401 .* · GET \/secret needs a client's token$/);
    assert.is(await token.getAttribute("aria-invalid"), "true");
    assert.ok(await token.evaluate((field) => field === document.activeElement));
    await token.fill("wrong");
    assert.is(await token.getAttribute("aria-invalid"), null);
    const { line } = await sendForm(secret);
    assert.match(line, /^401 /);
    assert.is(await token.getAttribute("aria-invalid"), "true");
    // The status gives the reason, once.
    assert.not.match(await form.innerText(), "client");
    const give = operationAt(page, "give");
    const fields = await openForm(give);
    await fields.getByRole("textbox", { name: /^n / }).fill("x");
    await fields.getByRole("textbox", { name: /^body/ }).fill("{");
    await give.getByRole("button", { name: "Send", exact: true }).click();
    await give.getByText("Fix the marked field.").waitFor();
    await fields.getByText("n must be a whole number").waitFor();
    await fields.getByText(/^body must be JSON: /).waitFor();
    assert.is(asked.filter(({ target }) => target.startsWith("/t/give")).length, 0);
  }));

results(
  "a long call shows how long it has taken, and an unreachable service is reported",
  () =>
    inPage(async (page) => {
      await page.route("**/t/slow", () => {});
      const operation = operationAt(page, "slow");
      await openForm(operation);
      await operation.getByRole("button", { name: "Send", exact: true }).click();
      await operation.getByText(/^Sending … [1-9] s$/).waitFor();
      await page.unroute("**/t/slow");
      await page.route("**/t/refused", (route) => route.abort("connectionrefused"));
      const refused = operationAt(page, "refused");
      await openForm(refused);
      const { line } = await sendForm(refused);
      assert.match(line, "No response: this service cannot be reached");
    }),
);

results("what a response or a stop leaves open is said", () =>
  inPage(async (page) => {
    const broken = operationAt(page, "broken");
    await openForm(broken);
    begun = page.waitForResponse("**/t/broken");
    const broke = await sendForm(broken);
    assert.match(broke.line, /^The response broke off · status 200 · /);
    const slow = operationAt(page, "begun");
    await openForm(slow);
    const arrives = page.waitForResponse("**/t/begun");
    await slow.getByRole("button", { name: "Send" }).click();
    await arrives;
    await slow.getByRole("button", { name: "Stop" }).click();
    await slow.getByText(/^Cancelled after \d/).waitFor();
    const odd = operationAt(page, "odd");
    await openForm(odd);
    const { line, text } = await sendForm(odd);
    assert.match(line, /^400 /);
    assert.match(text, "toString");
    await page.route("**/t/give**", () => {});
    const { operation } = await ask(page);
    await confirmSent(page);
    await operation.getByRole("button", { name: "Stop" }).click();
    await operation.getByText(/^Cancelled after .* · the node may have carried it out$/).waitFor();
  }));

results.run();
