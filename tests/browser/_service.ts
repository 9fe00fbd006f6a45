/** Starts a service in its own process for a real anvil node, and checks the node's values on a page. */
import type { Page } from "playwright-core";
import { freePort } from "../_port.ts";
import { readMetrics } from "../_metrics.ts";
import { COMMANDS } from "../_server.ts";
import { call, type Daemon, startDaemon } from "../nodes/_daemon.ts";
import { ANVIL } from "./_relay.ts";

export interface WatchedService {
  /** The service's URL, with a trailing slash. */
  readonly url: string;
  readonly node: Daemon;
  /** The current process of the service. Each call of `start` replaces this process. */
  process: Daemon;
  /** Starts the service again, on the same port as before. */
  start(): Promise<void>;
  /** Counts the open event streams. */
  listeners(): Promise<number>;
  /** Mines a block at the node, and returns the height of that block. */
  mine(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a service and its node. The node mines a block only when `mine` is called. */
export async function startService(): Promise<WatchedService> {
  const [port, ofNode] = [await freePort(), await freePort()];
  const node = await startDaemon([ANVIL, "--port", String(ofNode), "--silent"], ofNode);
  const startProcess = () =>
    startDaemon(
      [...COMMANDS.Node, node.url, "--port", String(port), "--metrics"],
      port,
    );
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
  return service;
}

/** Waits until a page shows the given block height and the state of a healthy node. */
export async function showsHeight(page: Page, height: number, timeout?: number): Promise<void> {
  const options = timeout === undefined ? {} : { timeout };
  await page.locator("#node dl div", { hasText: "Height" })
    .getByText(String(height), { exact: true }).waitFor(options);
  await page.locator('#node [data-state="answers"], #node [data-state="synced"]').waitFor(options);
}

/** Makes a page believe that its tab is in the background or in the foreground. */
export const look = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
