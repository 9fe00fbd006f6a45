/**
 * A node for browser suites: a real anvil behind a relay that records which JSON-RPC methods are
 * called.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { startDaemon } from "../nodes/_daemon.ts";

export const ANVIL: string = `${ROOT}tests/node_modules/.bin/anvil`;

export interface CountedNode {
  readonly url: string;
  /** The names of the called JSON-RPC methods. */
  readonly arrived: string[];
  stop(): Promise<void>;
}

export async function startCountedNode(): Promise<CountedNode> {
  const port = await freePort();
  const anvil = await startDaemon(
    [ANVIL, "--port", String(port), "--silent"],
    port,
  );
  const arrived: string[] = [];
  const relay = createServer(async (request, response) => {
    const body = await textOf(request);
    arrived.push(...methodsIn(body));
    const answer = await fetch(anvil.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    response.setHeader("content-type", "application/json");
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    arrived,
    async stop() {
      relay.closeAllConnections();
      await new Promise((resolve) => relay.close(resolve));
      await anvil.stop();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part);
  return new TextDecoder().decode(Buffer.concat(parts));
}

function methodsIn(body: string): string[] {
  try {
    return [JSON.parse(body)].flat().map(({ method }) => String(method));
  } catch {
    return ["?"];
  }
}
