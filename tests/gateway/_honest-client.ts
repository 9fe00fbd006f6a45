/** An honest client, which asks again and again and takes down how long it waits. */
import { Agent, request } from "node:http";
import { WITH_TOKEN } from "./_beside.ts";

/** What an honest client asks for beside an attack. */
export type HonestCall = "GET" | "JSON-RPC" | "write";

/** How often an honest client asks, in milliseconds. */
const INTERVAL_MS = 20;

/** After how long it gives up, in milliseconds. */
const PATIENCE_MS = 60_000;

/** What an honest client has waited for its responses, in milliseconds, and how many were errors. */
export interface Waits {
  readonly waits: number[];
  failed: number;
  /** The longest time without a response that is no error, in milliseconds. */
  gap: number;
}

const callOf = (method: string) => JSON.stringify({ jsonrpc: "2.0", id: 1, method });

const REQUESTS = {
  "info": ["GET", "/v1/info", undefined],
  "GET": ["GET", "/v1/node/ok", undefined],
  "JSON-RPC": ["POST", "/v1/rpc", callOf("eth_blockNumber")],
  "write": ["POST", "/v1/rpc", callOf("eth_send")],
} as const;

/** Asks on connections that are kept; gives whether the whole response came, and was none of an error. */
export function askFor(url: string, what: keyof typeof REQUESTS, agent?: Agent): Promise<boolean> {
  const [method, path, body] = REQUESTS[what];
  const headers = {
    ...body && { "content-type": "application/json" },
    ...what === "write" && WITH_TOKEN,
  };
  return new Promise((resolve) => {
    const message = request(new URL(path, url), { method, headers, agent }, (response) => {
      let text = "";
      response.setEncoding("latin1").on("data", (part: string) => text += part);
      response.on("close", () => {
        const isRight = !body || text.includes('"result"');
        resolve(response.complete && response.statusCode === 200 && isRight);
      });
    });
    message.on("error", () => resolve(false)).setTimeout(PATIENCE_MS, () => message.destroy());
    message.end(body);
  });
}

/** Asks again and again, until it leaves. */
export function askOn(url: string, what: keyof typeof REQUESTS): { leave(): Promise<Waits> } {
  const seen: Waits = { waits: [], failed: 0, gap: 0 };
  const agent = new Agent({ keepAlive: true });
  let hasLeft = false;
  let since = performance.now();
  let answered = since;
  const look = () => seen.gap = Math.max(seen.gap, performance.now() - answered);
  const asking = (async () => {
    while (!hasLeft) {
      since = performance.now();
      const isAnswered = await askFor(url, what, agent);
      const took = performance.now() - since;
      if (hasLeft) return;
      seen.waits.push(took);
      look();
      if (isAnswered) answered = performance.now();
      else seen.failed++;
      await sleep(INTERVAL_MS - took, undefined);
    }
  })();
  return {
    async leave() {
      hasLeft = true;
      // What it still waits for has been waited for as long at least.
      seen.waits.push(performance.now() - since);
      look();
      agent.destroy();
      await asking;
      return seen;
    },
  };
}

/** Gives a value after some milliseconds. */
export const sleep = <T>(milliseconds: number, value: T): Promise<T> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds, value));
