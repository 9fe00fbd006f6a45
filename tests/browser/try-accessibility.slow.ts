import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { createNodeface } from "../../src/index.ts";
import { serious } from "./_axe.ts";
import { closePages, launch } from "./_browser.ts";
import { picture, SIMPLE } from "./_page.ts";
import type { Served } from "./_serve.ts";
import { answer, openForm, operationAt, sendForm } from "./_try.ts";

const everyone = suite("accessibility of the simple page's forms");

const LONG = "0x" + "a".repeat(250);

let browser: Browser;
let server: Served;

everyone.before(async () => {
  const service = createNodeface({
    log: () => {},
    operations: [{
      method: "POST",
      path: "/v1/things/{id}",
      operation: {
        operationId: "things",
        parameters: [
          { name: "id", in: "path", required: true, schema: { type: "string" }, example: LONG },
          { name: "colour", in: "query", schema: { type: "string", enum: ["red", "blue"] } },
        ],
        requestBody: { content: { "application/json": { example: { a: LONG } } } },
        responses: { 200: { description: "Done" } },
      },
      handle: () =>
        Response.json(
          { title: "Bad Request", errors: [{ in: "query", name: "colour", rule: "is wrong" }] },
          { status: 400 },
        ),
    }],
  });
  [server, browser] = await Promise.all([
    serve(service, { hostname: "127.0.0.1", port: 0 }),
    launch(),
  ]);
});
everyone.after(async () => {
  await closePages(browser);
  await server?.close();
});

async function inPage(options: BrowserContextOptions, work: (page: Page) => Promise<void>) {
  const viewport = { width: 1280, height: 900 };
  const context = await browser.newContext({ viewport, bypassCSP: true, ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(server.url + SIMPLE, { waitUntil: "commit" });
    await work(page);
  } finally {
    await context.close();
  }
}

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1280, 390, 320]) {
    everyone(
      `axe finds nothing serious before, during and after a request, ${colorScheme}, ${width} px`,
      () =>
        inPage({ colorScheme, viewport: { width, height: 800 } }, async (page) => {
          const fits = () =>
            page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
          for (const name of ["getInfo", "things"]) {
            const operation = operationAt(page, name);
            const form = await openForm(operation);
            await form.scrollIntoViewIfNeeded();
            assert.equal(await serious(page), [], `${name} before`);
            await operation.getByRole("button", { name: "Send", exact: true }).focus();
            await picture(page, `try-${name}-${colorScheme}-${width}`);
            await sendForm(operation);
            assert.equal(await serious(page), [], `${name} after`);
            await operation.locator(".status").scrollIntoViewIfNeeded();
            await picture(page, `tried-${name}-${colorScheme}-${width}`);
            assert.ok(await fits(), `${name} is wider than ${width} px`);
          }
          await openForm(operationAt(page, "getHealth"));
          await page.route("**/v1/health*", () => {});
          await operationAt(page, "getHealth").getByRole("button", { name: "Send" }).click();
          await operationAt(page, "getHealth").getByText("Sending").waitFor();
          assert.equal(await serious(page), [], "while it is sent");
        }),
    );
  }
}

everyone(
  "the keyboard alone is enough to open an operation, send it and reach its response",
  () =>
    inPage({}, async (page) => {
      await operationAt(page, "things").locator("summary").focus();
      await page.keyboard.press("Enter");
      const form = operationAt(page, "things").locator("form");
      await form.waitFor();
      const focused = () =>
        page.evaluate(() => {
          const { activeElement } = document;
          const outline = getComputedStyle(activeElement!).outlineStyle;
          const label = (activeElement as HTMLInputElement).labels?.[0]?.textContent;
          return [label ?? activeElement!.ariaLabel ?? activeElement!.textContent, outline];
        });
      const names: string[] = [];
      for (let presses = 0; presses < 5; presses++) {
        await page.keyboard.press("Tab");
        const [name, outline] = await focused();
        names.push(name!);
        assert.is(outline, "solid", `the focus on ${name} is not visible`);
        if (name === "Send") break;
      }
      assert.equal(
        names,
        ["id path, string, required", "colour query, string", "body application/json", "Send"],
      );
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      assert.equal(await focused(), ["Cancel", "solid"]);
      await page.keyboard.press("Tab");
      assert.equal(await focused(), ["Send", "solid"]);
      await answer(dialog, () => page.keyboard.press("Enter"));
      await page.waitForFunction(() => document.activeElement?.matches("select[aria-invalid]"));
      for (
        const name of ["body application/json", "Send", "Response body", "Copy"]
      ) {
        await page.keyboard.press("Tab");
        assert.match((await focused())[0]!, name);
      }
    }),
);

everyone(
  "on a phone, every control is at least 44 px high and 44 px wide",
  () =>
    inPage({ viewport: { width: 390, height: 844 }, hasTouch: true }, async (page) => {
      const operation = operationAt(page, "things");
      await openForm(operation);
      await sendForm(operation);
      for (
        const target of await operation.locator("input, select, textarea, button, summary").all()
      ) {
        const { width, height } = (await target.boundingBox())!;
        const name = await target.evaluate((element) => element.outerHTML);
        assert.ok(width >= 44 && height >= 44, `${name} is ${width} by ${height} px`);
      }
    }),
);

everyone("a printed page has no forms", () =>
  inPage({}, async (page) => {
    await openForm(operationAt(page, "things"));
    await page.emulateMedia({ media: "print" });
    assert.is(await page.locator("#plain :is(form, button, .try)").first().isVisible(), false);
    assert.ok(await operationAt(page, "things").locator("pre").first().isVisible());
    await picture(page, "try-print");
  }));

everyone.run();
