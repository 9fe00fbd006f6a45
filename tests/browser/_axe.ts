/** What axe finds on a page. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { ROOT } from "../_paths.ts";

/** axe is put in past the content policy, which would refuse it. */
const AXE = readFileSync(`${ROOT}tests/node_modules/axe-core/axe.min.js`, "utf8");

/**
 * What axe calls serious in Scalar 1.72.1 as it is: `docs/scalar.md` has a line on each rule. Nothing else may come,
 * and the simple page has none of these.
 */
const KNOWN = [
  ...["button-name", "link-name", "label-content-name-mismatch", "scrollable-region-focusable"],
  ...["aria-input-field-name", "aria-prohibited-attr", "aria-required-attr"],
  "aria-valid-attr-value",
];

/** What axe calls serious or critical in the reference, besides what is known of Scalar. */
export const unknownIn = async (page: Page): Promise<string[]> =>
  (await serious(page)).filter((found) => !KNOWN.some((rule) => found.startsWith(`${rule}: `)));

/** What axe calls serious or critical: the rule, the element and what is wrong with it. */
export async function serious(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  // What is still fading in has less contrast than it will have.
  await page.evaluate(() =>
    Promise.allSettled(document.getAnimations().map(({ finished }) => finished))
  );
  return await page.evaluate(async () => {
    interface Violation {
      id: string;
      impact: string;
      nodes: { html: string; failureSummary: string }[];
    }
    const { axe } = globalThis as unknown as {
      axe: { run(root: Document): Promise<{ violations: Violation[] }> };
    };
    const { violations } = await axe.run(document);
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`)
      );
  });
}
