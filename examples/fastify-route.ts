/** Nodeface as Fastify routes, without `@fastify/middie`. Run: node --import tsx examples/fastify-route.ts */
import fastify from "fastify";
import { listener } from "nodeface/node";
import { mayAsk, nodeface, port, prefix } from "./nodeface.ts";

const answer = listener(nodeface);
const app = fastify();
app.register((routes, _options, done) => {
  routes.removeAllContentTypeParsers(); // Nodeface reads the body itself
  routes.addContentTypeParser("*", (_request, _content, done) => done(null));
  routes.addHook("onRequest", async ({ method, headers }, reply) => {
    if (!mayAsk(method, headers.authorization)) await reply.code(401).send();
  });
  for (const path of ["/", "/*"]) {
    routes.all(path, (request, reply) => {
      reply.hijack();
      answer(request.raw, reply.raw);
    });
  }
  done();
}, { prefix });

await app.listen({ port, host: "127.0.0.1" });
console.error(`nodeface example on http://127.0.0.1:${port}/`);
