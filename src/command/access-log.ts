/**
 * The access log: one line a request, without addresses or queries.
 *
 * @module
 */
import type { App } from "../adapters/adapter.ts";

/**
 * Wraps an app so that every answer is written down.
 *
 * @param form what a line looks like
 * @param write takes a line with its line break
 */
export function withAccessLog(app: App, form: "text" | "json", write: (line: string) => void): App {
  return {
    async fetch(request) {
      const started = performance.now();
      const response = await app.fetch(request);
      const entry = {
        time: new Date().toISOString(),
        method: request.method,
        path: URL.canParse(request.url) ? new URL(request.url).pathname : "-",
        status: response.status,
        ms: Math.round((performance.now() - started) * 10) / 10,
      };
      write(form === "json" ? `${JSON.stringify(entry)}\n` : `${Object.values(entry).join(" ")}\n`);
      return response;
    },
  };
}
