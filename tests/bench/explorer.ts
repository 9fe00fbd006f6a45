/**
 * Measures when API explorers become readable and usable on a slow connection. All explorers show
 * the same description.
 */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Browser } from "playwright-core";
import { ROOT } from "../_paths.ts";
import { launch } from "../browser/_browser.ts";
import { FOLDER } from "./answers.ts";
import { type Explorer, EXPLORERS, NODEFACE } from "./explorers.ts";
import { type Options, type Section, step, Table } from "./output.ts";
import { start } from "./processes.ts";
import { chosen } from "./servers.ts";
import { median } from "./statistics.ts";

const PEERS = `${ROOT}tests/bench/peers/node_modules/`;
const MODULES: Readonly<Record<string, string>> = { "@scalar": `${ROOT}node_modules/` };

/** Only Nodeface is measured with these descriptions. */
const LARGE: readonly (readonly [name: string, file: string])[] = [
  ["Nodeface, Ergo's description, 0.2 MB", `${ROOT}tests/description/ergo-openapi.yaml`],
  ["Nodeface, GitHub's description, 13 MB", `${ROOT}tests/.cache/documents/github.json`],
];

/** The latency is in milliseconds. The throughput is in bytes per second. */
const LINE = {
  offline: false,
  latency: 150,
  downloadThroughput: 200_000,
  uploadThroughput: 93_750,
};
const SLOWER = { rate: 4 };

/** The time limit for an explorer, in milliseconds. */
const PATIENCE = 60_000;

export async function explorer({ isQuick }: Options): Promise<Section> {
  const [node26] = chosen(["node26"]);
  const own = await start((port) => node26!.nodeface.command(port, ""));
  const ownUrl = `http://127.0.0.1:${own.port}`;
  const others = await serveExplorers(ownUrl);
  const browser = await launch();
  const head = ["explorer", "readable, s", "answered, s", "kB", "requests"];
  const table = new Table(head);
  const measure = async (name: string, each: Explorer, url: string) => {
    const visits: Visit[] = [];
    for (let round = 0; round < (isQuick ? 1 : 2); round++) {
      step(`${name}: visit ${round + 1}`);
      visits.push(await visit(browser, each, url));
    }
    const of = (what: keyof Visit) => median(visits.map((each) => each[what]));
    const times = [of("readable") / 1000, of("answered") / 1000];
    const requests = Math.max(...visits.map((each) => each.requests));
    table.add(name, ...times, of("bytes") / 1000, `${requests}`);
  };
  for (const each of EXPLORERS) await measure(each.name, each, each.html ? others.url : ownUrl);
  const node = await serveNode();
  for (const [name, file] of LARGE) {
    if (!existsSync(file)) continue;
    const configuration = join(FOLDER, "explorer.json");
    await writeFile(
      configuration,
      JSON.stringify({
        node: { url: node.url, kind: "none" },
        description: await atNode(file),
        forward: { open: ["GET *"] },
      }),
    );
    const command = (port: number) => [
      ...node26!.nodeface.command(port, ""),
      ...["--config", configuration],
    ];
    const served = await start(command);
    const url = `http://127.0.0.1:${served.port}`;
    await untilDescribed(url);
    await measure(name, NODEFACE, url);
    await served.stop();
  }
  const text =
    `Each explorer shows Nodeface's own description in Chromium ${browser.version()} with an empty cache. The connection
has 1.6 Mbit/s and a latency of 150 ms, and the processor is slowed down by a factor of four. "Readable" is the time
until an operation is visible. "Answered" is the time until the response to the first call is visible. Both are the
mean of two visits. To make this call, a script clicks each button as soon as the button is visible. The columns "kB" (compressed with gzip) and
"requests" show the traffic until the "answered" time. Redoc cannot send calls. The last two rows measure the simple
page with a larger description, and with a call to a node.`;
  await browser.close();
  others.close();
  node.close();
  await own.stop();
  return { title: "The explorer", text, table };
}

