/** How soon explorers of the same description can be read and tried on a slow line. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import type { Browser } from "playwright-core";
import { ROOT } from "../_paths.ts";
import { launch } from "../browser/_browser.ts";
import { type Section, step, Table } from "./output.ts";
import { start } from "./processes.ts";
import { chosen } from "./servers.ts";
import { median } from "./statistics.ts";

/** An explorer. */
interface Explorer {
  name: string;
  page: string;
  /** What is visible once an operation can be read, and once it can be tried. */
  readable: string;
  ready: string;
  /** Its page as its own documentation has it; Nodeface serves itself. */
  html?: string;
}

const EXPLORERS: readonly Explorer[] = [
  {
    name: "Nodeface",
    page: "/v1/spec",
    readable: "#plain h3",
    ready: "html.mounted .show-api-client-button",
  },
  {
    name: "Scalar",
    page: "/scalar",
    readable: ".show-api-client-button",
    ready: ".show-api-client-button",
    html: `<!DOCTYPE html><meta charset="utf-8"><div id="app"></div>
      <script src="@scalar/api-reference/dist/browser/standalone.js"></script>
      <script>Scalar.createApiReference("#app", { url: "spec.json" })</script>`,
  },
  {
    name: "Swagger UI",
    page: "/swagger-ui",
    readable: ".opblock-summary-path",
    ready: ".opblock-summary-path",
    html: `<!DOCTYPE html><meta charset="utf-8"><div id="app"></div>
      <link rel="stylesheet" href="swagger-ui-dist/swagger-ui.css">
      <script src="swagger-ui-dist/swagger-ui-bundle.js"></script>
      <script>SwaggerUIBundle({ url: "spec.json", dom_id: "#app" })</script>`,
  },
];

/** Where their packages are. */
const MODULES: Readonly<Record<string, string>> = {
  "@scalar": `${ROOT}node_modules/`,
  "swagger-ui-dist": `${ROOT}tests/bench/peers/node_modules/`,
};

/** 1.6 Mbit/s and 150 ms, in bytes a second; and a processor four times slower than this one. */
const LINE = {
  offline: false,
  latency: 150,
  downloadThroughput: 200_000,
  uploadThroughput: 93_750,
};
const SLOWER = { rate: 4 };

/** How long an explorer may take, in milliseconds. */
const PATIENCE = 60_000;

/** Measures Nodeface's page on Node 26 beside two others. */
export async function explorer(_only: readonly string[], isQuick: boolean): Promise<Section> {
  const [node26] = chosen(["node26"]);
  const own = await start((port) => node26!.nodeface.command(port, ""));
  const ownUrl = `http://127.0.0.1:${own.port}`;
  const others = await serveExplorers(await (await fetch(`${ownUrl}/spec.json`)).text());
  const browser = await launch();
  const table = new Table(["explorer", "readable, s", "to try, s", "kB", "requests"]);
  for (const each of EXPLORERS) {
    const url = each.html ? others.url : ownUrl;
    const visits: Visit[] = [];
    for (let round = 0; round < (isQuick ? 1 : 3); round++) {
      step(`${each.name}: visit ${round + 1}`);
      visits.push(await visit(browser, each, url));
    }
    const of = (what: keyof Visit) => median(visits.map((each) => each[what]));
    const times = [of("readable") / 1000, of("ready") / 1000];
    table.add(each.name, ...times, of("bytes") / 1000, `${of("requests")}`);
  }
  const text =
    `Each explorer shows Nodeface's own description in Chromium ${browser.version()} with an
empty cache, on a line of 1.6 Mbit/s and 150 ms and a processor slowed down four times: until an
operation can be read, until it can be tried, and what was loaded by then, in brotli.`;
  await browser.close();
  others.close();
  await own.stop();
  return { title: "The explorer", text, table };
}

/** Milliseconds since the navigation began, and what was loaded until it was ready. */
interface Visit {
  readable: number;
  ready: number;
  bytes: number;
  requests: number;
}

async function visit(browser: Browser, explorer: Explorer, url: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let bytes = 0, requests = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests++;
  });
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", LINE);
  await session.send("Emulation.setCPUThrottlingRate", SLOWER);
  const selectors = { readable: explorer.readable, ready: explorer.ready };
  await page.addInitScript(`{ const SELECTORS = ${JSON.stringify(selectors)}; ${WATCH} }`);
  await page.goto(url + explorer.page, { waitUntil: "commit" });
  const seen = async (what: "readable" | "ready") => {
    const options = { timeout: PATIENCE };
    const isSeen = (what: string) => (globalThis as unknown as Noted).times[what];
    const time = await page.waitForFunction(isSeen, what, options).catch(() => {
      throw new Error(`${explorer.name} is not ${what} after ${PATIENCE / 1000} s`);
    });
    return Number(await time.jsonValue());
  };
  const result = { readable: await seen("readable"), ready: await seen("ready"), bytes, requests };
  await context.close();
  return result;
}

type Noted = { times: Record<string, number> };

/** Runs in the page, and notes down when each selector is first visible. */
const WATCH = `
  globalThis.times = {};
  const look = () => {
    for (const [what, selector] of Object.entries(SELECTORS)) {
      if (!document.querySelector(selector)?.getClientRects().length) continue;
      times[what] ??= performance.now();
    }
    requestAnimationFrame(look);
  };
  look();`;

/** Serves the pages that are not Nodeface's, what they load and the description, all in brotli. */
async function serveExplorers(spec: string): Promise<{ url: string; close(): void }> {
  const files = new Map<string, Uint8Array>();
  const encode = promisify(brotliCompress);
  files.set("/spec.json", await encode(spec));
  for (const { page, html = "" } of EXPLORERS) {
    files.set(page, await encode(html));
    for (const [, path = ""] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      files.set(`/${path}`, await encode(await readFile(MODULES[path.split("/")[0]!] + path)));
    }
  }
  const types: Record<string, string> = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
  };
  const server = createServer(({ url = "" }, response) => {
    const file = files.get(url);
    if (!file) return void response.writeHead(404).end();
    const type = types[extname(url)] ?? "text/html";
    response.writeHead(200, { "content-type": type, "content-encoding": "br" }).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}
