/** Nodeface in the routes of `Bun.serve`. Run: bun examples/bun.ts */
import { nodeface } from "./nodeface.ts";

const server = Bun.serve({
  port: Number(process.env.PORT ?? 8080),
  hostname: "127.0.0.1",
  development: false,
  routes: {
    "/": () => new Response("The node's own page\n"),
    "/node": (request) => nodeface.fetch(request),
    "/node/*": (request) => nodeface.fetch(request),
  },
});

console.error(`nodeface example on http://127.0.0.1:${server.port}/`);
