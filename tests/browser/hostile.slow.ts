import type { Browser } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { closePages, launch, watch } from "./_browser.ts";
import { SIMPLE } from "./_page.ts";
import { serveNode } from "./_serve.ts";

const hostile = suite("the explorer with a hostile description");

const ATTACK = [
  `<script>globalThis.ran = true</script>`,
  `<img src="data:," onerror="globalThis.ran = true">`,
  `<svg onload="globalThis.ran = true"></svg>`,
  `<iframe srcdoc="<script>parent.ran = true</script>"></iframe>`,
  `<style>body { display: none }</style>`,
  `[follow](javascript:globalThis.ran=true)`,
  `![seen](https://elsewhere.example/pixel.png)`,
].join("\n\n");

let browser: Browser;
hostile.before(async () => void (browser = await launch()));
hostile.after(() => closePages(browser));

hostile("code in a description is never executed, and no other host gets a request", async () => {
  await inExplorer(describe(ATTACK), async (page, complaints) => {
    for (const link of await page.locator(":is(#scalar, #plain)").getByText("follow").all()) {
      if (await link.isVisible()) await link.click();
    }
    assert.ok(await page.locator(":is(#scalar h1, #plain h2)").first().isVisible());
    assert.is(await page.evaluate(() => "ran" in globalThis), false);
    // Requests that the content security policy blocked are also in `failed`, but without an HTTP
    // status.
    const answered = complaints.failed.filter((text) => /^\d+ /.test(text));
    assert.equal(answered, []);
  });
});

hostile("the page stays readable with a text of 2 MB", async () => {
  await inExplorer(describe("word ".repeat(400_000)), async (page) => {
    assert.ok(await page.locator(":is(#scalar h1, #plain h2)").first().isVisible());
  });
});

// A description may be nested up to 256 levels deep, and each nested property of a schema takes two
// levels.
for (const depth of [60, 115]) {
  hostile(`the page stays readable with a schema that is ${depth} levels deep`, async () => {
    let schema: unknown = { type: "string" };
    for (let i = 0; i < depth; i++) schema = { type: "object", properties: { a: schema } };
    await inExplorer(describe("deep", schema), async (page) => {
      // If Scalar fails, the page must show at least the link to the simple page.
      assert.ok(
        await page.locator(
          "#scalar h1:visible, #plain h2:visible, #loading a:visible, #other:visible",
        ).first().isVisible(),
      );
    });
  });
}

function describe(text: string, schema: unknown = { type: "string", description: text }): unknown {
  return {
    openapi: "3.1.0",
    info: { title: text.slice(0, 300), version: text.slice(0, 300), description: text },
    tags: [{ name: "Tag", description: text }],
    paths: {
      "/v1/info": {
        get: {
          tags: ["Tag"],
          summary: text.slice(0, 300),
          description: text,
          parameters: [{ name: "a", in: "query", description: text, schema }],
          responses: { 200: { description: text, content: { "application/json": { schema } } } },
        },
      },
    },
  };
}

async function inExplorer(
  document: unknown,
  work: (
    page: Awaited<ReturnType<Browser["newPage"]>>,
    complaints: Awaited<ReturnType<typeof watch>>,
  ) => Promise<void>,
) {
  const server = await serveNode({ document });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  try {
    const complaints = await watch(page, new URL(server.url).origin);
    await page.goto(server.url + SIMPLE);
    await page.locator("#plain h2").first().waitFor();
    await work(page, complaints);
    // Scalar may fail before it shows anything.
    const givenUp = new Promise((resolve) => page.once("pageerror", resolve));
    await page.goto(`${server.url}v1/spec`, { waitUntil: "commit" });
    await Promise.race([page.locator("#scalar h1").first().waitFor(), givenUp]);
    await work(page, complaints);
  } finally {
    await page.close();
    await server.close();
  }
}

hostile.run();
