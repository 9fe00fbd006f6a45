/** What the browser suites do with the explorer page. */
import { mkdirSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { ROOT } from "../_paths.ts";

/** Where the pictures of a test run are, which git ignores. */
const SCREENSHOTS = `${ROOT}tests/.cache/screenshots/`;

/** A node that is well. */
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

/** Visits the explorer and waits for Scalar to have taken its place. */
export async function visit(page: Page, url: string, fragment = ""): Promise<void> {
  await page.goto(`${url}v1/spec${fragment}`);
  await mounted(page);
}

/** Waits for Scalar to have taken its place. */
export async function mounted(page: Page): Promise<void> {
  await page.locator("html.mounted").waitFor();
  await page.locator("#scalar h1").waitFor();
}

/** Keeps Scalar from starting until it is released. */
export const holdScalar = (page: Page) => hold(page, "**/standalone.esm.js");

/** Keeps requests waiting until they are released. */
export async function hold(page: Page, pattern: string): Promise<() => void> {
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  await page.route(pattern, async (route) => {
    await held;
    await route.continue();
  });
  return release;
}

/** Keeps a picture of what is seen. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}${name}.png`, animations: "disabled" });
}

/** Opens the client on an operation and sends its request. */
export async function send(page: Page, path: string): Promise<void> {
  await page.getByRole("button", { name: new RegExp(`^Test Request.*get ${path}\\)`) }).click();
  await page.getByRole("button", { name: /^Send get request/ }).click();
}

/** Keeps a picture that has been taken, as base64 of PNG. */
export function keepPicture(data: string, name: string): void {
  mkdirSync(SCREENSHOTS, { recursive: true });
  writeFileSync(`${SCREENSHOTS}${name}.png`, Buffer.from(data, "base64"));
}
