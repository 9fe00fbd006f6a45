/**
 * What a node sends, and what other pages send to a node, at the drop-in address in Chromium. Each
 * way is also tried without the service, where it must work, because a way that never works would
 * show nothing.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { createNodeface, type Nodeface, type NodefaceOptions } from "../../src/index.ts";
import { until } from "../nodes/_daemon.ts";
import { closePages, inContext, launch } from "./_browser.ts";
import { runAll, sendAll, submit } from "./_contents.ts";

const contents = suite("a node's content and a node's calls in a browser, at the drop-in address");

const CONTENTS: Readonly<Record<string, string>> = {
  script: `self.ran = true;
    self.onconnect = ({ ports: [port] }) => port.postMessage("ran");
    if (!self.document && self.postMessage) self.postMessage("ran");`,
  style: "body { --ran: 1 }",
  page: `<svg xmlns="http://www.w3.org/2000/svg"><script>parent.ran = true</script></svg>`,
  xsl: `<?xml version="1.0"?>
    <?xml-stylesheet type="text/xsl" href="/content?kind=sheet&amp;type=text/xml"?><a/>`
    .replace(/\n\s*/, ""),
  sheet: `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
    <xsl:template match="/"><html><script>parent.ran = true</script></html></xsl:template>
    </xsl:stylesheet>`,
};

const TYPES = [
  "text/javascript",
  "application/javascript",
  "application/x-javascript",
  "text/css",
  "text/html",
  "application/xhtml+xml",
  "image/svg+xml",
  "text/xml",
  "application/xml",
  "application/pdf",
  "multipart/x-mixed-replace; boundary=a",
  "application/json",
  "application/octet-stream",
  "text/plain",
  "image/png",
  "",
];

const ok = { responses: { 200: { description: "" } } };
const read = { "x-access": "read", ...ok };
const DESCRIPTION = JSON.stringify({
  openapi: "3.1.1",
  info: { title: "A node", version: "1" },
  paths: { "/content": { get: read }, "/act": { post: read } },
});

/** The paths that are called with POST. */
let arrived: string[] = [];
let browser: Browser;
let node: Server;
let stranger: Server;
const services: Nodeface[] = [];
const closes: (() => Promise<void>)[] = [];

const urlOf = (server: Server, host = "127.0.0.1") =>
  `http://${host}:${(server.address() as AddressInfo).port}`;

function send(response: ServerResponse, type: string, text: string): void {
  if (type) response.setHeader("content-type", type);
  const allowed = { "service-worker-allowed": "/", "access-control-allow-origin": "*" };
  response.writeHead(200, allowed).end(text);
}

const listen = (server: Server) =>
  new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

/** Starts a service for the node, with its operations at the root. */
async function startService(options: NodefaceOptions): Promise<string> {
  const service = createNodeface({ log: () => {}, ...options });
  services.push(service);
  const { url, close } = await serve(service, { hostname: "127.0.0.1", port: 0 });
  closes.push(async () => void await close());
  return url.replace(/\/$/, "");
}

let rest: string;
let rpc: string;

contents.before(async () => {
  node = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://node");
    if (pathname === "/content") {
      const kind = searchParams.get("kind") ?? "";
      return send(response, searchParams.get("type") ?? "", CONTENTS[kind] ?? "");
    }
    if (request.method === "GET") return send(response, "text/html", "<body></body>");
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => text += part).on("end", () => {
      // The service's own questions are no calls of a page.
      if (pathname === "/act" || text.includes(METHOD)) arrived.push(pathname);
      send(response, "application/json", '{"jsonrpc":"2.0","id":1,"result":"0x1"}');
    });
  });
  stranger = createServer(({ url = "" }, response) => {
    const to = new URL(url, "http://stranger").searchParams.get("to");
    if (to !== null) return void response.writeHead(307, { location: to }).end();
    send(response, "text/html", "<!doctype html><title>A page</title><body></body>");
  });
  await Promise.all([listen(node), listen(stranger)]);
  const forward = { open: ["reads"], at_root: true };
  const description = { name: "a.json", text: DESCRIPTION };
  const url = urlOf(node);
  [browser, rest, rpc] = await Promise.all([
    launch(),
    startService({ node: { url, kind: "none" }, description, forward }),
    startService({ node: { url, kind: "ethereum", ask_methods: false }, forward }),
  ]);
});
contents.after(async () => {
  await closePages(browser);
  for (const close of closes) await close();
  for (const service of services) await service.close();
  for (const server of [node, stranger]) server?.close();
});

