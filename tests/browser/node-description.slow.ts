import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { readFileSync } from "node:fs";
import type { Listening } from "../../src/adapters/shared.ts";
import { serve } from "../../src/adapters/node.ts";
import { createNodeface } from "../../src/index.ts";
import { pathOf } from "../description/_load.ts";
import { until } from "../nodes/_daemon.ts";
import { closePages, type Complaints, launch, watch } from "./_browser.ts";

const explorer = suite("a node's own description in Chromium");

const ERGO = readFileSync(pathOf("ergo-openapi.yaml"), "utf8");

/** With another host name, the same server is a different origin. */
const otherName = (url: string) => url.replace("127.0.0.1", "localhost");

let node: Server;
let nodeUrl: string;
let asked: string[];
let server: Listening;
let browser: Browser;
let page: Page;
let complaints: Complaints;

explorer.before(async () => {
  // The node allows requests from pages of other origins, so that the explorer can call it
  // directly.
  node = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(200, {
      "content-type": "application/json",
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "*",
    }).end('{"name":"the node itself"}');
  });
  await new Promise<void>((resolve) => node.listen(0, resolve));
  nodeUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  // Both server URLs in the description lead to this node. The service has no `node` setting.
  const text = ERGO.replace("- url: /\n", `- url: ${nodeUrl}\n`)
    .replace("http://213.239.193.208:9053", otherName(nodeUrl));
  const app = createNodeface({ description: { text } });
  // `ready` waits for ten seconds at most.
  await until(async () => {
    const response = await app.fetch(new Request("http://localhost/spec.json"));
    return (await response.text()).includes('"Ergo Node API"');
  });
  [server, browser] = await Promise.all([serve(app, { hostname: "127.0.0.1", port: 0 }), launch()]);
});
explorer.after(async () => {
  await closePages(browser);
  await server?.close();
  node.closeAllConnections();
  node.close();
});
explorer.before.each(async () => {
  asked = [];
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  complaints = await watch(page, new URL(server.url).origin);
});
explorer.after.each(async () => {
  await page.close();
});

async function open(name: string, fragment: string) {
  await page.goto(`${server.url}v1/spec#${fragment}`);
  await page.getByRole("heading", { name }).first().waitFor();
}

async function tryOut(button: RegExp) {
  await page.getByRole("button", { name: button }).first().click();
}

/** @param others a pattern for the URLs of requests that only update the page */
async function send(others: RegExp = /\/(v1\/info|spec\.json)$/): Promise<string> {
  const [answer] = await Promise.all([
    page.waitForResponse((response) =>
      response.request().resourceType() === "fetch" && !others.test(response.url())
    ),
    page.getByRole("button", { name: /Send get request/ }).click(),
  ]);
  return answer.url();
}

explorer("every tag of the node's description and the tag of this service are shown", async () => {
  await open("Ergo Node API", "");
  const { paths } = parse(ERGO);
  const tags = new Set<string>(["About this service"]);
  for (const item of Object.values<Record<string, { tags?: string[] }>>(paths)) {
    for (const { tags: names = [] } of Object.values(item)) names.forEach((tag) => tags.add(tag));
  }
  assert.ok(tags.size > 10);
  const navigation = page.locator("aside").first();
  for (const tag of tags) await navigation.getByText(tag, { exact: true }).first().waitFor();
  assert.equal(complaints, { outside: [], console: [], failed: [], refused: [] });
});

explorer("Send calls the node if the operation belongs to the node", async () => {
  await open("Get the information about the Node", "tag/info/GET/info");
  await tryOut(/Test Request.*get \/info/);
  assert.is(await send(), `${nodeUrl}/info`);
  assert.equal(asked, ["GET /info"]);
  await page.getByText("the node itself").first().waitFor();
  assert.equal(complaints, { outside: [`${nodeUrl}/info`], console: [], failed: [], refused: [] });
});

explorer("Send calls the server that the user chose, if the description has several", async () => {
  await open("Get the information about the Node", "tag/info/GET/info");
  await tryOut(/Test Request.*get \/info/);
  await page.getByRole("dialog").getByText(nodeUrl).first().click();
  await page.getByText(otherName(nodeUrl)).first().click();
  assert.is(await send(), `${otherName(nodeUrl)}/info`);
  assert.equal(asked, ["GET /info"]);
  assert.equal(complaints, {
    outside: [`${otherName(nodeUrl)}/info`],
    console: [],
    failed: [],
    refused: [],
  });
});

explorer("Send calls this service if the operation belongs to this service", async () => {
  await open("Get the node's information", "tag/about-this-service/GET/v1/info");
  await tryOut(/Test Request.*get \/v1\/info/);
  assert.is(await send(/\/spec\.json$/), `${server.url}v1/info`);
  assert.equal(asked, []);
  assert.equal(complaints, { outside: [], console: [], failed: [], refused: [] });
});

explorer.run();
