/** Mounts Nodeface in itty-router, on Node. Run: node --import tsx examples/itty-router.ts */
import { error, Router, text } from "itty-router";
import { serve } from "nodeface/node";
import { mayAsk, nodeface, port } from "./nodeface.ts";

const router = Router();
router.all("*", (request) => {
  if (!nodeface.matches(request)) return undefined; // itty-router then calls the next handler
  const isAllowed = mayAsk(request.method, request.headers.get("authorization"));
  return isAllowed ? nodeface.fetch(request) : error(401);
});
router.all("*", () => text("The host's own page\n"));

const { url } = await serve({ fetch: router.fetch }, { hostname: "127.0.0.1", port });
console.error(`nodeface example on ${url}`);