/** @param bypassCSP true to leave it to the node's content alone that nothing of it runs */
const inPage = (bypassCSP: boolean, work: (page: Page) => Promise<void>) =>
  inContext(browser, { bypassCSP }, work);

for (const bypassCSP of [true, false]) {
  const how = bypassCSP ? ", even without the page's policy" : "";
  contents(
    `nothing that a node sends runs in a page of the same origin${how}`,
    () =>
      inPage(bypassCSP, async (page) => {
        await page.goto(`${rest}/v1/spec/simple`);
        const probe = await page.evaluate(async () => (await fetch("/content?kind=style")).status);
        assert.is(probe, 200);
        const ran = await page.evaluate(runAll, { path: "/content", types: TYPES });
        assert.equal(ran, []);
      }),
  );
}

contents("the same content runs in a page of the node itself", () =>
  inPage(false, async (page) => {
    await page.goto(`${urlOf(node)}/page`);
    const ways = [
      "script text/javascript",
      "module application/javascript",
      "import text/javascript",
      "stylesheet text/css",
      "worker text/javascript",
      "shared worker text/javascript",
      "service worker text/javascript",
      "iframe image/svg+xml",
      "iframe text/html",
      "object image/svg+xml",
      "embed image/svg+xml",
      "styled XML application/xml",
    ];
    const ran = new Set<string>();
    // What starts late on a busy machine counts as soon as it runs in time once.
    await until(async () => {
      const found = await page.evaluate(runAll, { path: "/content", types: TYPES });
      for (const way of found) ran.add(way);
      return ways.every((way) => ran.has(way));
    }, 300_000);
  }));

contents(
  "a visit to what a node sends shows no page of the node",
  () =>
    inPage(false, async (page) => {
      for (const type of TYPES) {
        await page.goto(`${rest}/v1/ready`);
        const target = `${rest}/content?kind=page&type=${encodeURIComponent(type)}`;
        const download = page.waitForEvent("download", { timeout: 2000 }).catch(() => undefined);
        const response = await page.goto(target).catch(() => undefined);
        // Chromium shows texts, JSON and pictures, and downloads the rest.
        if (response === null || response === undefined) {
          assert.ok(await download, `${type} was not downloaded`);
          continue;
        }
        assert.match(response.headers()["content-type"] ?? "", /^(text\/plain|.*json|image\/png)/);
        assert.is(await page.evaluate(() => "ran" in globalThis), false, type);
        assert.is(await page.locator("svg").count(), 0, type);
      }
    }),
);

const METHOD = "eth_gasPrice";
const CALL = JSON.stringify({ jsonrpc: "2.0", id: 1, method: METHOD, params: [] });
const ENCODINGS = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"];
const POLICIES = ["no-referrer", "unsafe-url"];

/** Pages that send calls: one of another site, one of another port, and one without an origin. */
const PAGES: Readonly<Record<string, () => string>> = {
  "another site": () => urlOf(stranger, "localhost"),
  "another port": () => urlOf(stranger),
  "no origin": () => "data:text/html,<!doctype html><head></head><body></body>",
};

/** Sends the calls from a page in every way, and returns how many arrived at the node. */
async function countArrived(page: Page, from: string, to: string): Promise<number> {
  arrived = [];
  await page.goto(from);
  await page.evaluate(sendAll, [to, CALL] as const);
  const again = `${urlOf(stranger)}/?to=${encodeURIComponent(to)}`;
  await page.evaluate(sendAll, [again, CALL] as const);
  for (const enctype of ENCODINGS) {
    for (const policy of POLICIES) {
      for (const action of [to, again]) {
        await page.goto(from);
        const left = page.waitForURL(to);
        await page.evaluate(submit, [action, enctype, CALL, policy] as const);
        await left;
      }
    }
  }
  return arrived.length;
}

for (const [what, from] of Object.entries(PAGES)) {
  contents(
    `a page of ${what} cannot make a call at the path / with a form, a beacon or fetch`,
    () =>
      inPage(false, async (page) => {
        for (const to of [`${rpc}/`, `${rest}/act`]) {
          assert.is(await countArrived(page, from(), to), 0, to);
        }
        const direct = await countArrived(page, from(), `${urlOf(node)}/act`);
        assert.ok(direct >= 12, `only ${direct} calls arrived at the node itself`);
      }),
  );
}

contents.run();
