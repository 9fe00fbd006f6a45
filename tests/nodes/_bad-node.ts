/**
 * A simulated node with many faults. The node keeps its port when a test switches from one fault to
 * another.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { play, RECORDINGS } from "./_recorded.ts";

const MEBIBYTE = 1024 * 1024;

/** A gzip file of 100 KiB that expands to 100 MiB of spaces. */
const BOMB = gzipSync(new Uint8Array(100 * MEBIBYTE).fill(32), { level: 9 });

export const BADNESS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "hangs": () => {},
  "drips a byte a second": (response) => {
    response.write("[");
    const timer = setInterval(() => response.write(" "), 1000);
    response.on("close", () => clearInterval(timer));
  },
  "answers 500": (response) => void response.writeHead(500).end("it broke"),
  "answers HTML": (response) => void response.end("<!DOCTYPE html><title>Welcome</title>"),
  "answers broken JSON": (response) => void response.end('[{"jsonrpc":"2.0","result":'),
  "answers 100 MB": (response) => {
    const chunk = new Uint8Array(64 * 1024).fill(32);
    let left = 1600;
    const more = () => {
      while (left-- > 0 && !response.destroyed) if (!response.write(chunk)) return;
      response.end();
    };
    response.on("drain", more);
    more();
  },
  "sends a gzip bomb": (response) =>
    void response.writeHead(200, { "content-encoding": "gzip" }).end(BOMB),
  "redirects elsewhere": (response) =>
    void response.writeHead(307, { location: "http://localhost:1/secret" }).end(),
};

export interface BadNode {
  url: string;
  /**
   * Switches the node's behaviour to `good`, to `refuses`, or to a fault in `BADNESS`. Only a
   * switch to `refuses` closes the open connections. After other switches, a closed connection
   * would wrongly be reported as an unreachable node.
   */
  be(behaviour: string): Promise<void>;
  close(): Promise<void>;
}

export async function startBadNode(): Promise<BadNode> {
  const good = play(RECORDINGS.get("anvil")!);
  let behaviour = "good";
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const bad = BADNESS[behaviour];
    if (bad) return bad(response);
    let body = "";
    for await (const chunk of request) body += chunk;
    const url = new URL(request.url ?? "", "http://node.example");
    const { status, ...rest } = await good(url, {
      method: request.method ?? "GET",
      ...(body ? { body } : {}),
    }).then(async (answer) => ({ status: answer.status, text: await answer.text() }));
    response.writeHead(status).end(rest.text);
  };
  const listen = (port: number) =>
    new Promise<Server>((resolve) => {
      const server = createServer((request, response) => void answer(request, response));
      server.listen(port, "127.0.0.1", () => resolve(server));
    });
  const close = (server: Server) =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async be(next) {
      if (behaviour === "refuses") server = await listen(port);
      behaviour = next;
      if (next === "refuses") await close(server);
    },
    close: () => close(server),
  };
}
