/**
 * Serves an app on Deno, with its `node:http`. `Deno.serve` is faster, but keeps silent clients
 * connected without limit, and ends the process when descriptors run out (Deno 2.9).
 *
 * @module
 */
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { App, Listening, ServeOptions } from "./server.ts";
import { createHttpServer, listen, urlOf } from "./node-http.ts";

export type { AnswerRecord } from "./answer-record.ts";
export type { App, Callbacks, Listening, ServeOptions } from "./server.ts";

/** Descriptors do not run out with fewer connections at a time than this. */
const MANY = 16;

/** How often is checked whether connections are still accepted, in milliseconds. */
const CHECK_INTERVAL = 2000;

/**
 * Starts a server.
 *
 * @param app what answers
 * @param options where to listen, and who is told what becomes of requests
 * @returns the server, listening; rejects where it cannot listen there
 */
export async function serve(app: App, options: ServeOptions): Promise<Listening> {
  const { http, end } = await createHttpServer(app, options);
  await listen(http, options);
  const stopChecking = keepAccepting(http, options);
  return {
    url: urlOf(http),
    close() {
      stopChecking();
      return end();
    },
  };
}

/**
 * Listens again where Deno has stopped to accept connections: Deno 2.9 does so, without an event, when
 * descriptors run out. After there were many connections, one more is made to find out.
 *
 * @returns what ends this
 */
function keepAccepting(http: Server, { host }: ServeOptions): () => void {
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
    if (most < MANY) return;
    accepted = false;
    const probe = connect(port, host).on("error", () => {});
    setTimeout(() => {
      probe.destroy();
      if (accepted) most = open;
      else if (!stopped) void listen(http.close(), { host, port }).catch(() => {});
    }, CHECK_INTERVAL / 2);
  };
  const timer = setInterval(check, CHECK_INTERVAL);
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
