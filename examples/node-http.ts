/** Nodeface in a server of `node:http`. Run: node --import tsx examples/node-http.ts */
import { createServer } from "node:http";
import { listener } from "nodeface/node";
import { nodeface } from "./nodeface.ts";

const answer = listener(nodeface);

const server = createServer((request, response) => {
  answer(request, response, () => response.end("The node's own page\n"));
});

server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => {
  const address = server.address() as { port: number };
  console.error(`nodeface example on http://127.0.0.1:${address.port}/`);
});
