/** Subscriptions in Chromium: on the simple page, and by WebSocket from pages. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { COMMANDS } from "../_server.ts";
import { besideNode, TOKEN } from "../gateway/_beside.ts";
import { callsTo } from "../nodes/_calls.ts";
import { until } from "../nodes/_daemon.ts";
import { ANVIL, startAnvil } from "../nodes/_start-ethereum.ts";
import { serious } from "./_axe.ts";
import { closePages, launch } from "./_browser.ts";
import { SIMPLE } from "./_page.ts";
import { openForm, operationAt } from "./_try.ts";

const subscriptions = suite("subscriptions in Chromium");

const CLIENT = { name: "one", token_file: "token", allow: ["reads"] };

const inPage = async (url: string, use: (page: Page) => Promise<void>) => {
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await use(page);
  } finally {
    await closePages(browser);
  }
};

const countSubscriptions = async (url: string) =>
  Number(
    /^nodeface_socket_subscriptions (\d+)$/m.exec(
      await (await fetch(`${url}/v1/metrics`)).text(),
    )![1],
  );

const METERED = [...COMMANDS.Node, "--metrics"];

testWhere(
  subscriptions,
  without(ANVIL),
  "Start shows the last hundred blocks, and Stop ends the subscription, by keyboard",
  () =>
    besideNode(
      startAnvil(),
      "ethereum",
      ({ url }, { url: nodeUrl }) =>
        inPage(`${url}/${SIMPLE}`, async (page) => {
          const call = callsTo(nodeUrl);
          const operation = operationAt(page, "eth_subscribe");
          const form = await openForm(operation);
          const command = operation.locator(".command code").first();
          assert.match(await command.innerText(), "curl -N ");
          assert.match(await command.innerText(), "subscription=newHeads");
          const start = form.getByRole("button", { name: "Start", exact: true });
          await start.focus();
          await page.keyboard.press("Enter");
          const status = operation.locator(".status");
          await status.getByText("Receiving").waitFor();
          await until(async () => await countSubscriptions(url) === 1);
          for (let block = 0; block < 120; block++) await call("evm_mine", []);
          const heads = operation.locator(".response pre[role=region] div");
          await status.getByText("· 120").waitFor();
          assert.is(await heads.count(), 100);
          const newest = JSON.parse(await heads.first().innerText());
          assert.is(newest.number, "0x78");
          // Only the status is announced, and not the number that changes with each event.
          const live = operation.locator("[aria-live], [role=status], [role=log], [role=alert]");
          assert.is(await live.count(), 1);
          assert.is(await live.locator("[aria-hidden=true]").count(), 1);
          assert.is(await live.locator(".response").count(), 0);
          assert.equal(await serious(page), []);
          const stop = form.getByRole("button", { name: "Stop", exact: true });
          await stop.focus();
          await page.keyboard.press("Enter");
          await status.getByText("Stopped").waitFor();
          assert.match(await status.innerText(), "120 received");
          assert.is(await heads.count(), 100);
          await until(async () => await countSubscriptions(url) === 0);
          await form.getByRole("button", { name: "Start", exact: true }).click();
          await until(async () => await countSubscriptions(url) === 1);
          assert.is(await heads.count(), 0);
        }),
      "reads",
      METERED,
    ),
);

testWhere(
  subscriptions,
  without(ANVIL),
  "a wrong parameter is marked, and the page says when the service stops",
  () =>
    besideNode(
      startAnvil(),
      "ethereum",
      ({ url, service }) =>
        inPage(`${url}/${SIMPLE}`, async (page) => {
          const operation = operationAt(page, "eth_subscribe");
          const form = await openForm(operation);
          await form.locator("[name=filter]").fill("5");
          const start = form.getByRole("button", { name: "Start", exact: true });
          await start.click();
          await operation.locator(".status").getByText("400").waitFor();
          await form.locator('[name=filter][aria-invalid="true"]').waitFor();
          await form.locator("[name=filter]").fill("");
          await start.click();
          await operation.locator(".status").getByText("Receiving").waitFor();
          await service.stop();
          await operation.locator(".status").getByText("Ended").waitFor();
          assert.match(await operation.locator(".status").innerText(), "The service is restarting");
        }),
    ),
);

testWhere(
  subscriptions,
  without(ANVIL),
  "a stream that breaks off says how many events have come",
  () =>
    besideNode(
      startAnvil(),
      "ethereum",
      ({ url, service }, { url: nodeUrl }) =>
        inPage(`${url}/${SIMPLE}`, async (page) => {
          const operation = operationAt(page, "eth_subscribe");
          const form = await openForm(operation);
          await form.getByRole("button", { name: "Start", exact: true }).click();
          const status = operation.locator(".status");
          await status.getByText("Receiving").waitFor();
          await callsTo(nodeUrl)("evm_mine", []);
          await status.getByText("· 1").waitFor();
          await service.stop("SIGKILL");
          await status.getByText("Interrupted").waitFor();
          assert.match(await status.innerText(), "1 received");
        }),
    ),
);

testWhere(
  subscriptions,
  without(ANVIL),
  "with a token, the page can open a stream; an EventSource cannot send it",
  () =>
    besideNode(
      startAnvil(),
      "ethereum",
      ({ url }) =>
        inPage(`${url}/${SIMPLE}`, async (page) => {
          const operation = operationAt(page, "eth_subscribe");
          const form = await openForm(operation);
          const start = form.getByRole("button", { name: "Start", exact: true });
          await start.click();
          await operation.locator(".status").getByText("401").waitFor();
          await form.locator(".secret").fill(TOKEN);
          await start.click();
          await operation.locator(".status").getByText("Receiving").waitFor();
          const events = `${url}/v1/rpc/eth_subscribe?subscription=newHeads`;
          assert.is(await streamIn(page, events), "state 2");
        }),
      { clients: [CLIENT] },
    ),
);

/** Returns the protocol and the response to `eth_chainId`, or the code of the connection's end. */
const dialIn = (page: Page, url: string, protocols: readonly string[] = []) =>
  page.evaluate(
    ([url, protocols]) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(url, [...protocols]);
        socket.onopen = () =>
          socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}');
        socket.onmessage = ({ data }) => resolve(`${socket.protocol} ${data}`);
        socket.onclose = ({ code }) => resolve(String(code));
      }),
    [url, protocols] as const,
  );

