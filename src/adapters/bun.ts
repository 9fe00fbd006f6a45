/**
 * Serves an app on Bun, whose own server cuts clients that keep it waiting.
 *
 * @module
 */
import { serve as listen } from "srvx/bun";
import type { App, Listening, ListenOptions } from "./adapter.ts";
import { LIMITS } from "./limits.ts";

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
    bun: {
      // Otherwise errors are answered with a page that shows the source.
      development: false,
      idleTimeout: LIMITS.silence / 1000,
    },
  });
  await server.ready();
  return {
    url: server.url ?? "",
    async close() {
      // Bun does not say which answers are still being sent: it is left to end them by itself.
      const grace = new Promise((resolve) => setTimeout(resolve, LIMITS.grace));
      await Promise.race([server.close(), grace]);
      await server.close(true);
    },
  };
}
