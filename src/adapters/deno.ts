/**
 * Serves an app on Deno with `node:http`. With the faster `Deno.serve`, Deno 2.9 never closes idle
 * connections, and exits when file descriptors run out.
 *
 * @module
 */
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { listen, serveHttp } from "./node-server.ts";
import type { Address, Listening, Servable, ServeOptions } from "./shared.ts";

export type { Listening, ResponseRecord, Servable, ServeOptions } from "./shared.ts";

/**
 * Below this number of connections, the file descriptors cannot run out, so the server is not
 * probed.
 */
const MANY_CONNECTIONS = 16;
const CHECK_INTERVAL_MS = 1000;

/**
 * Starts a server. Rejects with a `TypeError` if an option is invalid, and with another error if
 * the server cannot listen.
 *
 * @example
 * ```ts
 * import { createNodeface } from "nodeface";
 * import { serve } from "nodeface/deno";
 *
 * const server = await serve(createNodeface(), { port: 8080 });
 * ```
 */
export function serve(app: Servable, options: ServeOptions = {}): Promise<Listening> {
  return serveHttp(app, options, keepAccepting);
}

/**
 * Listens again when Deno 2.9 has stopped accepting connections because file descriptors ran out.
 */
function keepAccepting(http: Server, { hostname }: Address): () => void {
  const { port } = http.address() as AddressInfo;
  let most = 0;
  let open = 0;
  let accepted = false;
  let stopped = false;
  http.on("error", () => {});
  http.on("connection", (socket) => {
    accepted = true;
    most = Math.max(most, ++open);
    socket.once("close", () => open--);
  });
  const check = () => {
    if (most < MANY_CONNECTIONS) return;
    accepted = false;
    const probe = connect(port, hostname).on("error", () => {});
    setTimeout(() => {
      probe.destroy();
      if (accepted) most = open;
      else if (!stopped) void listen(http.close(), { hostname, port }).catch(() => {});
    }, CHECK_INTERVAL_MS / 2);
  };
  const timer = setInterval(check, CHECK_INTERVAL_MS);
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
