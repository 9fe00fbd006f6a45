/**
 * Serves an app on Node.
 *
 * @module
 */
import { serve as listen } from "srvx/node";
import type { App, Listening, ListenOptions } from "./adapter.ts";

/**
 * Starts a server.
 *
 * @param app what answers
 * @param options where to listen
 * @returns the server, listening; rejects where it cannot listen there
 */
export async function serve(app: App, { host, port }: ListenOptions): Promise<Listening> {
  const server = listen({
    fetch: (request) => app.fetch(request),
    hostname: host,
    port,
    silent: true,
    gracefulShutdown: false,
  });
  await server.ready();
  return { url: server.url ?? "", close: () => server.close() };
}
