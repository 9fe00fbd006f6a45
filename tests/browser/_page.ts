/** Helpers for browser tests of the explorer's two documents. */
import { mkdirSync } from "node:fs";
import type { Page, Route } from "playwright-core";
import { ROOT } from "../_paths.ts";

const SCREENSHOTS = `${ROOT}tests/.cache/screenshots/`;

export const NODE = {
  name: "harbour-2",
  software: "litecoind",
  version: "0.21.4",
  network: "main",
  chain_id: "0xfbc0b6db",
  height: 2941337,
  synced: true,
  peers: 42,
  status: "ok",
  api: { software: "nodeface", version: "0.2.0", started_at: "2026-01-31T08:15:00.000Z" },
};

export const SIMPLE = "v1/spec/simple";

export async function visit(page: Page, url: string, fragment = ""): Promise<void> {
  await page.goto(`${url}v1/spec${fragment}`);
  await mounted(page);
}

export async function mounted(page: Page): Promise<void> {
  await page.locator("#scalar h1").first().waitFor();
}

/**
 * The requests that match `pattern` wait until the returned function is called. Each request is
 * then passed to `end`, which continues or aborts the request.
 */
export async function hold(
  page: Page,
  pattern: string,
  end: (route: Route) => Promise<void> = (route) => route.continue(),
): Promise<() => void> {
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  await page.route(pattern, async (route) => {
    await held;
    await end(route);
  });
  return release;
}

export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}${name}.png`, animations: "disabled" });
}

export async function send(page: Page, path: string): Promise<void> {
  await page.getByRole("button", { name: new RegExp(`^Test Request.*get ${path}\\)`) }).click();
  await page.getByRole("button", { name: /^Send get request/ }).click();
}

export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press("Tab");
    const text = await page.evaluate(() => {
      const element = document.activeElement;
      const [label] = element instanceof HTMLInputElement ? element.labels ?? [] : [];
      return element?.getAttribute("aria-label") ?? (label ?? element)?.textContent?.trim() ?? "";
    });
    if (name.test(text)) return;
  }
  throw new Error(`The Tab key does not reach an element named ${name}`);
}

/** `observeShifts` sets this global variable of the page. */
export interface Shifts {
  shift: number;
}

interface LayoutShift extends PerformanceEntry {
  value: number;
  sources: readonly { node: Node | null }[];
}

/**
 * Adds up all layout shifts of the current page, including those before this call. What moves
 * within Scalar only is Scalar's own.
 */
export function observeShifts(): void {
  const shifts = globalThis as unknown as Shifts;
  shifts.shift = 0;
  new PerformanceObserver((list) => {
    const scalar = document.getElementById("scalar");
    for (const { value, sources } of list.getEntries() as LayoutShift[]) {
      if (!sources.every(({ node }) => scalar?.contains(node))) shifts.shift += value;
    }
  }).observe({ type: "layout-shift", buffered: true });
}

export const fitsInWidth = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
