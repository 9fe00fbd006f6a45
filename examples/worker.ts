/** Nodeface in a worker, for example on Cloudflare. Deploy it with: wrangler deploy examples/worker.ts */
import { createNodeface } from "nodeface";
import { mayAsk, options } from "./nodeface.ts";

// Any host name is allowed, because a worker receives only requests for its own host names.
const nodeface = createNodeface({ ...options, hosts: "*" });

export default {
  fetch(request: Request, env: unknown, context: unknown): Response | Promise<Response> {
    if (!nodeface.matches(request)) return new Response("The host's own page\n");
    const isAllowed = mayAsk(request.method, request.headers.get("authorization"));
    if (!isAllowed) return new Response("Who are you?", { status: 401 });
    // With the context, the service finishes what it has begun, even if the client leaves.
    return nodeface.fetch(request, env, context);
  },
};
