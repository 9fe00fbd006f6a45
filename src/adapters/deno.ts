/**
 * Serves an app on Deno with `node:http`. With the faster `Deno.serve`, Deno 2.9 never closes idle
 * connections, and exits when file descriptors run out.
 *
 * @module
 */
import { lookup } from "node:dns/promises";
import type { Server } from "node:http";
import { type AddressInfo, connect, isIP } from "node:net";
import { listen, serveHttp } from "./node-server.ts";
import {
  type Address,
  checkServeOptions,
  type Listening,
  type Servable,
  type ServeOptions,
} from "./shared.ts";

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
export async function serve(app: Servable, options: ServeOptions = {}): Promise<Listening> {
  await requireNet(checkServeOptions(options));
  return await serveHttp(app, options, keepAccepting);
}

declare const Deno: {
  readonly permissions: {
    request(permission: { name: "net"; host: string }): Promise<{ readonly state: string }>;
  };
};

/** Without the permission, Deno 2.9 would end the process with an error that nothing can catch. */
async function requireNet({ hostname, port }: Address): Promise<void> {
  // To look a name up, Deno needs the permission for all ports of the name.
  if (isIP(hostname) === 0) await requireHost(hostname);
  const { address, family } = await lookup(hostname);
  await requireHost(`${family === 6 ? `[${address}]` : address}:${port}`);
}

async function requireHost(host: string): Promise<void> {
  const { state } = await Deno.permissions.request({ name: "net", host });
  if (state !== "granted") throw new Error(`Deno needs the permission --allow-net=${host}`);
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