/** Without `servers` in the description, the explorer sends calls to the node. */
async function atNode(file: string): Promise<string> {
  if (!file.endsWith(".json")) return file;
  const { servers: _, ...document } = JSON.parse(await readFile(file, "utf8"));
  const copy = join(FOLDER, "explorer-large.json");
  await writeFile(copy, JSON.stringify(document));
  return copy;
}

/** The service shows the page before it has read the description. */
async function untilDescribed(url: string): Promise<void> {
  for (const end = performance.now() + PATIENCE; performance.now() < end;) {
    const page = await (await fetch(`${url}/v1/spec/simple`)).text();
    if (page.includes("v1/node")) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${url} does not show its description after ${PATIENCE / 1000} s`);
}

const serveNode = () =>
  listen((_, response) => response.setHeader("content-type", "application/json").end("[]"));

/**
 * Times are in milliseconds since the navigation began. `bytes` counts the bytes received until
 * `answered` or, if `answered` is NaN, until `readable`.
 */
interface Visit {
  readable: number;
  /** NaN if the explorer cannot send operations. */
  answered: number;
  bytes: number;
  requests: number;
}

async function visit(browser: Browser, explorer: Explorer, url: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const received = new Map<string, number>();
  session.on("Network.dataReceived", ({ requestId, encodedDataLength }) => {
    received.set(requestId, (received.get(requestId) ?? 0) + encodedDataLength);
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    received.set(requestId, encodedDataLength);
  });
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", LINE);
  await session.send("Emulation.setCPUThrottlingRate", SLOWER);
  await page.addInitScript(watch(explorer));
  await page.goto(url + explorer.page, { waitUntil: "commit" });
  const seen = async (what: "readable" | "answered") => {
    const isSeen = (what: string) => (globalThis as unknown as Noted).times[what];
    const time = await page.waitForFunction(isSeen, what, { timeout: PATIENCE }).catch(() => {
      throw new Error(`${explorer.name} is not ${what} after ${PATIENCE / 1000} s`);
    });
    return Number(await time.jsonValue());
  };
  const readable = await seen("readable");
  const answered = explorer.presses.length > 0 ? await seen("answered") : NaN;
  const bytes = [...received.values()].reduce((sum, size) => sum + size, 0);
  await context.close();
  return { readable, answered, bytes, requests: received.size };
}

type Noted = { times: Record<string, number> };

const watch = ({ readable, presses, answered }: Explorer): string =>
  `{
  globalThis.times = {};
  const presses = [${presses.map((press) => `() => ${press}`).join(", ")}];
  const isSeen = (element) => element?.getClientRects().length > 0;
  const look = () => {
    if (isSeen(${readable})) times.readable ??= performance.now();
    const next = presses[0]?.();
    if (isSeen(next)) presses.shift(), next.click();
    if (presses.length === 0 && isSeen(${answered})) times.answered ??= performance.now();
    requestAnimationFrame(look);
  };
  look();
}`;

async function serveExplorers(own: string): Promise<Listening> {
  const files = new Map<string, Uint8Array>();
  const encode = promisify(gzip);
  const read = async (path: string) => await (await fetch(own + path)).text();
  files.set("/v1/info", await encode(await read("/v1/info")));
  for (const { page, html = "" } of EXPLORERS) {
    if (!html) continue;
    files.set(page, await encode(html));
    for (const [, path = ""] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const folder = MODULES[path.split("/")[0]!] ?? PEERS;
      files.set(`/${path}`, await encode(await readFile(folder + path)));
    }
  }
  const types: Record<string, string> = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
  };
  const served = await listen(({ url = "" }, response) => {
    const file = files.get(url);
    if (!file) return void response.writeHead(404).end();
    const type = url === "/v1/info" ? types[".json"] : types[extname(url)] ?? "text/html";
    response.writeHead(200, { "content-type": type, "content-encoding": "gzip" }).end(file);
  });
  // Not all explorers support a relative server URL.
  const spec = JSON.parse(await read("/spec.json"));
  files.set(
    "/spec.json",
    await encode(JSON.stringify({ ...spec, servers: [{ url: served.url }] })),
  );
  return served;
}

interface Listening {
  readonly url: string;
  close(): void;
}

async function listen(answer: RequestListener): Promise<Listening> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}
