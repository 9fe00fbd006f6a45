/** Nodeface in `Deno.serve`. Run: deno run --allow-net --allow-read --allow-env examples/deno.ts */
import { nodeface } from "./nodeface.ts";

const server = Deno.serve({
  port: Number(Deno.env.get("PORT") ?? 8080),
  hostname: "127.0.0.1",
  // Nodeface compresses its responses itself.
  automaticCompression: false,
  onListen: ({ port }) => console.error(`nodeface example on http://127.0.0.1:${port}/`),
}, (request) => {
  if (nodeface.matches(request)) return nodeface.fetch(request);
  return new Response("The node's own page\n");
});

Deno.addSignalListener("SIGTERM", () => server.shutdown());
