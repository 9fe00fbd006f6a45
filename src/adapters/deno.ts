/**
 * Serves an app on Deno, with its `node:http`. `Deno.serve` is faster, but leaves silent clients
 * connected for ever, cannot be told otherwise, and ends the process when descriptors run out.
 *
 * @module
 */
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { App, Listening, ListenOptions } from "./server.ts";
import { createHttpServer, listen, urlOf } from "./node-http.ts";

/** Fewer connections at a time than this do not make descriptors run out. */
const MANY = 16;

/** How often it is looked whether connections are still taken, in milliseconds. */
const LOOK = 2000;

/**
 * Starts a server.
 *
 * @param app what answers
 * @param options where to listen
 * @returns the server, listening; rejects where it cannot listen there
 */
export async function serve(app: App, options: ListenOptions): Promise<Listening> {
  const { http, end } = await createHttpServer(app);
  await listen(http, options);
  const stopWatching = keepAccepting(http, options);
  return {
    url: urlOf(http),
    close() {
      stopWatching();
      return end();
    },
  };
}

/**
 * Listens again where Deno has stopped to take connections, as it does without a word once
 * descriptors have run out. To find out, a connection is made after there have been many.
 */
function keepAccepting(http: Server, { host }: ListenOptions): () => void {
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
  const look = () => {
    if (most < MANY) return;
    accepted = false;
    const probe = connect(port, host).on("error", () => {});
    setTimeout(() => {
      probe.destroy();
      if (accepted) most = open;
      else if (!stopped) void listen(http.close(), { host, port }).catch(() => {});
    }, LOOK / 2);
  };
  const watch = setInterval(look, LOOK);
  return () => {
    stopped = true;
    clearInterval(watch);
  };
}
