/** An honest client, which repeats a request and records how long it waits for each response. */
import { Agent, request } from "node:http";
import { WITH_TOKEN } from "./_beside.ts";

export type HonestCall = "GET" | "JSON-RPC" | "write";

const INTERVAL_MS = 20;

const PATIENCE_MS = 60_000;

/** All times are in milliseconds. */
export interface Waits {
  readonly waits: number[];
  failed: number;
  /** The longest time without a successful response. */
  gap: number;
}

const callOf = (method: string) => JSON.stringify({ jsonrpc: "2.0", id: 1, method });

const REQUESTS = {
  "info": ["GET", "/v1/info", undefined],
  "GET": ["GET", "/v1/node/ok", undefined],
  "JSON-RPC": ["POST", "/v1/rpc", callOf("eth_blockNumber")],
  "write": ["POST", "/v1/rpc", callOf("eth_send")],
} as const;

/** Resolves to true if a complete and successful response arrived. */
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
      // Records the wait for the response that is still pending.
      seen.waits.push(performance.now() - since);
      look();
      agent.destroy();
      await asking;
      return seen;
    },
  };
}

export const sleep = <T>(milliseconds: number, value: T): Promise<T> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds, value));
