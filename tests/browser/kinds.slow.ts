/** Both views of each built-in kind, beside a node that is down. */
import type { Browser } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { KINDS } from "../../src/generated/kinds.js";
import { createNodeface } from "../../src/index.ts";
import { serious } from "./_axe.ts";
import { closePages, inContext, launch, QUIET, watch } from "./_browser.ts";
import { fitsInWidth, SIMPLE, visit } from "./_page.ts";

const kinds = suite("the page of each built-in kind");

let browser: Browser;

kinds.before(async () => {
  browser = await launch();
});
kinds.after(() => closePages(browser));

for (const kind of Object.keys(KINDS)) {
  kinds(`both views of ${kind} open without an error, and without another host`, async () => {
    const service = createNodeface({
      node: { url: "http://127.0.0.1:1", kind },
      forward: "reads",
      log: () => {},
    });
    const { url, close } = await serve(service, { hostname: "127.0.0.1", port: 0 });
    try {
      await inContext(browser, {}, async (page) => {
        const complaints = await watch(page, new URL(url).origin);
        await page.goto(url + SIMPLE);
        await page.locator("#plain article").first().waitFor();
        assert.equal(await serious(page), []);
        assert.ok(await fitsInWidth(page));
        await visit(page, url);
        await page.waitForLoadState("networkidle");
        assert.ok(await fitsInWidth(page));
        assert.equal(complaints, QUIET);
      });
    } finally {
      await close();
      await service.close();
    }
  });
}

kinds.run();
