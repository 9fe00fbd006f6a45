/** Nodeface in `Deno.serve`. Run: deno run --allow-net --allow-read --allow-env examples/deno.ts */
import { mayAsk, nodeface, port } from "./nodeface.ts";

// Compression is off because Nodeface compresses its responses itself.
Deno.serve({ port, hostname: "127.0.0.1", automaticCompression: false, onListen }, (request) => {
  if (!nodeface.matches(request)) return new Response("The host's own page\n");
  const isAllowed = mayAsk(request.method, request.headers.get("authorization"));
  return isAllowed ? nodeface.fetch(request) : new Response("Who are you?", { status: 401 });
});

function onListen({ port }: Deno.NetAddr) {
  console.error(`nodeface example on http://127.0.0.1:${port}/`);
}
