/**
 * `node --import tsx tests/bench/explorers.ts [ROUNDS] [NAMES]`: how soon each explorer can be read and
 * tried on a slow line (1.6 Mbit/s, 150 ms) and a processor four times slower than this one, how
 * many bytes that takes, and how many a second visit takes. One explorer after another, and all of
 * them again in each round; the table has the medians.
 * `NAMES` is a pattern for the explorers to be measured.
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import type { Browser, BrowserContext } from "playwright-core";
import { launch } from "../browser/_browser.ts";
import { serveNode } from "../browser/_serve.ts";
import { ROOT } from "../_paths.ts";
import { OWN, type Peer, PEERS, servePeers } from "./_peers.ts";

const ROUNDS = Number(process.argv[2] ?? 3);
const LINE = { latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const SLOWER = 4;
/** How long an explorer may take, in milliseconds. */
const PATIENCE = 60_000;

/** One visit: milliseconds since the navigation began, and bytes on the line. */
interface Visit {
  readable: number;
  ready: number;
  bytes: number;
}

spawnSync("npm", ["ci", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"], {
  cwd: `${ROOT}tests/bench`,
  stdio: ["ignore", "ignore", "inherit"],
});
const own = await serveNode();
const description = await (await fetch(`${own.url}spec.json`)).text();
const peers = await servePeers(description);
const browser = await launch();
const wanted = new RegExp(process.argv[3] ?? "");
const explorers = [{ ...OWN, url: own.url }, ...PEERS.map((peer) => ({ ...peer, url: peers.url }))]
  .filter(({ name }) => wanted.test(name));
const visits = new Map(explorers.map(({ name }) => [name, [] as [Visit, Visit][]]));

for (const explorer of explorers) await visitTwice(browser, explorer, false);
for (let round = 0; round < ROUNDS; round++) {
  for (const explorer of explorers) {
    visits.get(explorer.name)!.push(await visitTwice(browser, explorer, true));
  }
}
console.table(Object.fromEntries(
  [...visits].map(([name, pairs]) => {
    const of = (pick: (pair: [Visit, Visit]) => number) => median(pairs.map(pick));
    return [name, {
      "readable, s": seconds(of(([first]) => first.readable)),
      "ready to try, s": seconds(of(([first]) => first.ready)),
      "bytes until then": of(([first]) => first.bytes),
      "second visit, bytes": of(([, second]) => second.bytes),
    }];
  }),
));
await browser.close();
peers.close();
await own.close();

/** Visits a page with an empty cache, and once more with what is in it then. */
async function visitTwice(
  browser: Browser,
  explorer: Peer & { url: string },
  slow: boolean,
): Promise<[Visit, Visit]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const first = await visit(context, explorer, slow);
  const second = await visit(context, explorer, slow);
  await context.close();
  return [first, second];
}

async function visit(
  context: BrowserContext,
  { url, page: path, readable, ready }: Peer & { url: string },
  slow: boolean,
): Promise<Visit> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let bytes = 0;
  await session.send("Network.enable");
  session.on("Network.loadingFinished", ({ encodedDataLength }) => bytes += encodedDataLength);
  if (slow) {
    await session.send("Network.emulateNetworkConditions", { offline: false, ...LINE });
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  }
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
      (what) => (globalThis as unknown as { times: Record<string, number> }).times[what],
      what,
      { timeout: PATIENCE },
    );
    return Number(await time.jsonValue());
  };
  const result = { readable: await seen("readable"), ready: NaN, bytes: 0 };
  if (ready !== "false") result.ready = await seen("ready");
  result.bytes = bytes;
  await page.close();
  return result;
}

function median(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[numbers.length >> 1] ?? NaN;
}

function seconds(milliseconds: number): number {
  return Number((milliseconds / 1000).toFixed(2));
}
