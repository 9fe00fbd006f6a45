/**
 * The access log: one line a request, without addresses or queries.
 *
 * @module
 */
import type { App } from "../adapters/server.ts";
import type { Awaitable, RequestHead } from "../http/message.ts";
import { parseTarget } from "../http/request-target.ts";

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
  const logged = async <T extends { readonly status: number }>(
    { method, url }: RequestHead,
    respond: () => Awaitable<T>,
  ): Promise<T> => {
    const started = performance.now();
    const response = await respond();
    const entry = {
      time: new Date().toISOString(),
      method,
      path: parseTarget(url)?.pathname ?? "-",
      status: response.status,
      ms: Math.round((performance.now() - started) * 10) / 10,
    };
    write(form === "json" ? `${JSON.stringify(entry)}\n` : `${Object.values(entry).join(" ")}\n`);
    return response;
  };
  return {
    fetch: (request) => logged(request, () => app.fetch(request)),
    answer: (head, whole) => logged(head, () => app.answer(head, whole)),
  };
}