const streamIn = (page: Page, url: string) =>
  page.evaluate((url) =>
    new Promise<string>((resolve) => {
      const source = new EventSource(url);
      source.onopen = () => resolve("open");
      source.onerror = () => resolve(`state ${source.readyState}`);
    }), url);

async function withStranger(use: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html").end("<p>A page");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

testWhere(
  subscriptions,
  without(ANVIL),
  "pages of other origins get no WebSocket and no events; our own and allowed ones do",
  () =>
    withStranger((allowed) => {
      // The same server by another host name is another origin.
      const stranger = allowed.replace("127.0.0.1", "localhost");
      return besideNode(startAnvil(), "ethereum", async ({ url }) => {
        const socket = url.replace("http", "ws");
        const events = `${url}/v1/rpc/eth_subscribe?subscription=newHeads`;
        for (const friendly of [`${url}/${SIMPLE}`, allowed]) {
          await inPage(friendly, async (page) => {
            assert.match(await dialIn(page, `${socket}/v1/rpc`), '"result":"0x7a69"');
            assert.match(await dialIn(page, socket), '"result":"0x7a69"');
            assert.is(await streamIn(page, events), "open");
          });
        }
        for (const other of [stranger, "data:text/html,<p>A page"]) {
          await inPage(other, async (page) => {
            assert.is(await dialIn(page, `${socket}/v1/rpc`), "1006");
            assert.is(await dialIn(page, `${socket}/v1/rpc`, ["bearer", TOKEN]), "1006");
            assert.is(await streamIn(page, events), "state 2");
          });
        }
      }, { open: ["reads"], origins: [allowed] });
    }),
);

testWhere(
  subscriptions,
  without(ANVIL),
  "a page sends its token as a protocol, which the service chooses",
  () =>
    withStranger((stranger) =>
      besideNode(startAnvil(), "ethereum", async ({ url }) => {
        const socket = `${url.replace("http", "ws")}/v1/rpc`;
        for (const origin of [`${url}/${SIMPLE}`, stranger]) {
          await inPage(origin, async (page) => {
            assert.match(await dialIn(page, socket, ["bearer", TOKEN]), /^bearer .*"0x7a69"/);
            assert.match(await dialIn(page, socket), '"code":-32050');
            assert.match(await dialIn(page, socket, ["bearer", `${TOKEN}x`]), '"code":-32050');
          });
        }
      }, { clients: [CLIENT], origins: [stranger] })
    ),
);

subscriptions.run();
