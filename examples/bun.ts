/** Nodeface in `Bun.serve`. Run: bun examples/bun.ts */
import { mayAsk, nodeface, port } from "./nodeface.ts";

const server = Bun.serve({
  port,
  hostname: "127.0.0.1",
  development: false,
  fetch(request) {
    if (!nodeface.matches(request)) return new Response("The host's own page\n");
    const isAllowed = mayAsk(request.method, request.headers.get("authorization"));
    return isAllowed ? nodeface.fetch(request) : new Response("Who are you?", { status: 401 });
  },
});

console.error(`nodeface example on http://127.0.0.1:${server.port}/`);
