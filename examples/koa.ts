/** Nodeface in Koa. Run: node --import tsx examples/koa.ts */
import Koa from "koa";
import { listener } from "nodeface/node";
import { mayAsk, nodeface, port } from "./nodeface.ts";

const answer = listener(nodeface);
const app = new Koa();
app.use((context, next) => {
  if (!nodeface.matches(context)) return next();
  if (!mayAsk(context.method, context.get("authorization"))) context.throw(401);
  context.respond = false; // Nodeface sends the response
  answer(context.req, context.res);
});
app.use((context) => void (context.body = "The host's own page\n"));

app.listen(port, "127.0.0.1");
console.error(`nodeface example on http://127.0.0.1:${port}/`);
