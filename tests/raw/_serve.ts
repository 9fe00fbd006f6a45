/** Serves an app from the current process until SIGTERM arrives. */
import process from "node:process";
import type { Callbacks, Servable } from "../../src/adapters/shared.ts";

export async function serveHere(app: Servable, callbacks: Callbacks = {}): Promise<void> {
  const name = "Deno" in globalThis ? "deno" : "Bun" in globalThis ? "bun" : "node";
  const { serve } = await import(`../../src/adapters/${name}.ts`);
  const server = await serve(app, { hostname: "127.0.0.1", port: 0, ...callbacks });
  process.on("SIGTERM", async () => {
    await server.close();
    process.exit(0);
  });
  console.error(`nodeface 0 on ${server.url}`);
}
