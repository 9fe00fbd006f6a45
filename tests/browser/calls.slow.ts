import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../../src/adapters/node.ts";
import { createNodeface, type Nodeface } from "../../src/index.ts";
import { testWhere, without } from "../_needs.ts";
import { describedBy } from "../nodes/_daemon.ts";
import { closePages, inContext, launch, watch } from "./_browser.ts";
import { mounted, SIMPLE } from "./_page.ts";
import { attempt, leave, type Targets } from "./_stranger.ts";
import { answer } from "./_try.ts";
import { ANVIL, type CountedNode, startCountedNode } from "./_relay.ts";
import type { Served } from "./_serve.ts";

const calls = suite("calls to a node from a browser");

/**
 * A non-loopback address of this machine, if it has one. Browsers restrict pages that are loaded
 * over plain HTTP, except from loopback addresses.
 */
const FAR = Object.values(networkInterfaces()).flat()
  .find((address) => address?.family === "IPv4" && !address.internal)?.address;

const TOKEN = "0123456789abcdef-0123456789abcdef";

/** The node must not receive a call of this method before the last test. */
const METHOD = "eth_gasPrice";

let browser: Browser;
let node: CountedNode;
let folder: string;
/** The service `open` forwards some operations of the node; the service `off` forwards none. */
let open: Served;
let off: Served;
let stranger: Server;
const services: Nodeface[] = [];

calls.before(async () => {
  if (without(ANVIL)) return;
  folder = mkdtempSync(join(tmpdir(), "nodeface-calls-"));
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, TOKEN);
  [browser, node] = await Promise.all([launch(), startCountedNode()]);
  const start = async (options: Parameters<typeof createNodeface>[0]) => {
    const service = createNodeface({
      node: { url: node.url, ask_methods: false },
      log: () => {},
      ...options,
    });
    services.push(service);
    const { url, close } = await serve(service, { hostname: "0.0.0.0", port: 0 });
    const here = at(url, "127.0.0.1");
    // A page that is opened earlier lacks the operations of the node for good.
    await describedBy({ url: here });
    return { url: here, close: () => close() };
  };
  open = await start({
    forward: {
      open: ["reads"],
      clients: [{
        name: "app",
        allow: ["eth_accounts", "eth_sendTransaction"],
        token_file: tokenFile,
      }],
    },
  });
  off = await start({});
  stranger = createServer(({ url = "" }, response) => {
    const to = new URL(url, "http://localhost").searchParams.get("to");
    if (to !== null) return response.writeHead(302, { location: to }).end();
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>A page</title><body></body>");
  });
  await new Promise<void>((resolve) => stranger.listen(0, "0.0.0.0", resolve));
});
calls.after(async () => {
  await closePages(browser);
  stranger?.close();
  for (const server of [open, off]) await server?.close();
  for (const service of services) await service.close();
  await node?.stop();
  if (folder) rmSync(folder, { recursive: true });
});

const at = (url: string, host: string): string => {
  const other = new URL(url);
  other.hostname = host;
  return other.href;
};

async function visitOperation(
  page: Page,
  service: string,
  tag: string,
  operation: string,
) {
  await page.goto("about:blank");
  await page.goto(`${service}v1/spec#tag/${tag}/${operation}`);
  await mounted(page);
}

async function openClient(page: Page, path: string) {
  await page.getByRole("button", {
    name: new RegExp(`^Test Request.* ${path}\\)`),
  }).first().click();
  await page.getByRole("button", { name: /^Send (get|post) request/ })
    .waitFor();
}

async function send(page: Page, path: string) {
  const [response] = await Promise.all([
    page.waitForResponse((response) => new URL(response.url()).pathname === path),
    page.getByRole("button", { name: /^Send (get|post) request/ }).click(),
  ]);
  return {
    status: response.status(),
    text: await response.text(),
    request: response.request(),
  };
}

async function closeClient(page: Page) {
  await page.getByRole("button", { name: "Close Client" }).click();
}

const inPage = (work: (page: Page) => Promise<void>) =>
  inContext(browser, { viewport: { width: 1280, height: 900 } }, work);

const missing = without(ANVIL);
const test = (name: string, check: () => Promise<void>, lacks = missing) =>
  testWhere(calls, lacks, name, check);

const HOSTS: readonly [host: string | undefined, what: string][] = [
  ["127.0.0.1", "loopback"],
  [FAR, "plain http beyond loopback"],
];

