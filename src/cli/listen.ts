/**
 * Listens with the adapter of the runtime, and explains why that fails.
 *
 * @module
 */
import { serve as serveOnBun } from "../adapters/bun.ts";
import type { App, Listening, ServeOptions } from "../adapters/shared.ts";

/** What a failure to listen means, by its code. */
const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is already in use; choose another with --port",
  EADDRNOTAVAIL: "no such address on this machine; see --host",
  EACCES: "not allowed to listen there; ports below 1024 need privileges",
  ENOTFOUND: "the host name is unknown; see --host",
  EAI_AGAIN: "the host name is unknown; see --host",
  EINVAL: "the host name is unknown; see --host",
};

type Adapter = Pick<typeof import("../adapters/node.ts"), "serve">;

/** The adapter of the runtime this runs on; Bun's is so small that it takes longer to look for. */
export function loadAdapter(): Adapter | Promise<Adapter> {
  if ("Deno" in globalThis) return import("../adapters/deno.ts");
  return "Bun" in globalThis ? { serve: serveOnBun } : import("../adapters/node.ts");
}

/**
 * Listens.
 *
 * @throws {Error} with what would help, if it cannot
 */
export async function listen(
  serve: Adapter["serve"],
  app: App,
  options: ServeOptions,
): Promise<Listening> {
  const { hostname, port } = options;
  try {
    return await serve(app, options);
  } catch (error) {
    const { code = "", message } = error as { code?: string; message: string };
    const reason = LISTEN_FAILURES[code] ?? message;
    throw new Error(`cannot listen on ${hostname}, port ${port}: ${reason}`);
  }
}

/** Where a browser finds the service, and the explorer: no browser opens `0.0.0.0` or `::`. */
export function addressOf(url: string): string {
  const open = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  const others = open === url ? "" : " and every other address of this machine";
  return `${open}${others} (explorer: ${open}v1/spec)`;
}
