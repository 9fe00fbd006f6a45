/** Mounts Nodeface as Fastify middleware. Run: node --import tsx examples/fastify.ts */
import middie from "@fastify/middie";
import fastify from "fastify";
import { listener } from "nodeface/node";
import { mayAsk, nodeface, port, prefix } from "./nodeface.ts";

const app = fastify();
await app.register(middie);
app.use(prefix || "/", (request, response, next) => {
  if (mayAsk(request.method, request.headers.authorization)) next();
  else response.writeHead(401).end();
});
app.use(prefix || "/", listener(nodeface));
app.setNotFoundHandler(() => "The host's own page\n");

await app.listen({ port, host: "127.0.0.1" });
console.error(`nodeface example on http://127.0.0.1:${port}/`);
