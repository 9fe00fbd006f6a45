/** Mounts Nodeface in Hono, on Node. Run: node --import tsx examples/hono.ts */
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { mayAsk, nodeface, port } from "./nodeface.ts";

const app = new Hono();
app.use(async ({ req, text }, next) => {
  if (!nodeface.matches(req.raw)) return await next();
  if (!mayAsk(req.method, req.header("authorization"))) return text("Who are you?", 401);
  return await nodeface.fetch(req.raw);
});
app.get("*", ({ text }) => text("The host's own page\n"));

serve({ fetch: app.fetch, port, hostname: "127.0.0.1" });
console.error(`nodeface example on http://127.0.0.1:${port}/`);
