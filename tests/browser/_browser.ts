/** Starts the Chromium of the test packages, and records unwanted events on a page. */
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

const require = createRequire(new URL("../package.json", import.meta.url));
const { chromium } = require("playwright-core") as typeof import("playwright-core");
const CHROMIUM = require.resolve("@sparticuz/chromium");

/** The longest wait for a page, in milliseconds. Only a failing test waits that long. */
export const PATIENCE = 60_000;

export interface Complaints {
  /** URLs of requests to other origins. */
  outside: string[];
  /** Console errors and warnings, and uncaught errors. */
  console: string[];
  /** Responses with a status of 400 or above, and failed requests. */
  failed: string[];
  /** Violations of the content security policy, including those that the console does not show. */
  refused: string[];
}

export const QUIET: Complaints = { outside: [], console: [], failed: [], refused: [] };

let started: Promise<Browser> | undefined;

/** Chromium exits with the process. */
export function launch(): Promise<Browser> {
  return started ??= start();
}

export async function closePages(browser: Browser | undefined): Promise<void> {
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
}

/**
 * The libraries come from Chromium's own package, because the system may lack them.
 *
 * @param more further command-line arguments
 */
export async function start(more: readonly string[] = []): Promise<Browser> {
  const { default: packaged, inflate } = await import(pathToFileURL(CHROMIUM).href);
  await inflate(join(dirname(CHROMIUM), "../bin/al2023.tar.br"));
  const executablePath = await packaged.executablePath();
  // That of Chromium's package names /tmp/fonts. Without a font, Chromium crashes.
  const fonts = join(tmpdir(), "fonts.conf");
  await writeFile(
    fonts,
    `<fontconfig><dir>${tmpdir()}/fonts</dir><cachedir>${tmpdir()}/fonts-cache</cachedir></fontconfig>`,
  );
  return await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
    env: {
      ...process.env as Record<string, string>,
      LD_LIBRARY_PATH: join(tmpdir(), "al2023/lib"),
      FONTCONFIG_FILE: fonts,
    },
  });
}

/**
 * Call `watch` before a navigation, because the added script does not run in the current document.
 */
export async function watch(page: Page, origin: string): Promise<Complaints> {
  const complaints: Complaints = { outside: [], console: [], failed: [], refused: [] };
  page.setDefaultTimeout(PATIENCE);
  page.on("request", (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== "data:" && protocol !== "blob:" && asked !== origin) {
      complaints.outside.push(request.url());
    }
  });
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.failed.push(`${response.status()} ${response.url()}`);
  });
  page.on("requestfailed", (request) => {
    // Leaving or closing a page aborts its pending requests.
    if (request.failure()?.errorText !== "net::ERR_ABORTED") complaints.failed.push(request.url());
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.console.push(message.text());
  });
  page.on("pageerror", (error) => complaints.console.push(error.message));
  await page.exposeFunction("reportRefusal", (text: string) => complaints.refused.push(text));
  await page.addInitScript(() => {
    const { reportRefusal } = globalThis as unknown as { reportRefusal(text: string): void };
    addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
      reportRefusal(`${effectiveDirective} ${blockedURI}`);
    });
  });
  return complaints;
}

/** Runs `work` in a page of a context of its own. */
export async function inContext(
  browser: Browser,
  options: BrowserContextOptions,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    // tsx inserts calls of its helper `__name` into functions, but the page does not define
    // `__name`.
    await page.addInitScript("globalThis.__name = (named) => named");
    await work(page);
  } finally {
    await context.close();
  }
}
