/**
 * A page whose host name no public name server gives, in Chromium, which finds the service under
 * this name.
 */
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS, type Running, start as startService } from "../_server.ts";
import { start } from "./_browser.ts";

const names = suite("pages under other host names");

const NAMES = ["nodeface", "nas.local", "node.internal", "evil.example"];
const GUARDED = ["/v1/history", "/v1/metrics", "/v1/rpc/eth_chainId", "/v1/node/x"];

let service: Running;
let browser: Browser;
let page: Page;

names.before(async () => {
  const flags = ["http://127.0.0.1:9", "--kind", "ethereum", "--forward", "reads", "--metrics"];
  const rules = NAMES.map((name) => `MAP ${name} 127.0.0.1`).join(", ");
  [service, browser] = await Promise.all([
    startService([...COMMANDS.Node, ...flags, "--host", "0.0.0.0"]),
    start([`--host-resolver-rules=${rules}`]),
  ]);
  page = await browser.newPage();
});
names.after(async () => {
  await browser?.close();
  await service?.stop();
});

interface Init {
  readonly headers?: Record<string, string>;
  readonly referrerPolicy?: "no-referrer";
  readonly credentials?: "include";
  readonly method?: string;
  readonly body?: string;
}

const urlAs = (name: string) => `http://${name}:${new URL(service.url).port}`;

for (const name of NAMES) {
  names(`a page under ${name} reads only what every page may read, whatever it sends`, async () => {
    await page.goto(`${urlAs(name)}/v1/spec`);
    assert.match(await page.content(), "only for reading");
    assert.is(await page.locator("script, form, input:visible").count(), 0);
    const statusOf = (path: string, init: Init = {}) =>
      page.evaluate(
        async ([path, init]) => (await fetch(path, init)).status,
        [path, init] as const,
      );
    for (const path of ["/v1/info", "/v1/ready", "/spec.json"]) {
      assert.is(await statusOf(path), 200, path);
    }
    const disguises: Init[] = [
      {},
      { headers: { "x-nodeface": "1", "accept-language": "*" } },
      { referrerPolicy: "no-referrer", headers: { "accept-language": "*" } },
      { credentials: "include" },
    ];
    for (const init of disguises) {
      for (const path of GUARDED) {
        assert.is(await statusOf(path, init), 421, `${path} ${JSON.stringify(init)}`);
      }
      const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
      const headers = { ...init.headers, "content-type": "application/json" };
      assert.is(await statusOf("/v1/rpc", { ...init, method: "POST", headers, body }), 421);
    }
    const opened = await page.evaluate(() =>
      new Promise((resolve) => {
        const events = new EventSource("/v1/events");
        events.onopen = () => resolve(true);
        events.onerror = () => resolve(false);
      })
    );
    assert.is(opened, false);
  });
}

names("a page under an address of the machine has its forms and its events", async () => {
  await page.goto(`${service.url}v1/spec/simple`);
  assert.not.match(await page.content(), "only for reading");
  assert.ok(await page.locator("script").count() > 0);
  assert.is(await page.evaluate(async () => (await fetch("/v1/history")).status), 200);
});

names.run();
