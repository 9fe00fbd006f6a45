/** Serves a simulated node on a free port. */
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

export interface PlayedServer extends AsyncDisposable {
  readonly url: string;
  /** A test may replace this function to change the responses. */
  fetch: typeof fetch;
  /** Stops listening and closes all connections. */
  stop(): Promise<void>;
  /** Listens on the same port as before. */
  start(): Promise<void>;
}

export async function serveFetch(
  fetch: PlayedServer["fetch"],
  tls?: { key: string; cert: string },
): Promise<PlayedServer> {
  const answer: Parameters<typeof createServer>[1] = async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length > 0 ? Buffer.concat(chunks).toString() : null;
    const { method = "GET", headers } = request;
    const url = new URL(request.url!, played.url);
    const answered = await played.fetch(url, {
      method,
      body,
      headers: headers as Record<string, string>,
    });
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.end(await answered.text());
  };
  let server: Server;
  let port = 0;
  const start = async () => {
    server = tls ? createTlsServer(tls, answer) : createServer(answer);
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  };
  await start();
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  const played: PlayedServer = {
    url: `http${tls ? "s" : ""}://127.0.0.1:${port}`,
    fetch,
    start,
    stop,
    [Symbol.asyncDispose]: stop,
  };
  return played;
}
