/**
 * Serves an app on Bun, whose own server cuts clients that keep it waiting.
 *
 * @module
 */
import { serve as listen } from "srvx/bun";
import type { App, Listening, ListenOptions } from "./adapter.ts";
import { LIMITS } from "./limits.ts";

/** How often it is looked whether answers are through, in milliseconds. */
const LOOK = 20;

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
  const own = server.bun?.server as { readonly pendingRequests: number };
  return {
    url: server.url ?? "",
    async close() {
      const stopped = server.close();
      const until = performance.now() + LIMITS.grace;
      // Half-sent requests would hold it up: only answers are waited for.
      while (own.pendingRequests > 0 && performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, LOOK));
      }
      await server.close(true);
      await stopped;
    },
  };
}
