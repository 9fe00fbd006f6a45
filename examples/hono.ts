/** Nodeface in an app of Hono, on Node. Run: node --import tsx examples/hono.ts */
import { Hono } from "hono";
import { serve } from "nodeface/node";
import { nodeface } from "./nodeface.ts";

const app = new Hono();
app.get("/", (context) => context.text("The node's own page\n"));
app.mount("/node", nodeface.fetch);

const port = Number(process.env.PORT ?? 8080);
const { url } = await serve({ fetch: (request) => app.fetch(request) }, {
  hostname: "127.0.0.1",
  port,
});
console.error(`nodeface example on ${url}`);
