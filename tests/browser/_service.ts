/**
 * Starts a service in its own process for a real anvil node, and checks the node's values on a
 * page.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { freePort } from "../_port.ts";
import { readMetrics } from "../_metrics.ts";
import { COMMANDS } from "../_server.ts";
import { call, type Daemon, describedBy, startDaemon } from "../nodes/_daemon.ts";
import { ANVIL } from "./_relay.ts";

export interface WatchedService {
  /** The URL ends with a slash. */
  readonly url: string;
  readonly node: Daemon;
  process: Daemon;
  start(): Promise<void>;
  listeners(): Promise<number>;
  /** Returns the height of the mined block. */
  mine(): Promise<number>;
  stop(): Promise<void>;
}

/** The node mines a block only when `mine` is called. */
export async function startService(): Promise<WatchedService> {
  const [port, ofNode] = [await freePort(), await freePort()];
  const node = await startDaemon([ANVIL, "--port", String(ofNode), "--silent"], ofNode);
  const config = join(mkdtempSync(join(tmpdir(), "nodeface-")), "nodeface.yaml");
  // Otherwise, the description would change after the page has been opened.
  writeFileSync(config, "node: { ask_methods: false }\n");
  const args = [node.url, "--port", String(port), "--metrics", "--config", config];
  const startProcess = () => startDaemon([...COMMANDS.Node, ...args], port);
  const url = `http://127.0.0.1:${port}/`;
  const service: WatchedService = {
    url,
    node,
    process: await startProcess(),
    async start() {
      service.process = await startProcess();
    },
    async listeners() {
      const lines = readMetrics(await (await fetch(`${url}v1/metrics`)).text());
      return Number(lines.get("nodeface_event_listeners"));
    },
    async mine() {
      await call(node.url, "evm_mine");
      return Number(await call(node.url, "eth_blockNumber"));
    },
    async stop() {
      await service.process.stop("SIGKILL");
      await node.stop("SIGKILL");
    },
  };
  // Otherwise, the page would be loaded anew once the description has been read.
  await describedBy(service);
  return service;
}

export async function showsHeight(page: Page, height: number, timeout?: number): Promise<void> {
  const options = timeout === undefined ? {} : { timeout };
  await page.locator("#node dl div", { hasText: "Height" })
    .getByText(String(height), { exact: true }).waitFor(options);
  await page.locator('#node [data-state="answers"], #node [data-state="synced"]').waitFor(options);
}

export const look = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
