/** Findings of axe on a page. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { ROOT } from "../_paths.ts";

/** The script of axe; injecting it bypasses the content policy. */
const AXE = readFileSync(`${ROOT}tests/node_modules/axe-core/axe.min.js`, "utf8");

/**
 * The serious findings of axe in an unmodified Scalar 1.72.1, with a line in `docs/scalar.md` for each rule. No others
 * are allowed, and the simple page has none of these.
 */
const KNOWN = [
  ...["button-name", "link-name", "label-content-name-mismatch", "scrollable-region-focusable"],
  ...["aria-input-field-name", "aria-prohibited-attr", "aria-required-attr"],
  "aria-valid-attr-value",
];

/** Lists axe's serious or critical findings in the reference, except Scalar's known ones. */
export const unknownIn = async (page: Page): Promise<string[]> =>
  (await serious(page)).filter((found) => !KNOWN.some((rule) => found.startsWith(`${rule}: `)));

/** Lists axe's serious or critical findings: the rule, the element and the fault. */
export async function serious(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  // An element that is still fading in has less contrast than it will have.
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
