/** Nodeface in a worker, such as Cloudflare's. Bundle it with: wrangler deploy examples/worker.ts */
import { createNodeface } from "nodeface";
import { mayAsk, options } from "./nodeface.ts";

// The provider sends a worker only requests for the worker's own host names.
const nodeface = createNodeface({ ...options, hosts: "*" });

export default {
  fetch(request: Request): Response | Promise<Response> {
    if (!nodeface.matches(request)) return new Response("The host's own page\n");
    const isAllowed = mayAsk(request.method, request.headers.get("authorization"));
    return isAllowed ? nodeface.fetch(request) : new Response("Who are you?", { status: 401 });
  },
};
