/**
 * Sends read-only calls to real nodes with Scalar's *Test Request* button, and leaves the prefilled
 * values unchanged.
 */
import type { Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { startBeside } from "../gateway/_beside.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { closePages, launch, PATIENCE } from "./_browser.ts";
import { visit } from "./_page.ts";

const reference = suite("read-only operations of real nodes, called from the reference");

const READS: Readonly<Record<string, readonly string[]>> = {
  ethereum: [
    ...["eth_chainId", "eth_blockNumber", "eth_gasPrice", "eth_syncing", "web3_clientVersion"],
    ...["eth_getBalance", "eth_getBlockByNumber", "eth_getCode", "eth_feeHistory", "eth_call"],
  ],
  bitcoin: [
    ...["getblockcount", "getbestblockhash", "getblockchaininfo", "getdifficulty", "uptime"],
    ...["getblockhash", "getblockstats", "getchaintips", "estimatesmartfee", "validateaddress"],
  ],
};

for (const [kind, methods] of Object.entries(READS)) {
  const { path, start } = PROGRAMS[kind]!;
  testWhere(reference, without(path), `${kind}: ten methods need no input`, async () => {
    const node = await start();
    const { url, service } = await startBeside(node, kind);
    const browser = await launch();
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      page.setDefaultTimeout(PATIENCE);
      await visit(page, `${url}/`);
      const statuses: Record<string, number> = {};
      for (const method of methods) statuses[method] = await sendAsOpened(page, method);
      assert.equal(statuses, Object.fromEntries(methods.map((method) => [method, 200])));
    } finally {
      await closePages(browser);
      await service.stop();
      await node.stop();
    }
  });
}

async function sendAsOpened(page: Page, method: string): Promise<number> {
  await page.evaluate((method) => location.hash = `#op/${method}`, method);
  await page.getByRole("button", { name: new RegExp(`^Test Request.*/${method}\\)`) }).click();
  const [response] = await Promise.all([
    page.waitForResponse((response) => new URL(response.url()).pathname === `/v1/rpc/${method}`),
    page.getByRole("button", { name: /^Send (get|post) request/ }).click(),
  ]);
  await page.getByRole("button", { name: "Close Client" }).click();
  return response.status();
}

reference.run();
