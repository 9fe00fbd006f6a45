/** Runs axe, an accessibility checker, on a page, and lists the serious and critical violations. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { ROOT } from "../_paths.ts";

/** Playwright injects axe, so the page's content security policy does not block axe. */
const AXE = readFileSync(`${ROOT}tests/node_modules/axe-core/axe.min.js`, "utf8");

/**
 * The axe rules that an unmodified Scalar 1.76.0 seriously violates. `docs/scalar.md` explains each
 * violation.
 */
const KNOWN = [
  ...["button-name", "link-name", "label-content-name-mismatch", "scrollable-region-focusable"],
  ...["aria-input-field-name", "aria-prohibited-attr", "aria-required-attr"],
  "aria-valid-attr-value",
];

export const unknownIn = async (page: Page): Promise<string[]> =>
  (await serious(page)).filter((found) => !KNOWN.some((rule) => found.startsWith(`${rule}: `)));

export async function serious(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  // An element has too little contrast while it fades in, so axe runs only after all animations.
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
