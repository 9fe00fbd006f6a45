/**
 * The access log: one line a request, without addresses or queries.
 *
 * @module
 */
import type { App } from "../adapters/adapter.ts";

/** What is logged of a service. */
type Served = Required<App>;

/**
 * Wraps a service so that every answer is written down.
 *
 * @param form what a line looks like
 * @param write takes a line with its line break
 */
export function withAccessLog(
  app: Served,
  form: "text" | "json",
  write: (line: string) => void,
): Served {
  const logged =
    <T extends { readonly status: number }>(respond: (request: Request) => T | Promise<T>) =>
    async (request: Request): Promise<T> => {
      const started = performance.now();
      const response = await respond(request);
      const entry = {
        time: new Date().toISOString(),
        method: request.method,
        path: URL.canParse(request.url) ? new URL(request.url).pathname : "-",
        status: response.status,
        ms: Math.round((performance.now() - started) * 10) / 10,
      };
      write(form === "json" ? `${JSON.stringify(entry)}\n` : `${Object.values(entry).join(" ")}\n`);
      return response;
    };
  return { fetch: logged(app.fetch), answer: logged(app.answer) };
}