for (const [host, what] of HOSTS) {
  const lacks = missing ??
    (host ? undefined : "needs an address beyond loopback");

  test(
    `the explorer calls public operations, at ${what}`,
    () =>
      inPage(async (page) => {
        const complaints = await watch(
          page,
          new URL(at(open.url, host!)).origin,
        );
        for (
          const [tag, operation, path, answer] of [
            [
              "chain",
              "GET/v1/rpc/eth_chainId",
              "/v1/rpc/eth_chainId",
              /^"0x7a69"$/,
            ],
            [
              "accounts",
              "GET/v1/rpc/eth_getBalance",
              "/v1/rpc/eth_getBalance",
              /^"0x\w+"$/,
            ],
            ["calls", "POST/v1/rpc/eth_call", "/v1/rpc/eth_call", /^"0x\w*"$/],
          ] as const
        ) {
          const isFirst = page.url() === "about:blank";
          await page.goto(`${at(open.url, host!)}v1/spec#tag/${tag}/${operation}`);
          if (isFirst) await mounted(page);
          await openClient(page, path);
          const { status, text } = await send(page, path);
          assert.is(status, 200, text);
          assert.match(text, answer);
          await closeClient(page);
        }
        assert.equal([
          complaints.outside,
          complaints.failed,
          complaints.refused,
        ], [[], [], []]);
      }),
    lacks,
  );
}

test(
  "the token is typed in once and is kept only in memory",
  () =>
    inPage(async (page) => {
      const path = "/v1/rpc/eth_accounts";
      const visit = async () => {
        await visitOperation(
          page,
          at(open.url, FAR ?? "127.0.0.1"),
          "nodes-own-keys",
          `POST${path}`,
        );
        await page.locator("#scalar").getByText("Needs a client's token, which the operator gives.")
          .first().waitFor();
      };
      await visit();
      await openClient(page, path);
      assert.is((await send(page, path)).status, 401);
      await closeClient(page);
      await enterToken(page);
      await openClient(page, path);
      const { status, text, request } = await send(page, path);
      assert.is(status, 200, text);
      assert.is(
        (await request.allHeaders()).authorization,
        `Bearer ${TOKEN}`,
      );
      await closeClient(page);
      await openClient(page, path);
      assert.is((await send(page, path)).status, 200);
      assert.not.match(await keptBy(page), TOKEN);
      await closeClient(page);
      assert.not.match(await page.locator("#scalar").innerHTML(), TOKEN);
      await visit();
      await openClient(page, path);
      assert.is(
        (await send(page, path)).status,
        401,
        "the token is forgotten with the page",
      );
    }),
);

const enterToken = (page: Page) => page.locator("#node").getByLabel("Your token").fill(TOKEN);

test("a write is sent only after confirmation, and only if the chain has not changed", () =>
  inPage(async (page) => {
    const path = "/v1/rpc/eth_sendTransaction";
    const arrived = () => node.arrived.filter((method) => method === "eth_sendTransaction").length;
    await page.goto(`${open.url}v1/spec#op/eth_sendTransaction`);
    await mounted(page);
    await enterToken(page);
    await openClient(page, path);
    const dialog = page.getByRole("dialog", { name: `Send POST ${path}?` });
    const ask = async () => {
      await page.getByRole("button", { name: /^Send post request/ }).click();
      await dialog.waitFor();
    };
    await ask();
    const shown = await dialog.innerText();
    for (const part of ["31337", `POST ${open.url}v1/rpc/eth_sendTransaction`, '"from"']) {
      assert.ok(shown.includes(part), `${part} in ${shown}`);
    }
    assert.not.match(shown, TOKEN);
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    assert.is(await focused(), "Cancel");
    await page.keyboard.press("Tab");
    assert.is(await focused(), "Send");
    await answer(dialog, () => dialog.getByRole("button", { name: "Cancel" }).click());
    await page.getByText("Not sent", { exact: true }).first().waitFor();
    assert.is(arrived(), 0);

    await ask();
    const [response] = await Promise.all([
      page.waitForResponse((response) => new URL(response.url()).pathname === path),
      answer(dialog, () => dialog.getByRole("button", { name: "Send" }).click()),
    ]);
    assert.not.equal(response.status(), 401);
    assert.is(arrived(), 1);

    await page.route("**/v1/info", async (route) => {
      const known = await (await route.fetch()).json();
      await route.fulfill({ json: { ...known, chain_id: "0x1" } });
    });
    await page.getByRole("button", { name: /^Send post request/ }).click();
    await page.getByText(/^Not sent: the chain is now 0x1,/).first().waitFor();
    assert.is(await dialog.count(), 0);
    assert.is(arrived(), 1);
  }));

