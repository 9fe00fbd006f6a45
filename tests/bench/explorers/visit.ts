/** One visit to an explorer, and what it took. */
import type { BrowserContext } from "playwright-core";
import type { Explorer } from "./explorers.ts";
import type { Line } from "./lines.ts";

/** Milliseconds since the navigation began, and what went over the line until it was ready. */
export interface Visit {
  /** The first paint with any content. */
  painted: number;
  readable: number;
  /** `null` where nothing can be tried. */
  ready: number | null;
  bytes: number;
  requests: number;
  /** Requests to any other origin. */
  outside: number;
}

/** How long an explorer may take, in milliseconds. */
const PATIENCE = 60_000;

/** What the page notes down for itself. */
interface Noted {
  times: Record<string, number>;
}

/**
 * Visits an explorer once.
 *
 * @param url where it is served, with a slash at the end
 */
export async function visit(
  context: BrowserContext,
  { name, page: path, readable, ready }: Explorer,
  url: string,
  { network, slower }: Line,
): Promise<Visit> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let bytes = 0, requests = 0, outside = 0;
  await session.send("Network.enable");
  session.on("Network.loadingFinished", ({ encodedDataLength }) => bytes += encodedDataLength);
  if (network) {
    await session.send("Network.emulateNetworkConditions", { offline: false, ...network });
  }
  if (slower > 1) await session.send("Emulation.setCPUThrottlingRate", { rate: slower });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (!/^https?:$/.test(protocol)) return;
    requests++;
    if (origin !== new URL(url).origin) outside++;
  });
  await page.addInitScript(`{
    const times = globalThis.times = {};
    const look = () => {
      if (!times.readable && ${readable}) times.readable = performance.now();
      if (!times.ready && ${ready}) times.ready = performance.now();
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }`);
  await page.goto(url + path, { waitUntil: "commit" });
  const seen = async (what: "readable" | "ready") => {
    const time = await page.waitForFunction(
      (what) => (globalThis as unknown as Noted).times[what],
      what,
      { timeout: PATIENCE },
    ).catch(() => {
      throw new Error(`${name} is not ${what} after ${PATIENCE / 1000} s`);
    });
    return Number(await time.jsonValue());
  };
  const readableAt = await seen("readable");
  const readyAt = ready === "false" ? null : await seen("ready");
  const until = { bytes, requests, outside };
  const painted = await page.waitForFunction(() =>
    performance.getEntriesByName("first-contentful-paint")[0]?.startTime
  );
  const paintedAt = Number(await painted.jsonValue());
  await page.close();
  return { painted: paintedAt, readable: readableAt, ready: readyAt, ...until };
}
