/**
 * Listens with the adapter of the runtime, and explains why that fails.
 *
 * @module
 */
import type { App, Listening, ServeOptions } from "../adapters/shared.ts";

/** The meaning of a failure to listen, by its code. */
const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is already in use; choose another with --port",
  EADDRNOTAVAIL: "no such address on this machine; see --host",
  EACCES: "not allowed to listen there; ports below 1024 need privileges",
  ENOTFOUND: "the host name is unknown; see --host",
  EAI_AGAIN: "the host name is unknown; see --host",
  EINVAL: "the host name is unknown; see --host",
};

type Adapter = Pick<typeof import("../adapters/node.ts"), "serve">;

/** Loads the adapter of the runtime that this runs on. */
function loadAdapter(): Promise<Adapter> {
  if ("Deno" in globalThis) return import("../adapters/deno.ts");
  return "Bun" in globalThis ? import("../adapters/bun.ts") : import("../adapters/node.ts");
}

/**
 * Listens with the adapter of the runtime.
 *
 * @throws {Error} with what would help, if it cannot
 */
export async function listen(
  app: App,
  options: ServeOptions,
): Promise<Listening> {
  const { hostname, port } = options;
  const { serve } = await loadAdapter();
  try {
    return await serve(app, options);
  } catch (error) {
    const { code = "", message } = error as { code?: string; message: string };
    const reason = LISTEN_FAILURES[code] ?? message;
    throw new Error(`cannot listen on ${hostname}, port ${port}: ${reason}`);
  }
}

/** Says where a browser finds the service, and the explorer: no browser opens `0.0.0.0` or `::`. */
export function addressOf(url: string): string {
  const open = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  const others = open === url ? "" : " and every other address of this machine";
  return `${open}${others} (explorer: ${open}v1/spec)`;
}
