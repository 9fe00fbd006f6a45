/** Mounts Nodeface in h3, on Node. Run: node --import tsx examples/h3.ts */
import { H3, serve } from "h3";
import { mayAsk, nodeface, port } from "./nodeface.ts";

const app = new H3();
app.use(({ req }, next) => {
  if (!nodeface.matches(req)) return next();
  if (!mayAsk(req.method, req.headers.get("authorization"))) {
    return new Response("", { status: 401 });
  }
  return nodeface.fetch(req);
});
app.all("/**", () => "The host's own page\n");

await serve(app, { port, hostname: "127.0.0.1", silent: true }).ready();
console.error(`nodeface example on http://127.0.0.1:${port}/`);