const keptBy = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const databases = await indexedDB.databases();
    const caches = "caches" in globalThis ? await globalThis.caches.keys() : [];
    return JSON.stringify([
      { ...localStorage },
      { ...sessionStorage },
      [document.cookie, location.href, history.state],
      [databases, caches],
    ]);
  });

test("without `forward`, the page says that calls are off", () =>
  inPage(async (page) => {
    await visitOperation(page, off.url, "chain", "GET/v1/rpc/eth_chainId");
    await page.locator("#node").getByText("Calls are switched off").waitFor();
    const response = await page.request.get(`${off.url}v1/rpc/eth_chainId`);
    assert.is(response.status(), 403);
  }));

test("the header shows the number of enabled methods, and the client URL with a Copy button", () =>
  inPage(async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    for (const path of [SIMPLE, "v1/spec"]) {
      await page.goto(open.url + path);
      await page.locator("#node").getByText(/^\d+ of \d+ methods enabled/).waitFor();
      await page.locator(".connect code").getByText(`${open.url}v1/rpc`, { exact: true }).waitFor();
      await page.locator(".connect").getByRole("button", { name: "Copy" }).click();
      await page.locator(".connect").getByRole("button", { name: "Copied" }).waitFor();
      const text = await page.evaluate(() => navigator.clipboard.readText());
      assert.is(text, `${open.url}v1/rpc`);
    }
  }));

test("if an operation is not forwarded, the page says why, even without JavaScript", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  try {
    const page = await context.newPage();
    await page.goto(open.url + SIMPLE);
    const article = (name: string) =>
      page.locator("#plain article", {
        has: page.getByRole("heading", { name, exact: true }),
      });
    assert.match(
      await article("eth_sign").textContent() ?? "",
      /not enabled[^]*Not forwarded: it is marked write/,
    );
    assert.match(
      await article("eth_accounts").textContent() ?? "",
      /token[^]*Needs a client's token, which the operator gives\./,
    );
    assert.match(
      await article("eth_gasPrice").textContent() ?? "",
      /public[^]*curl .*\/v1\/rpc\/eth_gasPrice/,
    );
  } finally {
    await context.close();
  }
});

const STRANGERS: readonly [
  what: string,
  page: string | undefined,
  service: string | undefined,
][] = [
  ["of the same site", "127.0.0.1", "127.0.0.1"],
  ["of another site", "localhost", "127.0.0.1"],
  ["from a network address", FAR, FAR],
  ["from a network address that targets loopback", FAR, "127.0.0.1"],
];

for (const [what, from, to] of STRANGERS) {
  const lacks = missing ??
    (from && to ? undefined : "needs an address beyond loopback");
  const origin = () => `http://${from}:${(stranger.address() as AddressInfo).port}`;
  const targets = (): Targets => ({
    method: `${at(open.url, to!)}v1/rpc/${METHOD}`,
    rpc: `${at(open.url, to!)}v1/rpc`,
    redirect: `${origin()}/?to=${at(open.url, to!)}v1/rpc/${METHOD}`,
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: METHOD, params: [] }),
  });

  test(
    `a page ${what} cannot call or read the node with any kind of request`,
    () =>
      inPage(async (page) => {
        await page.goto(origin());
        const results = await page.evaluate(attempt, targets());
        assert.ok(results.length > 30);
        assert.equal(results.filter(([, got]) => got !== "nothing"), []);
        assert.not(node.arrived.includes(METHOD));
      }),
    lacks,
  );

  test(
    `a page ${what} cannot call or read the node by navigating to the service`,
    () =>
      inPage(async (page) => {
        for (
          const how of [
            "link",
            "silent link",
            "redirect",
            "refresh",
            "form",
            "post",
            "post text",
          ]
        ) {
          await page.goto(origin());
          const { method, rpc } = targets();
          await Promise.all([
            page.waitForResponse((response) =>
              [method, rpc].includes(response.url().replace(/\?.*/, ""))
            ),
            page.evaluate(leave, [how, targets()] as const),
          ]);
          await page.waitForLoadState();
          assert.match(
            await page.locator("body").innerText(),
            /other origins|is application\/json/,
            how,
          );
        }
        assert.not(node.arrived.includes(METHOD));
      }),
    lacks,
  );
}

test("the explorer itself can make a call that is refused to pages of other origins", () =>
  inPage(async (page) => {
    await page.goto(`${open.url}v1/spec`);
    const text = await page.evaluate(
      async (path) => await (await fetch(path)).text(),
      `rpc/${METHOD}`,
    );
    assert.match(text, /^"0x\w+"/);
    assert.ok(node.arrived.includes(METHOD));
  }));

calls.run();
